//! Two processes of the program, one cluster and one lease: one acts, and when it dies or sleeps the other does.

mod answers;
#[cfg(feature = "aws")]
mod aws;
mod boundaries;
mod charts;
mod columns;
mod consolidation;
mod default_spread;
mod described;
mod explained;
mod failing;
mod fault_plan;
mod faults;
mod foretold;
mod handover;
mod joining;
mod metrics;
mod outages;
mod parts;
mod policies;
mod pools;
mod recorded;
mod removal;
mod served;
mod story;
mod swaps;
mod volumes;
mod workloads;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::api::{Api, ListParams, PostParams};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use kube::{Client, ResourceExt};
use plimsoll_lab::{
    Call, Lab, Options, Proxy, Verb, apply, example_class, example_pool, pending_pod, until,
};

use served::{definitions, played, played_whole, run};

const PATIENCE: Duration = Duration::from_mins(3);
/// The longest that a cluster may be without a leader that acts.
const SUCCESSION: Duration = Duration::from_secs(20);
const LEASE: &str = "karpenter-leader-election";

/// A lab, and two processes that reach it by a proxy each; the first leads.
struct Pair {
    lab: Lab,
    client: Client,
    first: Proxy,
    second: Proxy,
}

impl Pair {
    async fn start() -> Self {
        let options = Options {
            definitions: definitions(),
            ..Options::default()
        };
        let mut lab = Lab::start(options).await.expect("a lab starts");
        let client = lab.client();
        for object in [example_class(), example_pool()] {
            apply(&client, &object).await.expect("applied");
        }
        let first = lab.proxy().await.expect("a proxy");
        let second = lab.proxy().await.expect("a proxy");
        run(&mut lab, "first", &first, &[]);
        let leads = |calls: &[Call]| is_listed(calls, "nodeclaims");
        first
            .until("the first to lead", PATIENCE, leads)
            .await
            .expect("it leads");
        run(&mut lab, "second", &second, &[]);
        let waits = |calls: &[Call]| position(calls, Verb::Get, "leases").is_some();
        second
            .until("the second to look", PATIENCE, waits)
            .await
            .expect("it looks");
        Self {
            lab,
            client,
            first,
            second,
        }
    }

    fn pods(&self) -> Api<Pod> {
        Api::namespaced(self.client.clone(), "default")
    }

    async fn make_pods(&self, name: &str, count: usize) {
        for number in 0..count {
            let pod = pending_pod(&format!("{name}-{number}"), "1", "1Gi");
            let made = self.pods().create(&PostParams::default(), &pod).await;
            made.expect("a pod");
        }
    }

    async fn until_bound(&self, count: usize) {
        let waited = until("the pods to be bound", PATIENCE, async || {
            let pods = self.pods().list(&ListParams::default()).await?.items;
            let bound = |pod: &&Pod| {
                pod.spec
                    .as_ref()
                    .is_some_and(|spec| spec.node_name.is_some())
            };
            Ok((pods.iter().filter(bound).count() == count).then_some(()))
        });
        waited.await.expect("bound");
    }

    async fn holder(&self) -> Option<String> {
        let leases: Api<Lease> = Api::namespaced(self.client.clone(), "kube-system");
        let lease = leases.get_opt(LEASE).await.expect("an answer");
        lease.and_then(|lease| lease.spec?.holder_identity)
    }
}

fn position(calls: &[Call], verb: Verb, resource: &str) -> Option<usize> {
    calls
        .iter()
        .position(|call| call.verb == verb && call.resource == resource)
}

/// `true` if a kind was listed after the lease was taken.
fn is_listed(calls: &[Call], resource: &str) -> bool {
    let taken = calls
        .iter()
        .position(|call| call.is_write() && call.resource == "leases");
    taken.is_some_and(|taken| position(&calls[taken..], Verb::List, resource).is_some())
}

fn writes(proxy: &Proxy) -> Vec<Call> {
    let calls = proxy.calls().into_iter();
    calls.filter(Call::is_write).collect()
}

/// I08: of two processes one acts, and the other soon after it has died.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_two_acts_and_the_other_when_it_has_died() {
    let mut pair = Pair::start().await;
    pair.make_pods("before", 2).await;
    pair.until_bound(2).await;
    assert_eq!(writes(&pair.second), [], "the second only waits");
    let before = pair.holder().await;

    pair.lab.kill("first").expect("it runs");
    let death = Instant::now();
    pair.make_pods("after", 40).await;
    let acts = |calls: &[Call]| position(calls, Verb::Create, "nodeclaims").is_some();
    pair.second
        .until("the second to act", PATIENCE, acts)
        .await
        .expect("it acts");
    let succession = death.elapsed();
    eprintln!("from the death of the leader to the next one's first claim: {succession:?}");
    assert!(succession < SUCCESSION, "{succession:?}");
    assert_ne!(pair.holder().await, before);
    let calls = pair.second.calls();
    for resource in ["nodeclaims", "nodes"] {
        let acted = position(&calls, Verb::Create, "nodeclaims").unwrap_or_default();
        assert!(
            is_listed(&calls[..acted], resource),
            "{resource} were listed before the first plan"
        );
    }
    pair.until_bound(42).await;
    pair.lab.kill("second").expect("it runs");
    for name in ["first", "second"] {
        assert!(played(&pair.lab, name).plans > 0, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_that_wakes_after_its_lease_writes_nothing_and_ends() {
    let mut pair = Pair::start().await;
    pair.make_pods("burst", 60).await;
    let begins = |calls: &[Call]| position(calls, Verb::Create, "nodeclaims").is_some();
    pair.first
        .until("the first to act", PATIENCE, begins)
        .await
        .expect("it acts");
    pair.lab.pause("first").expect("it runs");

    let leads = |calls: &[Call]| is_listed(calls, "nodeclaims");
    pair.second
        .until("the second to lead", PATIENCE, leads)
        .await
        .expect("it leads");
    let written = writes(&pair.first);
    pair.lab.resume("first").expect("it is there");
    let ended = until("the end of the first", PATIENCE, async || {
        Ok(pair.lab.has_ended("first").expect("it is known"))
    });
    assert_eq!(ended.await.expect("it ends"), "exit status: 3");
    assert_eq!(writes(&pair.first).split_off(written.len()), []);
    let said = pair.lab.log("first");
    assert!(
        said.contains("error: lease kube-system/karpenter-leader-election was lost"),
        "{said}"
    );

    // Whatever the first had planned already, the second has pods of its own to plan for.
    pair.make_pods("later", 40).await;
    pair.until_bound(100).await;
    let nodes: Api<Node> = Api::all(pair.client.clone());
    let nodes = nodes
        .list(&ListParams::default())
        .await
        .expect("nodes")
        .items;
    let kind = GroupVersionKind::gvk("karpenter.sh", "v1", "NodeClaim");
    let claims: Api<DynamicObject> =
        Api::all_with(pair.client.clone(), &ApiResource::from_gvk(&kind));
    let claims = claims
        .list(&ListParams::default())
        .await
        .expect("claims")
        .items;
    let owners = nodes.iter().flat_map(ResourceExt::owner_references);
    let owners: BTreeSet<&str> = owners.map(|owner| owner.uid.as_str()).collect();
    assert_eq!(owners.len(), nodes.len(), "no claim has two nodes");
    assert!(nodes.len() <= claims.len(), "every node has a claim");
    pair.lab.kill("second").expect("it runs");
    assert!(
        played_whole(&pair.lab, "first").plans > 0,
        "the first planned"
    );
    assert!(played(&pair.lab, "second").plans > 0, "the second planned");
}
