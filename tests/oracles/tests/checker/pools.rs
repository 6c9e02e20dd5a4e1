//! Limits, reservations and weights.

use plimsoll_check::Rule;
use plimsoll_model::PackingMode;
use plimsoll_model::snapshot::Snapshot;
use plimsoll_oracles::fixture::*;

use crate::{bought, breaks, passes, remarks};

const ONE_CORE: (&str, &str, CapacityType) = ("fake-it-0", ZONE_1, OnDemand);
const FOUR_CORES: (&str, &str, CapacityType) = ("fake-it-3", ZONE_1, OnDemand);

fn two_claims(snapshot: &Snapshot) -> plimsoll_model::plan::Plan {
    plan(snapshot)
        .buy_for("general", &[ONE_CORE], &["web-0"])
        .buy_for("general", &[ONE_CORE], &["web-1"])
        .build()
}

fn limited(general: PoolFixture) -> Snapshot {
    cluster()
        .types(ladder(4))
        .pool(general)
        .node(
            node("n1")
                .managed("general")
                .cpu(2000)
                .taint("full", "", NoSchedule),
        )
        .node(node("old").managed("general").deleting())
        .pods(pod("web").replicas(2))
        .snapshot()
}

/// The first limit is just enough for two claims, the second is not.
#[track_caller]
fn bounds(enough: PoolFixture, short: PoolFixture) {
    let enough = limited(enough);
    passes(&enough, &two_claims(&enough));
    let short = limited(short);
    breaks(&short, &two_claims(&short), &[Rule::PoolLimit]);
}

#[test]
fn a_pool_stays_within_its_limits_less_what_it_has() {
    let limit = |cpu| pool("general").limit_cpu(cpu);
    bounds(limit(4000), limit(3999));
}

#[test]
fn every_new_node_counts_towards_a_limit_of_nodes() {
    let limit = |nodes| pool("general").limit_nodes(nodes);
    bounds(limit(3), limit(2));
}

#[test]
fn a_limit_that_the_largest_type_would_exceed_is_remarked() {
    let snapshot = limited(pool("general").limit_cpu(5000));
    let plan = bought(&snapshot, &[ONE_CORE, FOUR_CORES], &["web-0", "web-1"]);
    remarks(&snapshot, &plan, &[Rule::PoolLimitAtWorst]);
}

#[test]
fn a_reservation_is_promised_as_often_as_it_is_left() {
    let reserved = |left| {
        cluster()
            .sells(instance_type("m").reserved(ZONE_1, "r-1", left))
            .pool(pool("general"))
            .pods(pod("web").replicas(2))
            .snapshot()
    };
    let option = ("m", ZONE_1, Reserved);
    let both = |snapshot: &Snapshot| {
        let first = plan(snapshot).buy_for("general", &[option], &["web-0"]);
        first.buy_for("general", &[option], &["web-1"]).build()
    };
    let two = reserved(2);
    passes(&two, &both(&two));
    let one = reserved(1);
    breaks(&one, &both(&one), &[Rule::Reservation]);
}

fn weighted(heavy: PoolFixture, web: PodFixture) -> Snapshot {
    cluster()
        .types(ladder(4))
        .pool(heavy.weight(10))
        .pool(pool("light"))
        .pod(web)
        .pod(pod("db").tolerates_all().select(NODEPOOL, "light"))
        .snapshot()
}

#[test]
fn a_lighter_pool_buys_only_what_heavier_ones_cannot() {
    let lightly = |snapshot: &Snapshot| {
        let bought = plan(snapshot).on_light("web");
        bought.buy_for("light", &[ONE_CORE], &["db"]).build()
    };
    let plain = weighted(pool("heavy"), pod("web"));
    breaks(&plain, &lightly(&plain), &[Rule::PoolWeight]);
    let tainted = weighted(pool("heavy").taint("x", "", NoSchedule), pod("web"));
    passes(&tainted, &lightly(&tainted));
    let small = weighted(
        pool("heavy").only_types(&["fake-it-0"]),
        pod("web").cpu(950),
    );
    let large = plan(&small)
        .buy_for("light", &[FOUR_CORES], &["web", "db"])
        .build();
    passes(&small, &large);
    let wishes = pod("web").prefers(1, is_in(ZONE, &[ZONE_2]));
    let wishing = weighted(pool("heavy").zones(&[ZONE_1]), wishes);
    passes(&wishing, &lightly(&wishing));
}

#[test]
fn a_heavier_pool_is_passed_over_for_an_earlier_alternative_only() {
    let lightly = |heavy_zone| {
        let either = pod("web")
            .needs(is_in(ZONE, &[ZONE_1]))
            .or_needs(is_in(ZONE, &[ZONE_2]));
        let snapshot = weighted(pool("heavy").zones(&[heavy_zone]), either);
        let bought = plan(&snapshot).on_light("web");
        let plan = bought.buy_for("light", &[ONE_CORE], &["db"]).build();
        (snapshot, plan)
    };
    let (snapshot, plan) = lightly(ZONE_2);
    passes(&snapshot, &plan);
    let (snapshot, plan) = lightly(ZONE_1);
    breaks(&snapshot, &plan, &[Rule::PoolWeight]);
}

#[test]
fn a_lighter_node_that_must_be_bought_may_be_shared() {
    let shared = |mode| {
        let heavy = pool("heavy").packing(mode);
        let snapshot = cluster()
            .types(ladder(4))
            .pool(heavy.weight(10))
            .pool(pool("light").packing(mode))
            .pod(pod("web"))
            .pod(pod("db").select(NODEPOOL, "light"))
            .snapshot();
        let plan = plan(&snapshot)
            .buy_for("light", &[ONE_CORE], &["db", "web"])
            .build();
        (snapshot, plan)
    };
    let (snapshot, plan) = shared(PackingMode::Price);
    remarks(&snapshot, &plan, &[Rule::PoolWeightShared]);
    let (snapshot, plan) = shared(PackingMode::Compatible);
    remarks(&snapshot, &plan, &[]);
}

/// Shorthand of this file.
trait OnLight {
    fn on_light(self, pod: &str) -> Self;
}

impl OnLight for PlanFixture<'_> {
    fn on_light(self, pod: &str) -> Self {
        self.buy("light", &[ONE_CORE]).put(pod)
    }
}
