//! Explanations of what runs: `plimsoll explain node`, `nodeclaim` and `nodepool` on files.

use crate::user::{Ran, fed, pod, snapshot};

/// A cluster with a pool of its own: its disruption settings, and the rest of the objects.
pub(crate) fn cluster(disruption: &str, objects: &str) -> String {
    let pool = format!("metadata: {{name: general}}\nspec:\n  disruption: {{{disruption}}}");
    let plain = "metadata: {name: general}\nspec:";
    let text = snapshot(objects);
    assert!(text.contains(plain), "{text}");
    text.replace(plain, &pool)
}

/// Any number may go at once, as soon as they can.
pub(crate) const AT_ONCE: &str = "consolidateAfter: 0s, budgets: [{nodes: 100%}]";

fn explained(subject: &str, name: &str, text: &str) -> Ran {
    fed(&["explain", subject, name, "-"], text.as_bytes())
}

/// Explains and checks the whole answer.
#[track_caller]
fn says(subject: &str, name: &str, text: &str, lines: &[&str]) {
    let ran = explained(subject, name, text).ok();
    let said: Vec<&str> = ran.out.lines().collect();
    assert_eq!(said, lines, "{}", ran.out);
}

/// The last line of an explanation of node n1.
#[track_caller]
fn n1_ends(text: &str, line: &str) {
    let ran = explained("node", "n1", text).ok();
    assert_eq!(ran.out.lines().last(), Some(line), "{}", ran.out);
}

/// A node in zone a with its claim, bought half an hour ago for two pods of one workload; `meta` of the node, `claim` of the claim's metadata.
fn node(name: &str, instance_type: &str, cpu: u32, meta: &str, claim: &str) -> String {
    let labels = format!(
        "karpenter.sh/nodepool: general, node.kubernetes.io/instance-type: {instance_type}, topology.kubernetes.io/zone: zone-a, \
         karpenter.sh/capacity-type: on-demand, kubernetes.io/hostname: {name}"
    );
    let memory = cpu * 4;
    let (capacity, since) = (
        format!("{{cpu: \"{cpu}\", memory: {memory}Gi, pods: \"50\"}}"),
        "status: \"True\", lastTransitionTime: \"2026-11-21T09:01:00Z\"",
    );
    format!(
        "---\napiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {{name: c-{name}, uid: u-{name}, creationTimestamp: \"2026-11-21T09:00:00Z\", \
         labels: {{{labels}}}, annotations: {{plimsoll.dev/promised: \"00000000000000aa:2\", \
         plimsoll.dev/launch-order: \"{instance_type}/zone-a/on-demand,large/zone-b/on-demand\"{claim}}}}}\n\
         spec: {{nodeClassRef: {{group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}}, requirements: [], resources: {{requests: {{cpu: \"1\"}}}}}}\n\
         status: {{providerID: i-{name}, nodeName: {name}, capacity: {capacity}, allocatable: {capacity}, conditions: [{{type: Launched, {since}}}, \
         {{type: Registered, {since}}}, {{type: Initialized, {since}}}]}}\n\
         ---\napiVersion: v1\nkind: Node\nmetadata: {{name: {name}, uid: n-{name}, labels: {{{labels}, karpenter.sh/registered: \"true\", \
         karpenter.sh/initialized: \"true\"}}{meta}}}\n\
         spec: {{providerID: i-{name}}}\nstatus: {{capacity: {capacity}, allocatable: {capacity}, conditions: [{{type: Ready, status: \"True\"}}]}}\n"
    )
}

/// A pod that runs on a node; `meta` is the rest of its metadata.
fn running(name: &str, on: &str, cpu: &str, meta: &str) -> String {
    let owner = "ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: rs-web, controller: true}]";
    let text = pod(
        name,
        cpu,
        "1Gi",
        &format!("  nodeName: {on}\nstatus: {{phase: Running}}\n"),
    );
    let plain = format!("namespace: shop, labels: {{app: {name}}}");
    assert!(text.contains(&plain), "{text}");
    text.replace(
        &plain,
        &format!("namespace: shop, labels: {{app: web}}, {owner}{meta}"),
    )
}

/// A large node with one small pod, whose pod would run on a small one.
pub(crate) fn oversized(meta: &str, pod_meta: &str) -> String {
    node("n1", "large", 8, meta, "") + &running("web-1", "n1", "1", pod_meta)
}

