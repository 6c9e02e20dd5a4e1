//! Tags on what is there.

use serde_json::{Value, json};

use super::instances::known;
use super::{tags_of, texts};
use crate::fault::Fault;
use crate::world::{Tags, World};

/// Most tags of a resource, those that AWS puts on apart.
const MOST_TAGS: usize = 50;

/// Puts tags on all resources of a call, or on none.
pub(super) fn create(world: &mut World, input: &Value) -> Result<Value, Fault> {
    let (ids, tags) = (texts(input, "ResourceId"), tags_of(input));
    if ids.is_empty() {
        return Err(Fault::missing("ResourceId"));
    }
    if tags.is_empty() {
        return Err(Fault::missing("Tag"));
    }
    if tags.keys().any(|key| key.starts_with("aws:")) {
        let message = "Tag keys starting with 'aws:' are reserved for internal use";
        return Err(Fault::invalid(message));
    }
    for id in &ids {
        if id.starts_with("i-") {
            known(world, &[id])?;
        }
        let own = of(world, id).ok_or_else(|| {
            let message = format!("The ID '{id}' is not valid");
            Fault::new("InvalidID", message)
        })?;
        let mut keys: Vec<&String> = own.keys().chain(tags.keys()).collect();
        keys.retain(|key| !key.starts_with("aws:"));
        keys.sort_unstable();
        keys.dedup();
        if keys.len() > MOST_TAGS {
            let message = "The maximum number of tags for a resource has been reached.";
            return Err(Fault::new("TagLimitExceeded", message));
        }
    }
    for id in ids {
        if let Some(own) = of(world, id) {
            own.extend(tags.clone());
        }
    }
    Ok(json!({"return": true}))
}

/// Tags of a resource; `None` if there is none of that id.
fn of<'w>(world: &'w mut World, id: &str) -> Option<&'w mut Tags> {
    if let Some(instance) = world.instances.get_mut(id) {
        return Some(&mut instance.tags);
    }
    let subnets = world.subnets.iter_mut().map(|own| (&own.id, &mut own.tags));
    let groups = world
        .security_groups
        .iter_mut()
        .map(|own| (&own.id, &mut own.tags));
    let images = world.images.iter_mut().map(|own| (&own.id, &mut own.tags));
    let templates = world
        .launch_templates
        .iter_mut()
        .map(|own| (&own.id, &mut own.tags));
    let mut all = subnets.chain(groups).chain(images).chain(templates);
    all.find(|(own, _)| *own == id).map(|(_, tags)| tags)
}
