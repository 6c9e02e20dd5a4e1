//! Unused instance profiles, such as that of the role which a class had before: looked for at the start and every half hour,
//! and deleted.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use kube::Client;
use plimsoll_aws::{CallError, Ec2, PROFILE_ANNOTATION, ProfileUse, delete_unused_profiles};
use plimsoll_kube::node_class::{self, ClassClaim};
use tokio::time::{MissedTickBehavior, interval};

/// From one look at them to the next: Karpenter's time.
const EVERY: Duration = Duration::from_mins(30);

/// Deletes unused profiles for ever.
pub(super) async fn tidy(ec2: Arc<Ec2>, client: Client) {
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        match delete_unused(&ec2, &client).await {
            Ok(outcomes) => outcomes.into_iter().for_each(tell),
            Err(error) => {
                let error = format!("{error:#}");
                tracing::warn!(
                    error,
                    "unused instance profiles may be left; looked for again in half an hour"
                );
            }
        }
    }
}

fn tell((profile, outcome): (String, Result<(), CallError>)) {
    match outcome {
        Ok(()) => tracing::info!(profile, "unused instance profile is deleted"),
        Err(error) => {
            tracing::warn!(profile, %error, "unused instance profile is left; tried again in half an hour");
        }
    }
}

/// The unused profiles, each with what came of its deletion.
async fn delete_unused(ec2: &Ec2, client: &Client) -> Result<Vec<(String, Result<(), CallError>)>> {
    let cluster = ec2.cluster();
    let found = ec2.clients().profiles_of_cluster(&cluster.name).await?;
    if found.is_empty() {
        return Ok(Vec::new());
    }
    let classes = node_class::list(client).await;
    let classes = classes.context("EC2NodeClasses cannot be listed")?;
    let claims = node_class::claims(client).await;
    let claims = claims.context("NodeClaims cannot be listed")?;
    let uses: Vec<ProfileUse> = claims.into_iter().map(used_by).collect();
    let in_use = (classes.as_slice(), uses.as_slice());
    Ok(delete_unused_profiles(&found, &cluster.name, in_use, ec2.clients()).await)
}

fn used_by(mut claim: ClassClaim) -> ProfileUse {
    ProfileUse {
        profile: claim.annotations.remove(PROFILE_ANNOTATION),
        class: claim.class,
    }
}
