//! Explanations beside what the program then does: random situations of several teams in one cluster, explained while the program
//! does not run, and compared with what happens once it runs again. Ten situations by default; `PLIMSOLL_SITUATIONS` is how many, and
//! `PROPTEST_RNG_SEED` draws them.

mod foretelling;
mod seen;
mod situation;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::time::{Duration, Instant};

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use kube::api::{Api, DynamicObject, ListParams};
use plimsoll_api::Kind;
use plimsoll_lab::{apply, example_class, until};
use serde_json::Value;

use foretelling::Foretold;
use seen::{Seen, notes};
use situation::{Situation, World, modules, situation};

use super::PATIENCE;
use super::explained::loose;
use super::served::{ALONE, Asked, NAME, Served, definitions, until_bound};

/// Situations of one cluster.
const TEAMS: usize = 10;
/// How long a cluster is watched at least: longer than the wait before a move is made, and the pause between two looks.
const WATCHED: Duration = Duration::from_secs(45);
/// What is foretold is done within this time where all goes well; a machine of tests may be slower.
const QUIET: Duration = Duration::from_secs(3);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_explained_is_what_happens() {
    let number = |name: &str, default: u64| {
        let given = std::env::var(name).ok();
        given.map_or(default, |text| text.parse().expect("a number"))
    };
    let seed = number("PROPTEST_RNG_SEED", 1);
    let situations = usize::try_from(number("PLIMSOLL_SITUATIONS", 10)).expect("a count");
    let mut contradictions = Vec::new();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for first in (0..situations).step_by(TEAMS) {
        let world = World::numbered(usize::try_from(seed % 8).expect("small") + first / TEAMS);
        let drawn = first..situations.min(first + TEAMS);
        let drawn: Vec<Situation> = drawn.map(|number| situation(seed, number, world)).collect();
        contradictions.extend(played(&drawn, world, &mut counts).await);
    }
    eprintln!("seed {seed}, {situations} situations, foretold: {counts:?}");
    assert!(
        contradictions.is_empty(),
        "seed {seed}:\n{}",
        contradictions.join("\n")
    );
}

/// Plays situations in one cluster; the sentences that did not come true.
async fn played(
    drawn: &[Situation],
    world: World,
    counts: &mut BTreeMap<String, usize>,
) -> Vec<String> {
    let served = Served::start(Asked {
        definitions: if world.loose { loose() } else { definitions() },
        objects: vec![example_class()],
        flags: vec![ALONE.to_owned()],
        ..Asked::default()
    });
    let mut served = served.await;
    for (name, bytes) in modules() {
        served.put_module(name, bytes).await;
    }
    applied(&served, drawn, |it| &it.first).await;
    until_bound(&served.pods()).await;
    settled(&served).await;
    served.until_initialized().await;
    applied(&served, drawn, |it| &it.then).await;
    observed(plimsoll_kube::api(&served.client, Kind::NodePool)).await;
    observed(served.policies()).await;
    applied(&served, drawn, |it| &it.late).await;
    begun(&served, drawn).await;
    served.lab.kill(NAME).expect("it runs");
    applied(&served, drawn, |it| &it.last).await;
    settled(&served).await;
    quiet().await;

    let before = Seen::of(&served).await.expect("it is there");
    let foretold = Foretold::all(&served, &before).await;
    for (state, count) in foretold.states() {
        *counts.entry(state).or_default() += count;
    }
    let started = served.lab.start_again(NAME).await;
    started.expect("it starts again");
    let mut contradictions = watched(&served, drawn, &before, &foretold).await;
    if !contradictions.is_empty() {
        let file = tempfile::Builder::new().suffix(".log").tempfile();
        let (mut file, path) = file.and_then(|it| Ok(it.keep()?)).expect("a file");
        let log = served.lab.log(NAME);
        file.write_all(log.as_bytes()).expect("it is written");
        contradictions.push(format!("log of the program: {}", path.display()));
    }
    served.lab.kill(NAME).expect("it runs");
    contradictions
}

async fn applied(served: &Served, drawn: &[Situation], part: impl Fn(&Situation) -> &Vec<Value>) {
    for object in drawn.iter().flat_map(part) {
        let applied = apply(&served.client, object).await;
        assert!(applied.is_ok(), "{object}: {applied:?}");
    }
}

/// Waits until every Deployment has its pods, none is ending, and the scheduler has tried all of them.
async fn settled(served: &Served) {
    let deployments: Api<Deployment> = Api::namespaced(served.client.clone(), "default");
    let mut last = String::new();
    let settled = until("the pods to be settled", PATIENCE, async || {
        let all = ListParams::default();
        let is_whole = |own: &Deployment| {
            let wanted = own.spec.as_ref().and_then(|spec| spec.replicas);
            let status = own.status.as_ref();
            status.and_then(|status| status.replicas).unwrap_or(0) == wanted.unwrap_or(1)
                && status.and_then(|status| status.observed_generation) == own.metadata.generation
        };
        let unwhole = deployments.list(&all).await?.items;
        let unwhole = unwhole
            .into_iter()
            .filter(|own| !is_whole(own))
            .map(|own| own.name_any());
        let odd = served.pods().list(&all).await?.items;
        let odd = odd
            .into_iter()
            .filter(|pod| !is_tried(pod))
            .map(|pod| pod.name_any());
        let waits: Vec<String> = unwhole.chain(odd).collect();
        last = format!("{waits:?}");
        Ok(waits.is_empty().then_some(()))
    });
    let settled = settled.await;
    assert!(settled.is_ok(), "{last}");
}

