//! The cluster's version of Kubernetes, by which images are found: read again every five minutes, since clusters are upgraded while they are served.

use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use kube::Client;
use plimsoll_aws::{Clients, Ec2};
use tokio::time::{Instant, timeout};

/// From one question to the next: Karpenter's time.
const EVERY: Duration = Duration::from_mins(5);
/// The longest that classes wait for the answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// The source of the version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionSource {
    /// The API server.
    ApiServer,
    /// EKS, by the cluster's name.
    Eks,
}

impl VersionSource {
    /// The version, such as `1.36`. Fails where it is not told.
    pub async fn version(
        self,
        client: &Client,
        clients: &Clients,
        cluster: &str,
    ) -> Result<String> {
        match self {
            Self::ApiServer => {
                let version = client.apiserver_version().await;
                let version = version.context("the version of the API server cannot be read")?;
                let minor = version.minor.trim_end_matches('+');
                Ok(format!("{}.{minor}", version.major))
            }
            Self::Eks => {
                let untold = || {
                    format!(
                        "EKS does not say the version of cluster \"{cluster}\"; expected the cluster's name in EKS"
                    )
                };
                match clients
                    .kubernetes_version(cluster)
                    .await
                    .with_context(untold)?
                {
                    Some(version) => Ok(version),
                    None => bail!(untold()),
                }
            }
        }
    }
}

/// The version, followed.
pub(super) struct Version {
    source: VersionSource,
    client: Client,
    due: Due,
}

impl Version {
    /// From now on; it was just read.
    pub(super) fn new(source: VersionSource, client: Client) -> Self {
        let due = Due(Instant::now() + EVERY);
        Self {
            source,
            client,
            due,
        }
    }

    /// Reads it where it is time, and tells EC2; `true` if it is another one by now.
    pub(super) async fn follow(&mut self, ec2: &Ec2) -> bool {
        if !self.due.take(Instant::now()) {
            return false;
        }
        let cluster = ec2.cluster();
        let read = self
            .source
            .version(&self.client, ec2.clients(), &cluster.name);
        let read = timeout(PATIENCE, read).await;
        let read = read.unwrap_or_else(|_| Err(anyhow!("no answer in time")));
        let Some(version) = other(&cluster.kubernetes, read) else {
            return false;
        };
        ec2.change_cluster(|cluster| cluster.kubernetes = version);
        true
    }
}

/// The version that was read, if it is another; one that cannot be read is what it was.
fn other(known: &str, read: Result<String>) -> Option<String> {
    match read {
        Ok(version) if version == known => None,
        Ok(version) => {
            tracing::info!(
                before = known,
                version,
                "the cluster's version of Kubernetes is another: images are found anew"
            );
            Some(version)
        }
        Err(error) => {
            let error = format!("{error:#}");
            tracing::warn!(
                known,
                error,
                "the cluster's version of Kubernetes cannot be read; tried again"
            );
            None
        }
    }
}

/// The time of the next question.
struct Due(Instant);

impl Due {
    /// `true` if it has come; then the next one is set.
    fn take(&mut self, now: Instant) -> bool {
        let has_come = now >= self.0;
        if has_come {
            self.0 = now + EVERY;
        }
        has_come
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_asked_for_every_five_minutes_whatever_the_answer() {
        let now = Instant::now();
        let mut due = Due(now + EVERY);
        let minutes = (0..=15).filter(|minute| due.take(now + Duration::from_mins(*minute)));
        assert_eq!(minutes.collect::<Vec<u64>>(), [5, 10, 15]);
    }

    #[test]
    fn a_version_that_cannot_be_read_is_what_it_was() {
        let told = |version: &str| Ok(version.to_owned());
        assert_eq!(other("1.35", told("1.36")), Some("1.36".to_owned()));
        assert_eq!(other("1.35", told("1.35")), None);
        assert_eq!(other("1.35", Err(anyhow!("no answer"))), None);
    }
}