#[test]
fn a_node_is_told_whole_and_the_command_that_takes_it_away() {
    let text = cluster(AT_ONCE, &oversized("", ""));
    says(
        "node",
        "n1",
        &text,
        &[
            "node n1 of NodePool general, NodeClaim c-n1",
            "  bought 2026-11-21T09:00:00Z for 2 pods of 1 workload",
            "  large, on-demand, zone zone-a, $0.2500/h",
            "  now priced by list-price: $0.2500/h, \"list price\" (list price 0.25)",
            "  cheapest other: large zone-b on-demand: $0.2500/h, \"list price\" (list price 0.25)",
            "  or large zone-b on-demand $0.2500/h",
            "  runs 1 pod of 1 workload: shop/web-1",
            "  requested cpu 1 of 8 (12 %), memory 1Gi of 32Gi (3 %)",
            "disrupted now: its pods run elsewhere for less",
            "  saves $0.2000/h",
            "  replaced by small zone-a on-demand $0.0500/h",
        ],
    );
}

#[test]
fn the_first_rule_that_keeps_a_node_is_told() {
    n1_ends(
        &cluster(
            AT_ONCE,
            &oversized(", annotations: {karpenter.sh/do-not-disrupt: \"true\"}", ""),
        ),
        "not disrupted now: it is annotated karpenter.sh/do-not-disrupt: true",
    );
    n1_ends(
        &cluster(
            AT_ONCE,
            &oversized("", ", annotations: {karpenter.sh/do-not-disrupt: \"true\"}"),
        ),
        "not disrupted now: pod shop/web-1 is annotated karpenter.sh/do-not-disrupt",
    );
    let pdb = "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: web, namespace: shop}\n\
               spec: {selector: {matchLabels: {app: web}}, maxUnavailable: 0}\nstatus: {disruptionsAllowed: 0}\n";
    n1_ends(
        &cluster(AT_ONCE, &(oversized("", "") + pdb)),
        "not disrupted now: PodDisruptionBudget shop/web allows no eviction of pod shop/web-1",
    );
    n1_ends(
        &cluster(
            "consolidateAfter: 0s, budgets: [{nodes: \"0\"}]",
            &oversized("", ""),
        ),
        "not disrupted now: budgets of pool general allow 0 disrupted for Underutilized, and 0 are",
    );
    n1_ends(
        &cluster(
            "consolidateAfter: 40m, budgets: [{nodes: 100%}]",
            &oversized("", ""),
        ),
        "not consolidated now: pods came or went there less than consolidateAfter ago, until 2026-11-21T09:41:00Z",
    );
    n1_ends(
        &cluster(
            "consolidateAfter: Never, budgets: [{nodes: 100%}]",
            &oversized("", ""),
        ),
        "not consolidated now: its pool has consolidateAfter: Never",
    );
    let small = node("n1", "small", 2, "", "") + &running("web-1", "n1", "1", "");
    n1_ends(
        &cluster(AT_ONCE, &small),
        "not disrupted now: consolidation found no saving",
    );
    let bare = small.replace(", karpenter.sh/initialized: \"true\"", "");
    n1_ends(
        &cluster(AT_ONCE, &bare),
        "not disrupted now: it is not initialized",
    );
    let command = ", plimsoll.dev/replaces: c-n1, plimsoll.dev/command: \"reason=Underutilized begun=1795253340000 replacements=1 saving=1\"";
    let replaced = oversized("", "") + &node("n2", "small", 2, "", command);
    n1_ends(
        &cluster(AT_ONCE, &replaced),
        "not disrupted now: it is being replaced already",
    );
}

#[test]
fn a_policy_that_values_moves_is_asked_and_its_value_told() {
    let text = cluster(AT_ONCE, &oversized("", ""));
    let arguments = [
        "explain",
        "node",
        "n1",
        "-",
        "--policy",
        "rank=list-price",
        "--policy",
    ];
    let policy = "consolidate=savings-threshold,least_share=0.9";
    let ran = fed(&[&arguments[..], &[policy]].concat(), text.as_bytes()).ok();
    let last = ran.out.lines().last().expect("a line");
    // It saves $0.20, and is to save nine tenths of $0.25.
    assert_eq!(
        last,
        "not disrupted now: consolidation value -$0.0250/h (saving $0.2000/h, pods evicted 1)"
    );
}

