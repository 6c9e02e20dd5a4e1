//! Questions to policies about a fleet, and the fit of the answers of the native twins.

use plimsoll_base::time::Span;
use plimsoll_disrupt::pass::DisruptionPass;
use plimsoll_hooks::allow::{check_allowances, grant, withheld};
use plimsoll_hooks::hook::Column;
use plimsoll_hooks::score::{SavingsThreshold, check_verdicts, savings_threshold};
use plimsoll_model::OwnerKind;
use plimsoll_model::snapshot::Snapshot;
use plimsoll_oracles::fixture::*;

/// A large instance with one small pod and a daemon, and a small one with two replicas of one owner.
fn fleet() -> ClusterFixture {
    let small = instance_type("small").cpu(2000).memory_mib(8192).pods(110);
    let large = instance_type("large")
        .cpu(8000)
        .memory_mib(32_768)
        .pods(110);
    let ours = |name: &str, of: &str, cpu: i64| {
        let node = node(name).managed("general").of_type(of).zone(ZONE_1);
        let node = node.label(CAPACITY_TYPE, "on-demand").cpu(cpu);
        node.memory_mib(cpu * 4)
    };
    let web = |name: &str, owner: &str, node: &str| {
        let pod = pod(name).cpu(1000).memory_mib(256).on(node);
        pod.owned_by(OwnerKind::ReplicaSet, owner)
    };
    cluster()
        .sells(small.no_overhead().price(0.1).offered(ZONE_1, OnDemand))
        .sells(large.no_overhead().price(0.4).offered(ZONE_1, OnDemand))
        .pool(pool("general"))
        .node(ours("n1", "large", 8000))
        .node(ours("n2", "small", 2000))
        .pod(web("alone", "alone", "n1"))
        .pod(
            pod("log")
                .cpu(200)
                .on("n1")
                .owned_by(OwnerKind::DaemonSet, "log"),
        )
        .pods([web("a", "web", "n2"), web("b", "web", "n2")])
}

fn world() -> Snapshot {
    fleet().snapshot()
}

#[test]
fn nodes_and_moves_are_asked_about_as_they_are() {
    let snapshot = world();
    let pass = DisruptionPass::at(&snapshot, true);
    let proposal = pass.propose();
    let question = proposal.score_question().expect("rows that may be asked");
    assert_eq!(question.moves.len(), proposal.moves.len());
    assert!(!question.moves.is_empty());
    let n1 = (0..2)
        .find(|row| question.node_name(*row) == "n1")
        .expect("n1") as usize;
    let nodes = &question.nodes;
    assert_eq!((nodes.pods[n1], nodes.pods_daemon[n1]), (2, 1));
    assert_eq!(nodes.pods_last_replica[n1], 1);
    assert_eq!(nodes.pods_last_replica[1 - n1], 0);
    assert!((nodes.cpu_used[n1] - 0.15).abs() < 1e-6);
    assert!((nodes.eviction_cost[n1] - 1.0).abs() < 1e-9);
    assert!((question.saving(0) - proposal.moves[0].saving.dollars()).abs() < 1e-9);
}

#[test]
fn the_native_twin_of_the_default_policy_chooses_the_same_as_no_policy() {
    let snapshot = world();
    let pass = DisruptionPass::at(&snapshot, true);
    let proposal = pass.propose();
    let question = proposal.score_question().expect("rows that may be asked");
    let answer = savings_threshold(&question, &SavingsThreshold::default());
    let verdicts = check_verdicts(&question, &answer).expect("the twin answers well");
    let values: Vec<_> = verdicts.rows.iter().map(|row| row.value).collect();
    let by_twin = proposal.decide(Some(&values));
    let by_none = pass.propose().decide(None);
    assert_eq!(by_twin.commands, by_none.commands);
    assert_eq!(by_none.commands.len(), 1);
}

#[test]
fn a_budget_policy_that_failed_stops_savings_and_not_drift() {
    let snapshot = world();
    let mut pass = DisruptionPass::at(&snapshot, true);
    let question = pass.allow_question();
    assert_eq!(question.pools.len(), pass.allowances.len());
    let grants = grant(&question, &[withheld(&question)]);
    for (row, allowance) in pass.allowances.iter().enumerate() {
        let drift = allowance.reason == plimsoll_model::DisruptionReason::Drifted;
        let remaining = allowance.remaining(Some(grants.rows[row].most_down));
        assert_eq!(remaining > 0, drift);
    }
    let caps: Vec<_> = grants.rows.iter().map(|row| Some(row.most_down)).collect();
    pass.cap(&caps);
    assert!(pass.propose().decide(None).commands.is_empty());
    let answer = plimsoll_hooks::allow::AllowAnswer {
        allowed: vec![u32::MAX; question.pools.len()],
        reason: vec![0; question.pools.len()],
        recheck_after_s: 0,
    };
    let generous = check_allowances(&question, &answer).expect("a good answer");
    let caps = grant(&question, &[generous]).rows;
    let caps: Vec<_> = caps.iter().map(|row| Some(row.most_down)).collect();
    pass.cap(&caps);
    assert_eq!(pass.propose().decide(None).commands.len(), 1);
}

#[test]
fn every_signal_goes_along_with_a_value_for_every_node() {
    let now = world().now;
    let kinds = [
        (OwnerKind::Job, 90),
        (OwnerKind::Job, 5_400),
        (OwnerKind::ReplicaSet, 9_000),
    ];
    let old = kinds.map(|(kind, age)| {
        let pod = pod(&format!("old-{age}")).cpu(10).on("n1");
        let pod = pod.owned_by(kind, "other");
        pod.started(now - Span::from_secs(age))
    });
    let mut snapshot = fleet().pods(old).snapshot();
    let claim = snapshot.nodes[1]
        .claim
        .as_ref()
        .expect("a claim")
        .name
        .clone();
    let recommended = now - Span::from_secs(60);
    snapshot.activity.rebalance.insert(claim, recommended);
    let pass = DisruptionPass::at(&snapshot, true);
    let question = pass
        .propose()
        .score_question()
        .expect("rows that may be asked");
    let signals: Vec<&str> = question
        .nodes
        .ext
        .iter()
        .filter_map(|signal| question.symbols.get(signal.name))
        .collect();
    assert_eq!(signals, plimsoll_hooks::score::SIGNALS);
    let names: Vec<&str> = (0..2).map(|row| question.node_name(row)).collect();
    assert_eq!(names, ["n1", "n2"]);
    assert_eq!(question.nodes.ext[0].values, Column::U32s(vec![5_400, 0]));
    assert_eq!(question.nodes.ext[1].values, Column::U32s(vec![0, 60]));
}
