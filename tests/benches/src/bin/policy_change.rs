//! How soon a change of policies is planned for, in the lab: a pod waits because the ranking policy of its NodePool fails, the Policy is
//! deleted, mended or switched off, and the NodeClaim for the pod follows. Usage: `policy_change [CHANGES]`.
//!
//! A change begins when the API server has answered it, and ends when a watch of this program hears of the NodeClaim, so that the way of both
//! through the API server is in each time.

#![expect(clippy::print_stdout, reason = "the table is what it is for")]

use std::time::Instant;

use anyhow::{Context, Result};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use k8s_openapi::api::events::v1::Event;
use kube::Client;
use kube::api::{
    Api, DeleteParams, DynamicObject, ListParams, ObjectMeta, Patch, PatchParams, PostParams,
};
use kube::core::{ApiResource, GroupVersionKind};
use plimsoll_api::Kind;
use plimsoll_benches::argument;
use plimsoll_benches::live::{Contender, Heard, PATIENCE, Programs, lab, make_pool};
use plimsoll_guests::HOSTILE;
use plimsoll_lab::{apply, pending_pod, until};
use plimsoll_policy::WHOLE;
use serde_json::{Value, json};

/// Changes where no number is given: enough for a hundredth of them to be one.
const CHANGES: usize = 100;
/// Most seconds of all changes but a hundredth.
const BAR: f64 = 2.0;
const MODULE: &str = "failing";
const POLICY: &str = "mine";

/// A way to end a policy's failures.
#[derive(Clone, Copy, Debug)]
enum Change {
    Deleted,
    Mended,
    SwitchedOff,
}

fn main() -> Result<()> {
    let changes = argument(1, CHANGES);
    let programs = Programs::find()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    runtime.block_on(run(changes, &programs))
}

async fn run(changes: usize, programs: &Programs) -> Result<()> {
    let mut lab = lab().await?;
    let client = lab.client();
    // The smallest nodes hold one of the pods each, and none goes.
    make_pool(&client, ("In", "2")).await?;
    let never = json!({"spec": {"disruption": {"consolidateAfter": "Never"}}});
    let pools: Api<DynamicObject> = plimsoll_kube::api(&client, Kind::NodePool);
    let (params, never) = (PatchParams::default(), Patch::Merge(never));
    pools.patch("general", &params, &never).await?;
    put_module(&client).await?;
    let heard = Heard::of(&client);
    Contender::Plimsoll.start(&mut lab, programs).await?;
    let kinds = [Change::Deleted, Change::Mended, Change::SwitchedOff];
    let mut took = Vec::new();
    let mut pods = 0_usize..;
    while took.len() < changes {
        apply(&client, &policy(&json!({}))).await?;
        until_judged(&client).await?;
        let pod = format!("waits-{}", pods.next().context("a number")?);
        make_pod(&client, &pod).await?;
        if !is_refused(&client, &pod).await? {
            continue;
        }
        let known = heard.claims();
        make(&client, kinds[took.len() % kinds.len()]).await?;
        let begun = Instant::now();
        let claim = heard.claim_beyond(known, PATIENCE).await?;
        took.push(claim.saturating_duration_since(begun).as_secs_f64());
    }
    took.sort_by(f64::total_cmp);
    let at = |hundredth: usize| took.get((took.len() * hundredth).div_ceil(100).max(1) - 1);
    let (half, most) = at(50).zip(at(99)).context("no change was made")?;
    let verdict = if *most <= BAR { "met" } else { "MISSED" };
    println!("{:>8}{:>10}{:>10}", "changes", "p50, s", "p99, s");
    println!("{changes:>8}{half:>10.2}{most:>10.2}  {verdict}");
    Ok(())
}

/// The policy that fails, or one that does not, by the rest of its `spec`.
fn policy(more: &Value) -> Value {
    let mut policy = json!({
        "apiVersion": "plimsoll.dev/v1alpha1", "kind": "Policy", "metadata": {"name": POLICY},
        "spec": {
            "hook": "Rank", "configMapRef": {"name": MODULE}, "nodePoolSelector": {}, "failureMode": "Hold",
            "settings": {"behaviour": "panic"},
        },
    });
    for (field, value) in more.as_object().into_iter().flatten() {
        policy["spec"][field] = value.clone();
    }
    policy
}

async fn make(client: &Client, change: Change) -> Result<()> {
    match change {
        Change::Deleted => {
            let now = DeleteParams::default();
            policies(client).delete(POLICY, &now).await?;
        }
        Change::Mended => {
            let honest = json!({"settings": {"behaviour": "honest"}});
            apply(client, &policy(&honest)).await?;
        }
        Change::SwitchedOff => apply(client, &policy(&json!({"mode": "Off"}))).await?,
    }
    Ok(())
}

fn policies(client: &Client) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk("plimsoll.dev", "v1alpha1", "Policy");
    let resource = ApiResource::from_gvk_with_plural(&kind, "policies");
    Api::all_with(client.clone(), &resource)
}

/// Waits until the program has said of the policy, as it is now, whether it is ready.
async fn until_judged(client: &Client) -> Result<()> {
    let policies = policies(client);
    let judged = until("the policy to be judged", PATIENCE, async || {
        let policy = policies.get(POLICY).await?;
        let generation = policy.metadata.generation;
        let conditions = policy.data["status"]["conditions"].as_array();
        let mut conditions = conditions.into_iter().flatten();
        let is_judged = conditions
            .any(|it| it["type"] == "Ready" && it["observedGeneration"].as_i64() == generation);
        Ok(is_judged.then_some(()))
    });
    Ok(judged.await?)
}

async fn put_module(client: &Client) -> Result<()> {
    let map = ConfigMap {
        metadata: ObjectMeta {
            name: Some(MODULE.to_owned()),
            ..ObjectMeta::default()
        },
        binary_data: Some([(WHOLE[1].to_owned(), ByteString(HOSTILE.to_vec()))].into()),
        ..ConfigMap::default()
    };
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), "kube-system");
    maps.create(&PostParams::default(), &map).await?;
    Ok(())
}

/// A pod of which a node with two cores holds one.
async fn make_pod(client: &Client, name: &str) -> Result<()> {
    let pods: Api<Pod> = Api::namespaced(client.clone(), "default");
    let pod = pending_pod(name, "1500m", "1Gi");
    pods.create(&PostParams::default(), &pod).await?;
    Ok(())
}

/// Waits until the program says of a pod that the policy failed. `false` if the pod has a node: the cluster's taint eviction may have taken
/// another pod off one that had just registered.
async fn is_refused(client: &Client, pod: &str) -> Result<bool> {
    let events: Api<Event> = Api::namespaced(client.clone(), "default");
    let pods: Api<Pod> = Api::namespaced(client.clone(), "default");
    let failed = format!("policy {POLICY} failed");
    let names_it = |event: &Event| {
        let about = event
            .regarding
            .as_ref()
            .and_then(|about| about.name.as_deref());
        let note = event.note.as_deref().unwrap_or_default();
        about == Some(pod) && note.contains(&failed)
    };
    let refused = until("the pod to be refused or bound", PATIENCE, async || {
        let events = events.list(&ListParams::default()).await?.items;
        if events.iter().any(names_it) {
            return Ok(Some(true));
        }
        let spec = pods.get(pod).await?.spec;
        let is_bound = spec.is_some_and(|spec| spec.node_name.is_some());
        Ok(is_bound.then_some(false))
    });
    Ok(refused.await?)
}