#[test]
fn a_drifted_node_is_told_with_its_reason() {
    let drifted = oversized("", "").replace("instance-type: large", "instance-type: gone");
    let ran = explained("node", "n1", &cluster(AT_ONCE, &drifted)).ok();
    ran.prints("not consolidated now: its instance type is not sold any more\n");
    let old = drifted.replace("2026-11-21T09:0", "2026-11-21T07:0");
    let ran = explained("node", "n1", &cluster(AT_ONCE, &old)).ok();
    ran.prints("drifted: InstanceTypeNotFound\ndisrupted now: it has drifted\n");
}

#[test]
fn a_node_of_others_is_told_as_such() {
    let node = "---\napiVersion: v1\nkind: Node\nmetadata: {name: n1, uid: u1, creationTimestamp: \"2026-11-21T09:00:00Z\"}\n\
                status: {allocatable: {cpu: \"2\", memory: 4Gi, pods: \"10\"}, conditions: [{type: Ready, status: \"True\"}]}\n";
    says(
        "node",
        "n1",
        &cluster(AT_ONCE, node),
        &[
            "node n1",
            "  created 2026-11-21T09:00:00Z",
            "  runs no pods",
            "  requested cpu 0 of 2 (0 %), memory 0 of 4Gi (0 %)",
            "not disrupted now: it is not managed: no NodeClaim stands behind it",
        ],
    );
}

#[test]
fn a_claim_is_told_by_how_far_it_has_come_and_what_it_waits_for() {
    let whole = node("n1", "small", 2, "", "");
    let (claim, node) = whole.split_at(whole.rfind("---\n").expect("a node"));
    let since = "status: \"True\", lastTransitionTime: \"2026-11-21T09:01:00Z\"";
    let launched = claim.replace(
        &format!(", {{type: Registered, {since}}}, {{type: Initialized, {since}}}"),
        "",
    );
    let launched = launched.replace("nodeName: n1, ", "");
    let head = |phase: &str| {
        format!("NodeClaim c-n1 of NodePool general: {phase} since 2026-11-21T09:01:00Z")
    };
    says(
        "nodeclaim",
        "c-n1",
        &cluster(AT_ONCE, &launched),
        &[
            &head("Launched"),
            "waits for Registered: Node not registered with cluster",
            "  bought 2026-11-21T09:00:00Z for 2 pods of 1 workload",
            "  small, on-demand, zone zone-a, $0.0500/h",
            "  or large zone-b on-demand $0.2500/h",
            "  requests cpu 1",
            "  Launched True since 2026-11-21T09:01:00Z",
        ],
    );
    let registered = claim.replace(&format!(", {{type: Initialized, {since}}}"), "");
    let starting = node.replace("status: \"True\"}]", "status: \"False\"}]");
    let starting = starting.replace(", karpenter.sh/initialized: \"true\"", "");
    let ran = explained(
        "nodeclaim",
        "c-n1",
        &cluster(AT_ONCE, &(registered + &starting)),
    )
    .ok();
    ran.prints(&format!(
        "{}\nwaits for Initialized: Node status is NotReady\n  node n1\n",
        head("Registered")
    ));
    let ran = explained("nodeclaim", "c-n1", &cluster(AT_ONCE, &whole)).ok();
    ran.prints(&head("Initialized"));
    ran.prints("disrupted now: it is empty\n");
}

#[test]
fn a_claim_that_is_deleting_is_told_with_the_end_of_its_drain() {
    let deleting = node("n1", "small", 2, "", "").replacen(
        "creationTimestamp:",
        "deletionTimestamp: \"2026-11-21T09:20:00Z\", finalizers: [karpenter.sh/termination], creationTimestamp:",
        1,
    );
    let bounded = deleting.replace(
        "spec: {nodeClassRef",
        "spec: {terminationGracePeriod: 30m, nodeClassRef",
    );
    let ran = explained("nodeclaim", "c-n1", &cluster(AT_ONCE, &bounded)).ok();
    ran.prints("deleting since 2026-11-21T09:20:00Z, its drain ends by 2026-11-21T09:50:00Z\n");
    assert!(!ran.out.contains("disrupted now"), "{}", ran.out);
}

