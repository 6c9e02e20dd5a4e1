//! Images.

use serde_json::{Value, json};

use super::filter::{filters, passes};
use super::page::{Sizes, page};
use super::{tag_set, texts};
use crate::fault::Fault;
use crate::world::{Image, World};

pub(super) fn describe(world: &World, input: &Value) -> Result<Value, Fault> {
    let (filters, owners) = (filters(input)?, texts(input, "Owner"));
    let ids = texts(input, "ImageId");
    if let Some(id) = ids
        .iter()
        .find(|id| world.images.iter().all(|image| image.id != **id))
    {
        let message = format!("The image id '[{id}]' does not exist");
        return Err(Fault::new("InvalidAMIID.NotFound", message));
    }
    let shows_deprecated = input["IncludeDeprecated"] == "true";
    let mut found = Vec::new();
    for image in &world.images {
        let is_owned = owners.is_empty() || owners.iter().any(|owner| owns(world, owner, image));
        let values = |name: &str| match name {
            "image-id" => Some(vec![image.id.clone()]),
            "name" => Some(vec![image.name.clone()]),
            "architecture" => Some(vec![image.architecture.clone()]),
            "state" => Some(vec!["available".to_owned()]),
            _ => None,
        };
        // Images that are deprecated are still shown to their owner.
        let is_shown =
            image.deprecated.is_none() || shows_deprecated || image.owner == world.account;
        let is_named = ids.is_empty() || ids.contains(&&*image.id);
        if is_named && is_shown && is_owned && passes(&filters, &image.tags, values)? {
            found.push(image);
        }
    }
    let sizes = Sizes {
        least: 1,
        ..Sizes::USUAL
    };
    page(input, "imagesSet", &sizes, &found, |image| {
        json!({
            "imageId": image.id,
            "name": image.name,
            "architecture": image.architecture,
            "creationDate": image.created,
            "deprecationTime": image.deprecated,
            "imageState": "available",
            "imageOwnerId": image.owner,
            "tagSet": tag_set(&image.tags),
        })
    })
}

fn owns(world: &World, owner: &str, image: &Image) -> bool {
    owner == image.owner || (owner == "self" && image.owner == world.account)
}
