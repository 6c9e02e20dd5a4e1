//! Clusters out of public reports, each planned as Kubernetes' own rules would have it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::json::check;
use crate::user::{fed, plimsoll};

/// The file of a case.
fn file(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/program/data/cases");
    format!("{folder}/{name}.yaml")
}

/// The plan of a case, which the checker finds right.
fn planned(name: &str) -> Value {
    let ran = plimsoll(&["plan", &file(name), "-o", "json", "--check"]).ok();
    assert!(ran.err.contains("check: no violations\n"), "{}", ran.err);
    check("plan", &ran.out)
}

/// What `plimsoll plan` tells people about a case.
fn printed(name: &str) -> String {
    plimsoll(&["plan", &file(name)]).ok().out
}

fn list<'p>(plan: &'p Value, field: &str) -> &'p [Value] {
    plan[field].as_array().expect("a list")
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

/// Names of the pods in a list of a plan, in alphabetical order.
fn pods<'p>(plan: &'p Value, field: &str) -> Vec<&'p str> {
    let names = list(plan, field).iter();
    let names: BTreeSet<&str> = names.map(|pod| text(&pod["pod"]["name"])).collect();
    names.into_iter().collect()
}

/// The NodePool and zone of the node that each placed pod gets. No pod goes to a node that exists.
fn places(plan: &Value) -> BTreeMap<&str, (&str, &str)> {
    let of_claim = |name: &Value| {
        let named = |launch: &&Value| launch["nodeClaim"] == *name;
        let launch = list(plan, "launches").iter().find(named);
        let zone = text(&launch.expect("a launch of each claim")["options"][0]["zone"]);
        let named = |claim: &&Value| claim["metadata"]["name"] == *name;
        let claim = list(plan, "nodeClaims").iter().find(named);
        let labels = &claim.expect("a claim of each placement")["metadata"]["labels"];
        (text(&labels["karpenter.sh/nodepool"]), zone)
    };
    let placed = list(plan, "placements").iter();
    placed
        .map(|placed| (text(&placed["pod"]["name"]), of_claim(&placed["nodeClaim"])))
        .collect()
}

/// How many pods get nodes in each zone.
fn by_zone<'p>(places: &BTreeMap<&str, (&str, &'p str)>) -> BTreeMap<&'p str, usize> {
    let mut count = BTreeMap::new();
    for (_, zone) in places.values() {
        *count.entry(*zone).or_default() += 1;
    }
    count
}

#[track_caller]
fn buys_nothing(plan: &Value) {
    assert!(list(plan, "nodeClaims").is_empty(), "{plan}");
    assert!(list(plan, "placements").is_empty(), "{plan}");
}

/// What is said about the nearest offering of each NodePool, for a pod that is unschedulable.
fn nearest<'p>(plan: &'p Value, pod: &str) -> BTreeMap<&'p str, &'p str> {
    let mut pods = list(plan, "unschedulablePods").iter();
    let found = pods.find(|unplaced| unplaced["pod"]["name"] == pod);
    let pools = list(found.expect("an unschedulable pod"), "nodePools").iter();
    pools
        .filter_map(|pool| Some((text(&pool["nodePool"]), pool["nearest"].as_str()?)))
        .collect()
}

/// Two zones are wanted and the volume leaves one; no other offering would change that.
#[test]
fn a_volume_that_leaves_too_few_zones_makes_a_pod_unschedulable() {
    let plan = planned("minvalues-volume-strict");
    buys_nothing(&plan);
    assert_eq!(pods(&plan, "unschedulablePods"), ["db-0"]);
    let refusal = plan["unschedulablePods"][0]["nodePools"].to_string();
    let rule = "at least 2 values of topology.kubernetes.io/zone, the pod leaves 1 (minValues)";
    assert!(refusal.contains(rule), "{refusal}");
    assert_eq!(nearest(&plan, "db-0"), BTreeMap::new());
}

