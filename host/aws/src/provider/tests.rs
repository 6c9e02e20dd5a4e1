//! Calls on a cloud on loopback: nothing is launched twice, nothing is lost, nothing of others is ended.

mod contents;
mod crashes;
mod denied;
mod doubt;
mod efa;
mod empty_terms;
mod ended;
mod families;
mod inputs;
mod kept;
mod ownership;
mod paced;
mod permissions;
mod profiles;
mod readiness;
mod repeats;
mod subnets;
mod templates;
mod trials;

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use plimsoll_api::kinds::Ec2NodeClass;
use plimsoll_base::ids::LaunchToken;
use plimsoll_base::time::Timestamp;
use plimsoll_cloud::{
    CapacityPool, Cloud, Fault, Instance as CloudInstance, Options, ScriptedFault, World,
};
use plimsoll_ec2_facts::Share;
use plimsoll_model::action::{Answer, ClaimLaunch, LaunchAnswer, LaunchRequest, ListedInstance};
use plimsoll_model::catalogue::CapacityType::{self, OnDemand, Spot};
use serde_json::{Value, json};

use super::*;
use crate::class::reconcile::{Reconciled, look};
use crate::sample;
use crate::served::{Market, NodeSettings};

const NOW: Timestamp = Timestamp::from_millis(1_790_000_000_000);

const NODES: NodeSettings = NodeSettings {
    memory_overhead: Share::from_parts_per_million(75_000),
    reserved_interfaces: 0,
    fills_open_reservations: false,
};

/// A cloud with what cluster `demo` needs, and EC2 for that cluster with one class.
struct Scene {
    cloud: Cloud,
    ec2: Ec2,
    /// Minutes that have gone by.
    minutes: AtomicI64,
}

fn class(spec: &Value) -> Ec2NodeClass {
    let by_tag = json!([{"tags": {"karpenter.sh/discovery": "demo"}}]);
    let mut object = json!({
        "apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass",
        "metadata": {"name": "default", "uid": "class-uid", "generation": 1},
        "spec": {
            "amiSelectorTerms": [{"alias": "al2023@latest"}], "role": "KarpenterNodeRole-demo",
            "subnetSelectorTerms": by_tag, "securityGroupSelectorTerms": by_tag,
        },
    });
    for (key, value) in spec.as_object().into_iter().flatten() {
        object["spec"][key] = value.clone();
    }
    serde_json::from_value(object).expect("a class")
}

impl Scene {
    async fn new() -> Self {
        let scene = Self::on(World::demo("demo")).await;
        scene.serve(&json!({})).await;
        scene
    }

    /// The same on a cloud of one's own, without classes.
    async fn on(world: World) -> Self {
        let cloud = Cloud::start(Options { port: 0, world })
            .await
            .expect("a cloud");
        let clients = sample::clients(&cloud).await;
        let cluster = ClusterAccess {
            kubernetes: "1.36".to_owned(),
            ..sample::cluster()
        };
        Self {
            cloud,
            ec2: Ec2::new(clients, cluster),
            minutes: AtomicI64::default(),
        }
    }

    /// From now on it is a minute later: what AWS has answered is asked for again.
    fn wait(&self) {
        self.minutes.fetch_add(1, Ordering::Relaxed);
    }

    async fn reconciled(&self, class: &Ec2NodeClass) -> Reconciled {
        let minutes = self.minutes.load(Ordering::Relaxed);
        let now = Timestamp::from_millis(NOW.millis() + minutes * 60_000);
        look(class, &self.ec2.cluster(), self.ec2.clients(), now)
            .await
            .conclude(Ok(Ok(())))
    }

    /// From now on the class has these fields.
    async fn serve(&self, spec: &Value) {
        self.serve_with(spec, NODES).await;
    }

    /// The same by other settings of the controller.
    async fn serve_with(&self, spec: &Value, nodes: NodeSettings) {
        let mut class = class(spec);
        class.status = Some(self.reconciled(&class).await.status);
        let market = Market::of_tables("us-east-1");
        let served = ServedClass::new(class, &market, "", nodes).expect("a class");
        self.ec2.serve([Arc::new(served)]);
    }

    async fn launch(&self, request: &LaunchRequest) -> Outcome {
        self.ec2.call(&CloudCall::Launch(request.clone())).await
    }

    async fn find(&self, request: &LaunchRequest) -> Vec<ClaimLaunch> {
        claims(self.ec2.call(&CloudCall::Find(request.clone())).await)
    }

    fn instances(&self) -> Vec<CloudInstance> {
        self.cloud
            .with(|world| world.instances.values().cloned().collect())
    }

