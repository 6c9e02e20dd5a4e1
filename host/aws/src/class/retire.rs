//! The end of a class: what was made for it in AWS goes with it.

use plimsoll_api::kinds::Ec2NodeClass;

use super::tags;
use crate::client::{CallError, Clients};
use crate::resolve::profile::Owner;

/// Takes away launch templates and instance profiles of a class that no claim names any more. It may be repeated; what is gone is gone.
pub async fn retire(
    class: &Ec2NodeClass,
    cluster: &str,
    clients: &Clients,
) -> Result<(), CallError> {
    let metadata = &class.metadata;
    let owner = Owner {
        region: clients.region(),
        cluster,
        class: metadata.name.as_deref().unwrap_or_default(),
        uid: metadata.uid.as_deref().unwrap_or_default(),
    };
    for (name, profile) in clients.profiles(&owner.path()).await? {
        if let Some(role) = &profile.role {
            clients.remove_role(&name, role).await?;
        }
        clients.delete_profile(&name).await?;
    }
    let own = [(tags::CLUSTER, cluster), (tags::CLASS, owner.class)];
    for name in clients.templates(&own).await? {
        clients.delete_template(&name).await?;
    }
    Ok(())
}