#[test]
fn minimum_values_of_best_effort_are_lowered_and_it_is_told() {
    let plan = planned("minvalues-volume-besteffort");
    assert_eq!(places(&plan)["db-0"], ("general", "us-east-1c"));
    let [claim] = list(&plan, "nodeClaims") else {
        panic!("one node is bought: {plan}");
    };
    let requirements = list(&claim["spec"], "requirements").iter();
    let mut zone =
        requirements.filter(|requirement| requirement["key"] == "topology.kubernetes.io/zone");
    let zone = zone.next().expect("a zone is required");
    assert_eq!(zone["values"].to_string(), r#"["us-east-1c"]"#);
    assert_eq!(zone["minValues"], 1);
    let taken = fed(&["snapshot", "check", "-"], claim.to_string().as_bytes());
    assert_eq!(taken.ok().out, "standard input: valid\n");
    let told = "note: NodePool general: minValues of topology.kubernetes.io/zone is lowered from 2 to 1 on 1 new node(s)";
    let printed = printed("minvalues-volume-besteffort");
    assert!(printed.contains(told), "{printed}");
}

/// The zones of another team's NodePool are none of these pods'.
#[test]
fn pods_spread_over_the_zones_of_the_node_pool_that_they_select() {
    let plan = planned("two-teams-zones");
    let places = places(&plan);
    assert_eq!(
        by_zone(&places),
        BTreeMap::from([("us-east-1a", 2), ("us-east-1b", 2)])
    );
    assert!(places.values().all(|(pool, _)| *pool == "team-a"), "{plan}");
    assert_eq!(pods(&plan, "unschedulablePods"), [""; 0]);
}

/// Nothing but the limit keeps the others waiting, so nothing else is named as what to change.
#[test]
fn a_limit_on_nodes_is_kept_and_is_all_that_is_blamed() {
    let plan = planned("node-limit");
    let places = places(&plan);
    assert_eq!(places.len(), 3);
    assert!(places.values().all(|(pool, _)| *pool == "three"), "{plan}");
    assert_eq!(list(&plan, "nodeClaims").len(), 3);
    assert_eq!(pods(&plan, "unschedulablePods"), ["apart-3", "apart-4"]);
    let would = "c7a.medium in zone us-east-1a, on-demand, would fit, but";
    let none = format!("{would} the pool's limits leave nodes 0");
    let three = format!("{would} the pool's limits leave nodes 3, not enough for all of this plan");
    for pod in ["apart-3", "apart-4"] {
        let expected = BTreeMap::from([("none", &*none), ("three", &*three)]);
        assert_eq!(nearest(&plan, pod), expected, "{pod}");
    }
}

#[test]
fn a_pod_that_keeps_away_from_a_daemon_of_every_node_buys_none() {
    let plan = planned("anti-affinity-to-daemon");
    buys_nothing(&plan);
    assert_eq!(pods(&plan, "unschedulablePods"), ["loner"]);
    assert_eq!(nearest(&plan, "loner"), BTreeMap::new());
    let file = file("anti-affinity-to-daemon");
    let simulated = plimsoll(&["simulate", &file, "-o", "json"]).ok();
    let run = &check("simulate", &simulated.out)["runs"][0];
    assert_eq!(run["nodes"]["launches"], 0, "{run}");
    assert_eq!(run["pods"]["unschedulable"], 1, "{run}");
}

/// To prefer nodes without a NodePool is no refusal, nor is one of several alternatives.
#[test]
fn only_a_pod_that_requires_nodes_without_a_node_pool_is_left_out() {
    let plan = planned("preferred-exclusion");
    assert_eq!(
        pods(&plan, "placements"),
        ["either", "either-turned", "prefers-none", "selector"]
    );
    let places = places(&plan);
    assert!(
        places.values().all(|(pool, _)| *pool == "general"),
        "{plan}"
    );
    assert_eq!(pods(&plan, "unschedulablePods"), [""; 0]);
    assert_eq!(pods(&plan, "notPlannedPods"), ["none-only"]);
    assert_eq!(plan["notPlannedPods"][0]["reason"], "ExcludesNodePools");
}

#[test]
fn a_zone_in_which_nothing_is_sold_is_no_domain() {
    let plan = planned("impossible-zone-hard");
    assert_eq!(
        by_zone(&places(&plan)),
        BTreeMap::from([("us-east-1a", 2), ("us-east-1b", 2), ("us-east-1c", 2)])
    );
    assert_eq!(pods(&plan, "unschedulablePods"), [""; 0]);
    let told = "note: NodePool misconfigured: no available instance type satisfies its requirements and has room for its daemons\n";
    let printed = printed("impossible-zone-hard");
    assert!(printed.contains(told), "{printed}");
}

/// The volume claim is for one pod at a time, and a pod on n1 has it.
#[test]
fn a_volume_claim_in_use_by_its_only_pod_buys_nothing() {
    let plan = planned("rwop");
    buys_nothing(&plan);
    assert_eq!(pods(&plan, "unschedulablePods"), ["second"]);
    let refused = &plan["unschedulablePods"][0];
    assert_eq!(refused["reason"], "InvalidPod");
    let told = "volume claim shop/only is for one pod at a time (ReadWriteOncePod): shop/first has it on n1";
    assert!(text(&refused["message"]).contains(told), "{refused}");
}

#[test]
fn a_pending_pod_of_a_daemon_set_buys_nothing_and_says_that_it_is_bound_to_its_node() {
    let plan = planned("pending-daemon");
    buys_nothing(&plan);
    assert_eq!(pods(&plan, "unschedulablePods"), [""; 0]);
    assert_eq!(pods(&plan, "notPlannedPods"), ["agent-n1"]);
    assert_eq!(plan["notPlannedPods"][0]["reason"], "DaemonSet");
    let explained = plimsoll(&["explain", "pod", "agent-n1", &file("pending-daemon")]).ok();
    explained.prints("kube-system/agent-n1 belongs to a DaemonSet and is bound to its node");
}