#[test]
fn a_pool_is_told_with_its_limits_budgets_and_offerings() {
    let objects = oversized("", "")
        + &node(
            "n2",
            "small",
            2,
            ", deletionTimestamp: \"2026-11-21T09:20:00Z\", finalizers: [karpenter.sh/termination]",
            "",
        );
    let text = cluster(
        "consolidateAfter: 30s, budgets: [{nodes: 50%}, {nodes: \"0\", reasons: [Drifted]}]",
        &objects,
    );
    let text = text.replace("  template:\n", "  limits: {cpu: \"100\"}\n  template:\n");
    says(
        "nodepool",
        "general",
        &text,
        &[
            "NodePool general: ready",
            "  2 nodes, 2 ready for pods, 0 deleting, $0.3000/h",
            "  limits: cpu 10 of 100",
            "  its requirements leave 4 of 5 offerings: 2 instance types, zones zone-a, zone-b, on-demand",
            "    from small zone-a on-demand $0.0500/h to large zone-b on-demand $0.2500/h",
            "  consolidationPolicy WhenEmptyOrUnderutilized, consolidateAfter 30s",
            "  budgets, Empty: 1 may be removed now (1 of 2 nodes at once, 0 disrupted)",
            "  budgets, Underutilized: 1 may be removed now (1 of 2 nodes at once, 0 disrupted)",
            "  budgets, Drifted: 0 may be removed now (0 of 2 nodes at once, 0 disrupted)",
        ],
    );
}

/// It is the cheapest of all others, not the first of another type; of equal prices the first to launch.
#[test]
fn the_cheapest_other_offering_is_that_by_the_prices_that_serve_now() {
    let next = |order: &str, policy: &str| {
        let written = "large/zone-a/on-demand,large/zone-b/on-demand";
        let objects = oversized("", "");
        assert!(objects.contains(written), "{objects}");
        let text = cluster(AT_ONCE, &objects.replace(written, order));
        let arguments = ["explain", "node", "n1", "-", "--policy", policy];
        let said = fed(&arguments, text.as_bytes()).ok().out;
        let mut lines = said.lines().map(str::trim_start).map(str::to_owned);
        let line = lines.find(|line| line.starts_with("cheapest other: "));
        let line = line.unwrap_or_else(|| panic!("{said}"));
        line.split(',').next().unwrap_or_default().to_owned()
    };
    let dearest_first = "large/zone-a/on-demand,large/zone-b/on-demand,small/zone-b/on-demand,small/zone-a/on-demand";
    assert_eq!(
        next(dearest_first, "rank=list-price"),
        "cheapest other: small zone-b on-demand: $0.0500/h"
    );
    assert_eq!(
        next(dearest_first, "rank=fewest-nodes,charge=1"),
        "cheapest other: small zone-b on-demand: $1.0500/h"
    );
    let by_type = "large/zone-a/on-demand,small/zone-a/on-demand,small/zone-b/on-demand";
    assert_eq!(
        next(by_type, "rank=list-price"),
        "cheapest other: small zone-a on-demand: $0.0500/h"
    );
}

/// A limit that makes no sense is not no limit; nothing is bought from the pool, and no offerings are listed.
#[test]
fn a_pool_whose_limits_cannot_be_read_says_so() {
    let pool = |problem: &str| {
        let text = cluster(AT_ONCE, "");
        let annotated = format!(
            "metadata: {{name: general, annotations: {{plimsoll.dev/problem: '{problem}'}}}}"
        );
        text.replacen("metadata: {name: general}", &annotated, 1)
    };
    let said = |problem: &str| {
        let ran = explained("nodepool", "general", &pool(problem)).ok();
        assert!(!ran.out.contains("no limits"), "{}", ran.out);
        assert!(!ran.out.contains("its requirements leave"), "{}", ran.out);
        assert!(!ran.out.contains("from small"), "{}", ran.out);
        ran.prints("NodePool general: not ready\n");
        ran
    };
    let limits = "spec.limits.cpu is \"-5\"; expected a quantity of at least 0";
    let ran = said(limits);
    ran.prints(&format!("waits for a valid specification: {limits}\n"));
    ran.prints("\n  limits: cannot be read\n");
    ran.prints("\n  budgets, Empty: 0 may be removed now: the NodePool cannot be read\n");
    assert!(!ran.out.contains("consolidationPolicy"), "{}", ran.out);
    let ran = said("spec.template.spec.taints is 5; expected a list");
    assert!(!ran.out.contains("limits"), "{}", ran.out);
}