    /// The provider's id of the first instance.
    fn first(&self) -> ProviderId {
        let instances = self.instances();
        let first = instances.first().expect("an instance");
        ProviderId::from(format!("aws:///{}/{}", first.zone, first.id))
    }
}

/// What claims got of a launch; nothing where it did not end.
fn claims(outcome: Outcome) -> Vec<ClaimLaunch> {
    match outcome {
        Outcome::Done(Answer::Launched(answer)) => answer.claims,
        _ => Vec::new(),
    }
}

fn ids(claims: &[ClaimLaunch]) -> Vec<String> {
    let ids = claims.iter().filter_map(|claim| match claim {
        ClaimLaunch::Instance(machine) => Some(machine.provider_id.to_string()),
        _ => None,
    });
    ids.collect()
}

fn two(kind: CapacityType) -> LaunchRequest {
    let options = vec![
        sample::option("m5.large", "us-east-1a", kind, 0.04),
        sample::option("m5.large", "us-east-1b", kind, 0.05),
    ];
    sample::request(&["a", "b"], options)
}

#[tokio::test]
async fn a_class_is_resolved_once_and_stays_as_it_is() {
    let scene = Scene::new().await;
    let mut own = class(&json!({}));
    let first = scene.reconciled(&own).await;
    let status = first.status.clone();
    assert_eq!(first.failed, []);
    assert_eq!((status.subnets.len(), status.security_groups.len()), (3, 1));
    let ready = status.conditions.iter().find(|own| own.kind == "Ready");
    assert_eq!(
        ready.map(|own| own.status.as_str()),
        Some("True"),
        "{:?}",
        status.conditions
    );
    assert!(
        status
            .instance_profile
            .as_ref()
            .is_some_and(|name| name.starts_with("demo_"))
    );
    assert_eq!(
        first.free.iter().map(|own| own.free).collect::<Vec<_>>(),
        [8_187; 3]
    );
    own.status = Some(status.clone());
    assert_eq!(scene.reconciled(&own).await.status, status);
    let made = scene.cloud.calls().into_iter();
    let made = made.filter(|call| call.operation == "CreateInstanceProfile");
    assert_eq!(made.count(), 1);
}