/// `true` if a pod is not ending, and runs or was refused by the scheduler.
fn is_tried(pod: &Pod) -> bool {
    let is_bound = pod
        .spec
        .as_ref()
        .is_some_and(|spec| spec.node_name.is_some());
    let mut conditions = pod
        .status
        .iter()
        .flat_map(|status| status.conditions.iter().flatten());
    let is_refused = conditions.any(|own| own.type_ == "PodScheduled" && own.status == "False");
    pod.metadata.deletion_timestamp.is_none() && (is_bound || is_refused)
}

/// Waits until the program has seen all objects of a kind as they are.
async fn observed(objects: Api<DynamicObject>) {
    let mut last = String::new();
    let observed = until("the objects to be observed", PATIENCE, async || {
        let objects = objects.list(&ListParams::default()).await?.items;
        let is_behind = |own: &&DynamicObject| {
            let conditions = own.data["status"]["conditions"].as_array();
            let mut conditions = conditions.into_iter().flatten();
            let generation = own.metadata.generation;
            !conditions
                .any(|it| it["type"] == "Ready" && it["observedGeneration"].as_i64() == generation)
        };
        let behind = objects.iter().filter(is_behind);
        let behind: Vec<String> = behind
            .map(|own| format!("{} {}", own.name_any(), own.data["status"]))
            .collect();
        last = format!("{behind:?}");
        Ok(behind.is_empty().then_some(()))
    });
    let observed = observed.await;
    assert!(observed.is_ok(), "{last}");
}

/// Waits until pods that are late are bound or refused, or a NodeClaim is made for them.
async fn begun(served: &Served, drawn: &[Situation]) {
    let late = drawn.iter().flat_map(|it| &it.late);
    let late: BTreeSet<&str> = late
        .filter_map(|pod| pod["metadata"]["name"].as_str())
        .collect();
    let begun = until("the late pods to be planned for", PATIENCE, async || {
        let seen = Seen::of(served).await?;
        let refused = notes(served, "FailedScheduling").await?;
        let is_in_flight = |team: &str| {
            let mut claims = seen.claims.values();
            claims.any(|claim| {
                let pool = claim.labels().get("karpenter.sh/nodepool");
                pool.is_some_and(|pool| pool.starts_with(&format!("{team}-")))
                    && claim.data["status"]["nodeName"].is_null()
            })
        };
        let is_seen = |name: &&str| {
            let team = name.split('-').next().unwrap_or_default();
            let gated = seen
                .pods
                .get(*name)
                .and_then(|pod| pod.spec.as_ref()?.scheduling_gates.as_ref());
            seen.node_of(name).is_some()
                || refused.contains_key(*name)
                || gated.is_some()
                || is_in_flight(team)
        };
        Ok(late.iter().all(is_seen).then_some(()))
    });
    begun.await.expect("begun");
}

/// Waits until `consolidateAfter` has passed since the last pod came or went.
async fn quiet() {
    let since = Instant::now();
    let passed = until("time to pass", PATIENCE, async || {
        Ok((since.elapsed() >= QUIET).then_some(()))
    });
    passed.await.expect("passed");
}

/// Watches until all that was foretold has been true at some moment and nothing else may come, or patience ends; sentences that were never
/// true, and those about nodes that left although they were to stay.
async fn watched(
    served: &Served,
    drawn: &[Situation],
    before: &Seen,
    foretold: &Foretold,
) -> Vec<String> {
    let since = Instant::now();
    let left = before.leaving(before);
    let mut first_left: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let mut open: Option<BTreeMap<String, String>> = None;
    let mut wrong: BTreeSet<String> = BTreeSet::new();
    let watched = until("what was foretold", PATIENCE, async || {
        let seen = Seen::of(served).await?;
        let leaving: BTreeSet<String> = seen.leaving(before).difference(&left).cloned().collect();
        for situation in drawn {
            let prefix = format!("{}-", situation.team);
            let own = leaving.iter().filter(|claim| claim.starts_with(&prefix));
            let own: BTreeSet<String> = own.cloned().collect();
            if !own.is_empty() {
                first_left.entry(&situation.team).or_insert(own);
            }
        }
        let stay = drawn
            .iter()
            .map(|it| &*it.team)
            .filter(|team| !first_left.contains_key(team));
        wrong.extend(stay.flat_map(|team| foretold.excluded(team, before, &seen)));
        let refused = notes(served, "FailedScheduling").await?;
        let teams = drawn.iter().map(|it| &it.team);
        let untrue: BTreeMap<String, String> = teams
            .flat_map(|team| foretold.untrue(team, before, &seen, &refused, &first_left))
            .collect();
        let still = match open.take() {
            None => untrue,
            Some(open) => {
                let is_open = |(what, _): &(String, String)| open.contains_key(what);
                untrue.into_iter().filter(is_open).collect()
            }
        };
        let is_over = still.is_empty() && since.elapsed() >= WATCHED;
        open = Some(still);
        Ok(is_over.then_some(()))
    });
    // Whatever is open then is told by name.
    let _ = watched.await;
    let mut contradictions: Vec<String> = open.unwrap_or_default().into_values().collect();
    let gone = first_left.iter();
    contradictions.extend(gone.flat_map(|(team, own)| foretold.wrong(team, own)));
    contradictions.extend(wrong);
    contradictions
}
