//! The nearest offering that would hold a pod, said only where a trial has shown that it would (T08).

use std::cell::Cell;

use plimsoll_model::plan::{Plan, Refusal};
use plimsoll_model::snapshot::Snapshot;
use plimsoll_oracles::fixture::*;
use plimsoll_scheduling_tests::{bare_market, check, of_web};

/// Checks what is said to be nearest for the one pod of the cluster that is left waiting; nothing, where no words are given.
#[track_caller]
fn nearest(cluster: ClusterFixture, words: Option<&str>) {
    let outcome = check(cluster);
    let waiting = outcome.waiting();
    assert_eq!(waiting.len(), 1, "{waiting:?}");
    let reason = outcome.reason(&waiting[0]);
    let said = reason.split_once("; nearest: ").map(|(_, said)| said);
    assert_eq!(said, words, "{reason}");
}

/// Other capacity types would not help, since the limit is on nodes of any.
#[test]
fn a_limit_used_up_by_other_pods_is_blamed_and_nothing_else() {
    let apart = |name: &str| of_web(name, |pod| pod.anti_affinity(HOSTNAME));
    let pool = |pool: PoolFixture| {
        let pool = pool.capacity_types(&[OnDemand]);
        bare_market().pool(pool).pod(apart("a")).pod(apart("b"))
    };
    let limits = |left: &str| {
        format!(
            "small-instance-type in zone test-zone-1, on-demand, would fit, but the pool's limits leave {left}, not enough for all of this plan"
        )
    };
    let nodes = pool(pool_of().limit_nodes(1));
    nearest(nodes, Some(&limits("nodes 1")));
    let ample = pool(pool_of().limit_nodes(1).limit_cpu(900_000));
    nearest(ample, Some(&limits("nodes 1")));
    let both = pool(pool_of().limit_nodes(1).limit_cpu(2_000));
    nearest(both, Some(&limits("cpu 2, nodes 1")));
}

fn pool_of() -> PoolFixture {
    pool("general")
}

/// A pool that may buy in another zone, too, still wants more zones to choose from than the pod leaves.
#[test]
fn a_requirement_whose_lifting_leaves_too_few_values_is_not_blamed() {
    let in_zones = || pool_of().zones(&[ZONE_1, ZONE_2]);
    let web = || pod("web").cpu(100).select(ZONE, ZONE_3);
    let wanted = bare_market().pool(in_zones().min_values(ZONE, 2));
    nearest(wanted.pod(web()), None);
    let any = bare_market().pool(in_zones());
    let words = "small-instance-type in zone test-zone-3, on-demand, would fit, but the NodePool requires topology.kubernetes.io/zone In [test-zone-1, test-zone-2]";
    nearest(any.pod(web()), Some(words));
}

#[test]
fn what_is_sold_out_would_do_if_it_came_back() {
    let gone = cluster()
        .sells(instance_type("m").sold_out(ZONE_1, OnDemand))
        .pool(pool_of());
    let words = "m in zone test-zone-1, on-demand, would fit, but it is sold out, or its node class cannot launch it";
    nearest(gone.pod(pod("web").cpu(100)), Some(words));
}

/// Where a pod must not be with others, no offering is nearer than another.
#[test]
fn a_pod_that_its_own_rules_keep_away_from_every_node_has_nothing_near() {
    let kept = of_web("daemon", |pod| pod);
    let market = bare_market().pool(pool_of().capacity_types(&[OnDemand]));
    let loner = pod("loner").cpu(100).anti_affinity(HOSTNAME);
    let loner = loner.selecting(&[("app", "web")]);
    nearest(market.daemon(&kept).pod(loner), None);
}

/// Pools of which each has some pods of its own, and those ask for a zone that it does not allow.
fn teams(pools: usize, pods: usize) -> Snapshot {
    let mut cluster = bare_market();
    for at in 0..pools {
        let name = format!("team-{at}");
        let team = pool(&name).label("team", &name).zones(&[ZONE_1]);
        cluster = cluster.pool(team);
        for number in 0..pods {
            let web = pod(&format!("{name}-{number}")).cpu(100);
            cluster = cluster.pod(web.select("team", &name).select(ZONE, ZONE_2));
        }
    }
    cluster.snapshot()
}

/// Trials made for the pods that are meant, and the pods of which something is said.
fn tried(snapshot: &Snapshot, is_meant: impl Fn(usize) -> bool) -> (usize, Vec<usize>) {
    let trials = Cell::new(0);
    let mut plan: Plan = plimsoll_schedule::plan(snapshot);
    plimsoll_schedule::tell_nearest(snapshot, &mut plan, is_meant, |changed: &Snapshot| {
        trials.set(trials.get() + 1);
        Some(plimsoll_schedule::plan(changed))
    });
    let is_told = |refusal: &Refusal| match refusal {
        Refusal::Unschedulable(pools) => pools.iter().any(|pool| pool.nearest.is_some()),
        _ => false,
    };
    let unplaced = plan.unplaced.iter();
    let told = unplaced.filter(|unplaced| is_told(&unplaced.reason));
    (trials.get(), told.map(|unplaced| unplaced.pod).collect())
}

#[test]
fn equal_changes_are_tried_once_and_what_is_not_tried_is_not_said() {
    let all = |snapshot: &Snapshot| {
        let (trials, told) = tried(snapshot, |_| true);
        (trials, told.len())
    };
    assert_eq!(all(&teams(1, 5)), (1, 5), "one trial serves equal pods");
    assert_eq!(all(&teams(3, 2)), (3, 6));
    assert_eq!(all(&teams(30, 1)), (24, 24));
    assert_eq!(all(&teams(1, 20_001)), (0, 0), "a trial would take long");
}

#[test]
fn trials_are_made_for_the_pods_that_are_meant() {
    assert_eq!(tried(&teams(30, 1), |pod| pod == 29), (1, vec![29]));
}