#[tokio::test]
async fn selectors_that_find_nothing_are_told_with_the_way_out() {
    let scene = Scene::new().await;
    let lost = json!([{"tags": {"karpenter.sh/discovery": "other"}}]);
    let own = class(&json!({"subnetSelectorTerms": lost, "role": "nobody"}));
    let status = scene.reconciled(&own).await.status;
    let said = |kind: &str| {
        let found = status.conditions.iter().find(|own| own.kind == kind);
        found.map(|own| {
            (
                own.status.as_str(),
                own.reason.as_str(),
                own.message.as_str(),
            )
        })
    };
    let (_, reason, words) = said("SubnetsReady").expect("a condition");
    assert_eq!(reason, "SubnetsNotFound");
    assert!(
        words.contains(r#""karpenter.sh/discovery":"other""#)
            && words.contains("expected at least one"),
        "{words}"
    );
    let (_, reason, words) = said("InstanceProfileReady").expect("a condition");
    assert_eq!(reason, "RoleNotFound");
    assert!(words.starts_with("spec.role is \"nobody\""), "{words}");
    assert_eq!(said("Ready").map(|(status, ..)| status), Some("False"));
}

#[tokio::test]
async fn a_launch_gives_each_claim_an_instance_and_the_same_ones_when_it_is_repeated() {
    let scene = Scene::new().await;
    let first = claims(scene.launch(&two(Spot)).await);
    assert_eq!(ids(&first).len(), 2, "{first:?}");
    assert_eq!(ids(&claims(scene.launch(&two(Spot)).await)), ids(&first));
    let instances = scene.instances();
    assert_eq!(instances.len(), 2);
    for own in &instances {
        assert_eq!(own.capacity_type, Spot);
        let tag = |key: &str| own.tags.get(key).map(String::as_str);
        assert_eq!(tag("karpenter.sh/nodepool"), Some("general"));
        assert_eq!(tag("karpenter.k8s.aws/ec2nodeclass"), Some("default"));
        assert_eq!(tag("eks:eks-cluster-name"), Some("demo"));
        assert_eq!(tag("kubernetes.io/cluster/demo"), Some("owned"));
        assert_eq!(tag("plimsoll.dev/launch-token"), Some("00ab-0"));
    }
    let ClaimLaunch::Instance(machine) = &first[0] else {
        unreachable!("{first:?}")
    };
    let label = |key: &str| machine.labels.get(key).map(ToString::to_string);
    assert_eq!(label("karpenter.sh/capacity-type").as_deref(), Some("spot"));
    assert_eq!(
        label("karpenter.k8s.aws/instance-tenancy").as_deref(),
        Some("default")
    );
    assert_eq!(machine.annotations.len(), 3);
}

#[tokio::test]
async fn instances_of_a_call_whose_answer_was_lost_are_had_by_the_next_one() {
    let scene = Scene::new().await;
    let lost = ScriptedFault::lost_answer("CreateFleet").times(3);
    scene.cloud.with(|world| world.faults.push(lost));
    assert_eq!(scene.launch(&two(OnDemand)).await, Outcome::Unknown);
    assert_eq!(scene.instances().len(), 2);
    let again = claims(scene.launch(&two(OnDemand)).await);
    assert_eq!(ids(&again).len(), 2);
    assert_eq!(scene.instances().len(), 2);
}

#[tokio::test]
async fn a_token_that_was_used_for_another_request_leads_to_what_that_one_gave() {
    let scene = Scene::new().await;
    let first = claims(scene.launch(&two(OnDemand)).await);
    scene
        .serve(&json!({"userData": "#!/bin/sh\necho other"}))
        .await;
    let again = claims(scene.launch(&two(OnDemand)).await);
    assert_eq!(ids(&again), ids(&first));
    assert_eq!(scene.instances().len(), 2);
}

#[tokio::test]
async fn instances_that_are_not_seen_yet_are_not_taken_for_absent() {
    let scene = Scene::new().await;
    scene
        .cloud
        .with(|world| world.delays.visible = Duration::from_secs(30));
    scene.launch(&two(OnDemand)).await;
    let unseen = scene.find(&two(OnDemand)).await;
    assert_eq!(unseen, [ClaimLaunch::Unknown, ClaimLaunch::Unknown]);
    scene
        .cloud
        .with(|world| world.clock.advance(Duration::from_secs(30)));
    assert_eq!(ids(&scene.find(&two(OnDemand)).await).len(), 2);
}

#[tokio::test]
async fn offerings_that_are_sold_out_are_named_and_others_are_bought() {
    let scene = Scene::new().await;
    let none = |zone: &str| CapacityPool::new("m5.large", zone, Spot);
    scene
        .cloud
        .with(|world| world.set_stock(none("us-east-1a"), 0));
    let given = claims(scene.launch(&two(Spot)).await);
    assert_eq!(ids(&given).len(), 2);
    assert!(scene.instances().iter().all(|own| own.zone == "us-east-1b"));
    let failed = scene.ec2.take_failures();
    let [
        CallFailure::Launch {
            zone,
            zone_id,
            capacity_type,
            ..
        },
    ] = &failed[..]
    else {
        unreachable!("{failed:?}")
    };
    assert_eq!(
        (zone.as_str(), zone_id.as_str(), *capacity_type),
        ("us-east-1a", "use1-az1", Spot)
    );
    assert_eq!(scene.ec2.take_failures(), [], "each is counted once");
    scene
        .cloud
        .with(|world| world.set_stock(none("us-east-1b"), 0));
    let mut next = two(Spot);
    next.batch.token = "00ab-1".into();
    let refused = claims(scene.launch(&next).await);
    let [
        ClaimLaunch::Refused(Reason::InsufficientCapacity { offerings: out, .. }),
        _,
    ] = &refused[..]
    else {
        unreachable!("{refused:?}")
    };
    let zones: Vec<&str> = out.iter().map(|key| &*key.zone).collect();
    assert_eq!(zones, ["us-east-1a", "us-east-1b"]);
}

#[tokio::test]
async fn a_right_that_is_missing_is_told_with_the_way_out_and_throttling_is_not_a_failure() {
    let scene = Scene::new().await;
    let denied = Fault::new("UnauthorizedOperation", "You are not authorized").with_status(403);
    let fault = ScriptedFault::error("CreateFleet", denied);
    scene.cloud.with(|world| world.faults.push(fault));
    let Outcome::Refused(Reason::LaunchFailed { reason, words }) = scene.launch(&two(Spot)).await
    else {
        unreachable!("a refusal")
    };
    assert_eq!(&*reason, "Unauthorized");
    assert!(
        words.starts_with("ec2:CreateFleet: UnauthorizedOperation")
            && words.contains("policies of the chart"),
        "{words}"
    );
    let slow = Fault::new("RequestLimitExceeded", "Request limit exceeded.").with_status(503);
    let fault = ScriptedFault::error("CreateFleet", slow).times(3);
    scene.cloud.with(|world| world.faults.push(fault));
    assert_eq!(
        scene.launch(&two(Spot)).await,
        Outcome::Refused(Reason::Throttled(None))
    );
    assert!(scene.instances().is_empty());
}

#[tokio::test]
async fn only_instances_of_the_cluster_are_ended() {
    let scene = Scene::new().await;
    scene
        .cloud
        .with(|world| world.delays.terminated = Duration::from_secs(30));
    scene
        .launch(&sample::request(&["a"], two(OnDemand).options))
        .await;
    let call = CloudCall::Terminate {
        instance: scene.first(),
    };
    let end = || scene.ec2.call(&call);
    let hide = |world: &mut World| {
        let own = world.instances.values_mut().next().expect("an instance");
        own.tags.remove("eks:eks-cluster-name")
    };
    let tag = scene.cloud.with(hide).expect("a tag");
    let Outcome::Refused(Reason::Other(words)) = end().await else {
        unreachable!("a refusal")
    };
    assert!(
        words.contains("is not tagged eks:eks-cluster-name=demo"),
        "{words}"
    );
    scene.cloud.with(|world| {
        let own = world.instances.values_mut().next().expect("an instance");
        own.tags.insert("eks:eks-cluster-name".to_owned(), tag);
    });
    assert_eq!(end().await, Outcome::Done(Answer::Ending));
    assert_eq!(end().await, Outcome::Done(Answer::Ending));
    scene
        .cloud
        .with(|world| world.clock.advance(Duration::from_secs(30)));
    assert_eq!(end().await, Outcome::Done(Answer::Gone));
    let ends = scene.cloud.calls().into_iter();
    let ends = ends.filter(|call| call.operation == "TerminateInstances");
    assert_eq!(ends.count(), 1);
}

#[tokio::test]
async fn instances_are_listed_with_their_token_and_their_drift_and_named_once() {
    let scene = Scene::new().await;
    scene
        .launch(&sample::request(&["a"], two(OnDemand).options))
        .await;
    let list = || async {
        match scene.ec2.call(&CloudCall::List).await {
            Outcome::Done(Answer::Listed(listed)) => listed,
            _ => Vec::new(),
        }
    };
    let listed = list().await;
    assert_eq!(listed.len(), 1);
    assert_eq!(
        listed[0].token.as_ref().map(LaunchToken::as_str),
        Some("00ab-0")
    );
    assert_eq!((&listed[0].drift, listed[0].ending), (&None, None));
    scene.cloud.with(|world| {
        let own = world.instances.values_mut().next().expect("an instance");
        own.security_groups.push("sg-other".to_owned());
    });
    assert_eq!(list().await[0].drift.as_deref(), Some("SecurityGroupDrift"));

    let tag = CloudCall::Tag {
        instance: scene.first(),
        claim: "a".into(),
        node: "node-1".into(),
    };
    for _ in 0..2 {
        assert_eq!(scene.ec2.call(&tag).await, Outcome::Done(Answer::Nothing));
    }
    let tags = scene.instances().remove(0).tags;
    assert_eq!(tags.get("Name").map(String::as_str), Some("node-1"));
    assert_eq!(
        tags.get("karpenter.sh/nodeclaim").map(String::as_str),
        Some("a")
    );
    let calls = scene.cloud.calls().into_iter();
    assert_eq!(
        calls.filter(|call| call.operation == "CreateTags").count(),
        1
    );
}

#[tokio::test]
async fn instances_that_end_at_once_are_ended_by_one_call_and_one_that_may_not_keeps_none_back() {
    let scene = Scene::new().await;
    let options = two(OnDemand).options;
    let given = claims(
        scene
            .launch(&sample::request(&["a", "b", "c"], options))
            .await,
    );
    scene
        .cloud
        .with(|world| world.delays.terminated = Duration::from_secs(30));
    let end = async |id: &String| {
        let instance = ProviderId::from(id.as_str());
        scene.ec2.call(&CloudCall::Terminate { instance }).await
    };
    let calls = |operation: &str| {
        let calls = scene.cloud.calls().into_iter();
        calls.filter(|call| call.operation == operation).count()
    };
    let (ids, reads) = (ids(&given), calls("DescribeInstances"));
    // One of them is gone by the time of the call.
    let gone = Fault::new(
        "InvalidInstanceID.NotFound",
        "The instance ID does not exist",
    );
    let fault = ScriptedFault::error("TerminateInstances", gone);
    scene.cloud.with(|world| world.faults.push(fault));
    let outcomes = tokio::join!(end(&ids[0]), end(&ids[1]), end(&ids[2]));
    let ending = Outcome::Done(Answer::Ending);
    assert_eq!(outcomes, (ending.clone(), ending.clone(), ending));
    assert_eq!(calls("DescribeInstances"), reads + 1);
    assert_eq!(
        calls("TerminateInstances"),
        3,
        "all at once, then each half"
    );
    assert!(scene.instances().iter().all(|own| own.ends.is_some()));
}
