//! Nodes of launched claims: each comes up after its class's delay, counted from the launch.
//!
//! What is to be done follows from the claims alone: one that is launched, not registered and not deleting gets its node. After
//! a restart the same claims give the same nodes. A node is owned by its claim, so that one which appears after its claim
//! has gone is collected.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::core::v1::Node;
use kube::Error;
use kube::api::{Api, PostParams};
use plimsoll_api::write::{amounts, map};
use plimsoll_api::{Kind, keys};
use plimsoll_base::ids::{ClaimName, ProviderId, Uid};
use plimsoll_base::labels;
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_engine::Input;
use plimsoll_lifecycle::Interruption;
use plimsoll_model::action::CloudCall;
use plimsoll_model::catalogue::CapacityType;
use plimsoll_model::{ClaimPhase, ConditionType, NodeClaim, Object};
use serde_json::{Value, json};
use tokio::sync::mpsc::Sender;
use tokio::task::{AbortHandle, JoinSet};

use crate::PROVIDER_PREFIX;
use crate::provider::{ClassFault, Kwok};

/// Between two tries to create a node.
const AGAIN: Duration = Duration::from_secs(1);

/// An instance that will end by itself, and the cloud's word on it.
pub type Ending = (ProviderId, Interruption);

/// The nodes that are coming up.
pub struct Boots {
    provider: Kwok,
    announce: Sender<Ending>,
    tasks: JoinSet<()>,
    /// By claim, with the uid that tells it from others of its name.
    coming: BTreeMap<ClaimName, (Uid, AbortHandle)>,
    /// Instances that end by themselves, by claim.
    ending: BTreeMap<ClaimName, (Uid, AbortHandle)>,
}

impl Boots {
    /// None yet. Instances that end by themselves are announced first.
    pub fn new(provider: Kwok, announce: Sender<Ending>) -> Self {
        Self {
            announce,
            provider,
            tasks: JoinSet::new(),
            coming: BTreeMap::new(),
            ending: BTreeMap::new(),
        }
    }

    /// Follows the claims: brings nodes up, and gives up those whose claim goes.
    pub fn observe(&mut self, input: &Input, now: Timestamp) {
        while self.tasks.try_join_next().is_some() {}
        let (claim, there) = match input {
            Input::Applied(Object::Claim(claim), _) => (claim, true),
            Input::Deleted(Object::Claim(claim), _) => (claim, false),
            _ => return,
        };
        self.observe_end(claim, there, now);
        let boots = there && is_booting(claim);
        let coming = self.coming.get(&claim.name);
        let is_known = match coming {
            Some((uid, _)) if boots => *uid == claim.uid,
            // An earlier one of its name has gone.
            Some((uid, _)) => !there && *uid != claim.uid,
            None => false,
        };
        if is_known {
            return;
        }
        if let Some((_, handle)) = self.coming.remove(&claim.name) {
            handle.abort();
        }
        if boots {
            let task = boot(self.provider.clone(), Arc::clone(claim), now);
            let own = (claim.uid.clone(), self.tasks.spawn(task));
            self.coming.insert(claim.name.clone(), own);
        }
    }
}

impl Boots {
    /// Follows the claims whose instances end by themselves.
    fn observe_end(&mut self, claim: &Arc<NodeClaim>, there: bool, now: Timestamp) {
        let instance = claim
            .provider_id
            .as_ref()
            .filter(|_| there && claim.deleting.is_none());
        let lifetime = instance.and_then(|id| Some((id.clone(), self.provider.lifetime(id)?)));
        let known = self.ending.get(&claim.name);
        let is_known = known.is_some_and(|(uid, _)| *uid == claim.uid);
        if lifetime.is_some() == is_known {
            return;
        }
        if let Some((_, handle)) = self.ending.remove(&claim.name) {
            handle.abort();
        }
        if let Some((instance, lifetime)) = lifetime {
            let launched = claim.conditions.get(ConditionType::Launched);
            let left = (launched.map_or(now, |own| own.since) + lifetime).since(now);
            let ending = (instance, word_on(claim));
            let end = end(self.provider.clone(), self.announce.clone(), ending, left);
            let own = (claim.uid.clone(), self.tasks.spawn(end));
            self.ending.insert(claim.name.clone(), own);
        }
    }
}

/// Spot is taken back; anything else ends.
fn word_on(claim: &NodeClaim) -> Interruption {
    let spot = CapacityType::Spot.as_str();
    match claim.labels.get(labels::CAPACITY_TYPE) {
        Some(own) if &**own == spot => Interruption::SpotReclaimed,
        _ => Interruption::Terminating,
    }
}

/// An instance ends by itself after some time, and is announced to do so.
async fn end(provider: Kwok, announce: Sender<Ending>, ending: Ending, left: Span) {
    let millis = |span: Span| Duration::from_millis(u64::try_from(span.millis()).unwrap_or(0));
    let notice = provider.notice();
    tokio::time::sleep(millis(left).saturating_sub(millis(notice))).await;
    // Where the receiver is gone there is nothing to announce.
    let _ = announce.send(ending.clone()).await;
    tokio::time::sleep(millis(notice)).await;
    let (instance, _) = ending;
    provider.call(&CloudCall::Terminate { instance }).await;
}

fn is_booting(claim: &NodeClaim) -> bool {
    let ours = claim
        .provider_id
        .as_ref()
        .is_some_and(|id| id.as_str().starts_with(PROVIDER_PREFIX));
    ours && claim.phase() == ClaimPhase::Launched && claim.deleting.is_none()
}

