//! Moments at which the scheduler found no node for pods, and at which the claims were made that they run by.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use k8s_openapi::api::core::v1::Pod;
use kube::core::DynamicObject;
use kube::runtime::watcher;
use kube::{Api, Client, ResourceExt};
use plimsoll_api::Kind;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::world::{Told, follow};

/// The moments, for as long as pods and claims are followed.
pub struct Heard {
    moments: watch::Receiver<Moments>,
    _watching: JoinSet<()>,
}

#[derive(Default)]
struct Moments {
    /// When a pod was first heard of as unschedulable, by name.
    refused: BTreeMap<String, Instant>,
    /// Nodes of bound pods, by name.
    places: BTreeMap<String, String>,
    /// When a claim was first heard of, by name.
    claims: BTreeMap<String, Instant>,
    /// Claims by their node.
    claim_of: BTreeMap<String, String>,
}

impl Heard {
    /// Begins to listen.
    pub fn of(client: &Client) -> Self {
        let (sender, moments) = watch::channel(Moments::default());
        let mut watching = JoinSet::new();
        let pods: Api<Pod> = Api::namespaced(client.clone(), "default");
        let all = watcher::Config::default();
        watching.spawn(follow(
            pods,
            all.clone(),
            sender.clone(),
            |moments, told| {
                if let Told::There(pod) = told {
                    moments.hear_pod(&pod);
                }
            },
        ));
        let claims: Api<DynamicObject> = plimsoll_kube::api(client, Kind::NodeClaim);
        watching.spawn(follow(claims, all, sender, |moments, told| {
            if let Told::There(claim) = told {
                moments.hear_claim(&claim);
            }
        }));
        Self {
            moments,
            _watching: watching,
        }
    }

    /// Number of claims heard of so far.
    pub fn claims(&self) -> usize {
        self.moments.borrow().claims.len()
    }

    /// Waits until more than so many claims are heard of; the moment of the last one.
    pub async fn claim_beyond(&self, known: usize, patience: Duration) -> Result<Instant> {
        let mut moments = self.moments.clone();
        let heard = moments.wait_for(|moments| moments.claims.len() > known);
        let Ok(heard) = timeout(patience, heard).await else {
            bail!("no NodeClaim was made within {patience:?}");
        };
        let heard = heard.context("a watch of the bench has ended")?;
        heard.claims.values().max().copied().context("there is one")
    }

    /// Waits until so many pods whose names begin so are bound, and the claims of their nodes are known; for each that was unschedulable the seconds
    /// from then to its claim, in order. A pod whose claim was there before waited for none.
    pub async fn waits(&self, prefix: &str, pods: usize, patience: Duration) -> Result<Vec<f64>> {
        let mut moments = self.moments.clone();
        let all = |moments: &Moments| moments.claims_of(prefix).count() == pods;
        let Ok(met) = timeout(patience, moments.wait_for(|it| all(it))).await else {
            let bound = self.moments.borrow().claims_of(prefix).count();
            bail!("waited {patience:?} in vain for {pods} pods to be bound; {bound} are");
        };
        let moments = met.context("a watch of the bench has ended")?;
        let wait = |(pod, claim): (&String, Instant)| {
            let refused = *moments.refused.get(pod)?;
            Some(claim.saturating_duration_since(refused).as_secs_f64())
        };
        let mut waits: Vec<f64> = moments.claims_of(prefix).filter_map(wait).collect();
        waits.sort_by(f64::total_cmp);
        Ok(waits)
    }
}

impl Moments {
    fn hear_pod(&mut self, pod: &Pod) {
        let name = pod.name_any();
        let status = pod.status.as_ref();
        let conditions = status.and_then(|status| status.conditions.as_ref());
        let mut conditions = conditions.into_iter().flatten();
        if conditions.any(|it| it.reason.as_deref() == Some("Unschedulable")) {
            self.refused
                .entry(name.clone())
                .or_insert_with(Instant::now);
        }
        if let Some(node) = pod.spec.as_ref().and_then(|spec| spec.node_name.clone()) {
            self.places.insert(name, node);
        }
    }

    fn hear_claim(&mut self, claim: &DynamicObject) {
        let name = claim.name_any();
        self.claims.entry(name.clone()).or_insert_with(Instant::now);
        if let Some(node) = claim.data["status"]["nodeName"].as_str() {
            self.claim_of.insert(node.to_owned(), name);
        }
    }

    /// Bound pods whose names begin so, with the moment of the claim that their node was bought by.
    fn claims_of(&self, prefix: &str) -> impl Iterator<Item = (&String, Instant)> {
        let pods = self
            .places
            .iter()
            .filter(move |(name, _)| name.starts_with(prefix));
        pods.filter_map(|(pod, node)| Some((pod, *self.claims.get(self.claim_of.get(node)?)?)))
    }
}
