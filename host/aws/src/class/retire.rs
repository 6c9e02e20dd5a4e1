//! The end of a class, and of instance profiles that no class and no claim uses any more: what was made in AWS goes.

use plimsoll_api::kinds::Ec2NodeClass;

use super::tags;
use crate::client::{CallError, Clients};
use crate::resolve::profile::Owner;
use crate::resolve::unused_profiles::{FoundProfile, ProfileUse, unused};

/// Takes away launch templates and instance profiles of a class that no claim names any more. It may be repeated; what is gone is gone.
/// `is_isolated` is a network without a way to IAM: its profiles are left, as Karpenter leaves them. A class that names a profile of somebody
/// else's has none, and needs no right of IAM.
pub async fn retire(
    class: &Ec2NodeClass,
    cluster: &str,
    clients: &Clients,
    is_isolated: bool,
) -> Result<(), CallError> {
    let metadata = &class.metadata;
    let owner = Owner {
        region: clients.region(),
        cluster,
        class: metadata.name.as_deref().unwrap_or_default(),
        uid: metadata.uid.as_deref().unwrap_or_default(),
    };
    if !is_isolated && class.spec.instance_profile.is_none() {
        for profile in clients.profiles(&owner.path()).await? {
            delete(&profile, clients).await?;
        }
        delete_legacy(&owner, clients).await?;
    }
    let own = [(tags::CLUSTER, cluster), (tags::CLASS, owner.class)];
    for name in clients.templates(&own).await? {
        clients.delete_template(&name).await?;
    }
    Ok(())
}

/// Deletes the profile that an early release of Karpenter made for the class: it has no path, by which the others are found.
async fn delete_legacy(owner: &Owner<'_>, clients: &Clients) -> Result<(), CallError> {
    let Some(name) = owner.legacy_name() else {
        return Ok(());
    };
    let Some(found) = clients.profile(&name).await? else {
        return Ok(());
    };
    let legacy = FoundProfile {
        name,
        path: String::new(),
        role: found.role,
    };
    delete(&legacy, clients).await
}

/// Deletes those of a cluster's instance profiles that nothing uses, and returns their names, each with what came of it. Classes and claims have
/// to be read after the profiles were found.
pub async fn delete_unused_profiles(
    found: &[FoundProfile],
    cluster: &str,
    (classes, claims): (&[Ec2NodeClass], &[ProfileUse]),
    clients: &Clients,
) -> Vec<(String, Result<(), CallError>)> {
    let mut outcomes = Vec::new();
    for profile in unused(found, (clients.region(), cluster), classes, claims) {
        outcomes.push((profile.name.clone(), delete(profile, clients).await));
    }
    outcomes
}

async fn delete(profile: &FoundProfile, clients: &Clients) -> Result<(), CallError> {
    if let Some(role) = &profile.role {
        clients.remove_role(&profile.name, role).await?;
    }
    clients.delete_profile(&profile.name).await
}