async fn boot(provider: Kwok, claim: Arc<NodeClaim>, now: Timestamp) {
    let delay = loop {
        match provider.registration_delay(&claim.class).await {
            Ok(delay) => break delay,
            // It could be used when the claim was launched: the instance is there and boots.
            Err(ClassFault::Missing(_) | ClassFault::Unusable(_)) => break Span::ZERO,
            Err(ClassFault::Unknown) => tokio::time::sleep(AGAIN).await,
        }
    };
    let own = claim.provider_id.as_ref();
    let own = own.map_or(Span::ZERO, |id| provider.boot_delay(id));
    let left = (claim.phase_since() + delay + own).since(now).millis();
    tokio::time::sleep(Duration::from_millis(u64::try_from(left).unwrap_or(0))).await;
    let Some(node) = manifest(&claim) else { return };
    let nodes: Api<Node> = Api::all(provider.client().clone());
    loop {
        match nodes.create(&PostParams::default(), &node).await {
            Ok(_) => return,
            // Any other conflict leaves the node unmade.
            Err(Error::Api(status)) if status.reason == "AlreadyExists" => return,
            Err(error) => {
                tracing::warn!(claim = claim.name.as_str(), %error, "node not created, tried again");
                tokio::time::sleep(AGAIN).await;
            }
        }
    }
}

/// The node as a kubelet would register it.
fn manifest(claim: &NodeClaim) -> Option<Node> {
    let id = claim.provider_id.as_ref()?;
    let name = id.as_str().strip_prefix(PROVIDER_PREFIX)?;
    let mut node = json!({
        "metadata": {
            "name": name,
            "labels": map(&claim.labels),
            "annotations": map(&claim.annotations),
            "ownerReferences": [{
                "apiVersion": Kind::NodeClaim.api_version(),
                "kind": Kind::NodeClaim.as_str(),
                "name": claim.name.as_str(),
                "uid": claim.uid.as_str(),
                "blockOwnerDeletion": true,
            }],
        },
        "spec": {
            "providerID": id.as_str(),
            "taints": [{"key": keys::TAINT_UNREGISTERED, "effect": "NoExecute"}],
        },
        "status": {
            "capacity": amounts(&claim.capacity),
            "allocatable": amounts(&claim.allocatable),
        },
    });
    let metadata = &mut node["metadata"];
    for (key, value) in [
        (labels::HOSTNAME, claim.name.as_str()),
        ("kwok.x-k8s.io/node", "fake"),
        ("kwok-partition", "a"),
    ] {
        metadata["labels"][key] = Value::from(value);
    }
    metadata["annotations"]["kwok.x-k8s.io/node"] = "fake".into();
    serde_json::from_value(node).ok()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use plimsoll_base::ids::{NodeName, PoolName};
    use plimsoll_base::requirement::Requirements;
    use plimsoll_base::resources::{ResourceName, Resources};
    use plimsoll_model::{ClassRef, Conditions, Unread};

    pub(crate) fn launched() -> NodeClaim {
        let amounts = Resources::new().with(ResourceName::Cpu, 1900);
        NodeClaim {
            name: ClaimName::from("general-abc"),
            uid: Uid::from("u1"),
            pool: PoolName::from("general"),
            class: ClassRef {
                group: "karpenter.kwok.sh".into(),
                kind: "KWOKNodeClass".into(),
                name: "default".into(),
            },
            provider_id: Some(ProviderId::from("kwok://kwok-general-abc-x")),
            node: None::<NodeName>,
            labels: [(Arc::from(labels::ZONE), Arc::from("a"))].into(),
            annotations: labels::Labels::new(),
            requirements: Requirements::new(),
            requests: Resources::new(),
            taints: Vec::new(),
            startup_taints: Vec::new(),
            capacity: amounts.clone(),
            allocatable: amounts,
            created: Timestamp::default(),
            conditions: Conditions::reached(ClaimPhase::Launched, Timestamp::default()),
            expire_after: None,
            termination_grace: None,
            deleting: None,
            drained_by: None,
            last_pod_event: None,
            held: true,
            unread: Unread::default(),
        }
    }

    #[test]
    fn a_node_joins_tainted_and_kept_by_kwok() {
        let node = manifest(&launched()).unwrap();
        assert_eq!(node.metadata.name.as_deref(), Some("kwok-general-abc-x"));
        let taints = node.spec.unwrap().taints.unwrap();
        assert_eq!(taints[0].key, "karpenter.sh/unregistered");
        let labels = node.metadata.labels.unwrap();
        assert_eq!(labels["kubernetes.io/hostname"], "general-abc");
        assert_eq!(labels["topology.kubernetes.io/zone"], "a");
        assert_eq!(
            node.metadata.annotations.unwrap()["kwok.x-k8s.io/node"],
            "fake"
        );
        assert_eq!(node.metadata.owner_references.unwrap()[0].uid, "u1");
    }

    #[test]
    fn only_a_launched_claim_that_stays_gets_a_node() {
        let claim = launched();
        assert!(is_booting(&claim));
        let phases = [ClaimPhase::Created, ClaimPhase::Registered];
        for phase in phases {
            assert!(!is_booting(&NodeClaim {
                conditions: Conditions::reached(phase, Timestamp::default()),
                ..claim.clone()
            }));
        }
        let deleting = Some(Timestamp::default());
        assert!(!is_booting(&NodeClaim { deleting, ..claim }));
    }
}