#[test]
fn a_pool_that_may_not_be_used_says_what_it_waits_for() {
    let text = cluster(AT_ONCE, "");
    let condition = |kind: &str, reason: &str| {
        format!(
            "{{type: {kind}, status: \"False\", lastTransitionTime: \"2026-11-21T09:00:00Z\", {reason}}}"
        )
    };
    let class = condition(
        "NodeClassReady",
        "reason: NodeClassNotFound, message: EC2NodeClass default does not exist",
    );
    let ready = condition("Ready", "reason: UnhealthyDependents");
    let status = format!("status: {{conditions: [{class}, {ready}]}}\n");
    let ran = explained("nodepool", "general", &(text + &status)).ok();
    assert!(
        ran.out.starts_with("NodePool general: not ready\nwaits for NodeClassReady: EC2NodeClass default does not exist\n"),
        "{}",
        ran.out
    );
}

#[test]
fn names_that_do_not_exist_are_refused_with_those_that_are_near() {
    let text = cluster(AT_ONCE, &node("worker-1", "small", 2, "", ""));
    for (subject, name, words) in [
        (
            "node",
            "worker-2",
            "there is no node worker-2 in the snapshot; did you mean worker-1?",
        ),
        (
            "nodepool",
            "genral",
            "there is no NodePool genral in the snapshot; did you mean general?",
        ),
        (
            "nodeclaim",
            "c-worker-2",
            "there is no NodeClaim c-worker-2 in the snapshot, nor in its plan, which has none; did you mean c-worker-1?",
        ),
    ] {
        let ran = explained(subject, name, &text);
        assert_eq!((ran.code, ran.error()), (1, words));
    }
}

#[test]
fn nodes_that_budgets_let_go_one_after_the_other_are_told_so() {
    let small = |at: usize| {
        let (node_name, pod_name) = (format!("n{at}"), format!("web-{at}"));
        let pod = running(&pod_name, &node_name, "1200m", "");
        let own = format!("name: {pod_name}, uid: rs-{at}");
        node(&node_name, "small", 2, "", "") + &pod.replace("name: web, uid: rs-web", &own)
    };
    let objects: String = (1..=6).map(small).collect();
    let text = cluster("consolidateAfter: 0s, budgets: [{nodes: \"1\"}]", &objects);
    let ran = explained("node", "n1", &text).ok();
    let said: Vec<&str> = ran.out.lines().rev().take(4).collect();
    let lines = [
        "  replaced by large zone-a on-demand $0.2500/h",
        "  once budgets let them go, also: c-n2, c-n3, c-n4, c-n5, c-n6",
        "  saves $0.0500/h",
        "disrupted now: its pods run elsewhere for less",
    ];
    assert_eq!(said, lines, "{}", ran.out);
    let waits = "not disrupted now: consolidation saves $0.0500/h with other nodes, which budgets let go first";
    let ran = explained("node", "n2", &text).ok();
    assert_eq!(ran.out.lines().last(), Some(waits), "{}", ran.out);
}

#[test]
fn a_policy_that_fails_is_named_beside_the_outlook() {
    let folder = tempfile::tempdir().expect("a folder");
    let module = folder.path().join("panics.wasm");
    std::fs::write(&module, plimsoll_guests::HOSTILE_CONSOLIDATION).expect("written");
    let policy = format!("consolidate={},behaviour=panic", module.display());
    let text = cluster(AT_ONCE, &oversized("", ""));
    let explain = |subject: &str, name: &str| {
        let arguments = ["explain", subject, name, "-", "--policy", "rank=list-price"];
        let all = [&arguments[..], &["--policy", &policy]].concat();
        fed(&all, text.as_bytes()).ok().out
    };
    for (subject, name) in [("node", "n1"), ("nodeclaim", "c-n1")] {
        let said = explain(subject, name);
        assert!(said.contains("\nnot disrupted now: "), "{said}");
        assert!(said.contains("finding: policy "), "{said}");
        assert!(said.contains("panicked"), "{said}");
    }
}
