//! Planned claims and their options.

use plimsoll_base::labels::LabelKey;
use plimsoll_base::requirement::Requirement;
use plimsoll_base::resources::{ResourceName, Resources};
use plimsoll_base::units::PricePerHour;
use plimsoll_check::{Rule, check};
use plimsoll_model::plan::Plan;
use plimsoll_model::snapshot::Snapshot;
use plimsoll_oracles::fixture::*;

use crate::{bought, breaks, only_in_zone_1, passes};

const SMALL: (&str, &str, CapacityType) = ("fake-it-0", ZONE_1, OnDemand);
const LARGE: (&str, &str, CapacityType) = ("fake-it-3", ZONE_1, OnDemand);

fn world() -> ClusterFixture {
    cluster()
        .types(ladder(4))
        .pool(
            pool("general")
                .label("team", "a")
                .taint("x", "", PreferNoSchedule),
        )
        .pod(pod("web").cpu(800))
}

/// A change to a good plan breaks exactly this rule.
#[track_caller]
fn mutated(rule: Rule, change: impl FnOnce(&mut Plan)) {
    let snapshot = world().snapshot();
    let mut plan = bought(&snapshot, &[SMALL, LARGE], &["web"]);
    passes(&snapshot, &plan);
    change(&mut plan);
    let mut rules: Vec<Rule> = check(&snapshot, &plan).iter().map(|f| f.rule).collect();
    rules.dedup();
    assert_eq!(rules, [rule]);
}

#[test]
fn a_claim_follows_its_pool() {
    mutated(Rule::ClaimPool, |plan| plan.claims[0].pool = "other".into());
    mutated(Rule::ClaimTemplate, |plan| plan.claims[0].taints.clear());
    mutated(Rule::ClaimTemplate, |plan| {
        plan.claims[0].class.name = "other".into();
    });
    mutated(Rule::ClaimTemplate, |plan| {
        plan.claims[0].labels.remove(NODEPOOL);
    });
    mutated(Rule::ClaimLabels, |plan| {
        plan.claims[0]
            .labels
            .insert("karpenter.sh/registered".into(), "true".into());
    });
    mutated(Rule::ClaimRequirements, |plan| {
        plan.claims[0].requirements.remove("team");
    });
}

#[test]
fn pools_that_cannot_be_used_buy_nothing() {
    for closed in [
        pool("general").not_ready(),
        pool("general").deleting(),
        pool("general").replicas(3),
    ] {
        let snapshot = cluster()
            .types(ladder(4))
            .pool(closed)
            .pod(pod("web"))
            .snapshot();
        let plan = bought(&snapshot, &[SMALL], &["web"]);
        breaks(&snapshot, &plan, &[Rule::ClaimPool]);
    }
}

#[test]
fn options_are_on_sale_at_their_price() {
    mutated(Rule::OptionPrice, |plan| {
        plan.claims[0].options[1].price = PricePerHour::ZERO;
    });
    mutated(Rule::OptionSold, |plan| {
        plan.claims[0].options[1].capacity_type = Reserved;
    });
    mutated(Rule::OptionCount, |plan| {
        let again = plan.claims[0].options[0].clone();
        plan.claims[0].options.push(again);
    });
    mutated(Rule::OptionRequirements, |plan| {
        let key = LabelKey::from(INSTANCE_TYPE);
        let names = ["fake-it-0", "fake-it-2", "fake-it-3"];
        plan.claims[0]
            .requirements
            .replace(Requirement::one_of(key, names));
    });
    mutated(Rule::OptionRequirements, |plan| {
        let key = LabelKey::from(INSTANCE_TYPE);
        plan.claims[0]
            .requirements
            .replace(Requirement::one_of(key, ["fake-it-0"]));
    });
}

#[test]
fn an_option_that_is_sold_out_is_none() {
    let snapshot = cluster()
        .sells(
            instance_type("m")
                .price(0.5)
                .offered(ZONE_1, OnDemand)
                .sold_out(ZONE_2, OnDemand),
        )
        .pool(pool("general"))
        .pod(pod("web"))
        .snapshot();
    only_in_zone_1(&snapshot, "m", Rule::OptionSold);
}

#[test]
fn every_option_has_room_for_every_pod() {
    let snapshot = world().pod(pod("db").cpu(300)).snapshot();
    let good = bought(&snapshot, &[LARGE], &["web", "db"]);
    passes(&snapshot, &good);
    let tight = bought(&snapshot, &[LARGE, SMALL], &["web", "db"]);
    breaks(&snapshot, &tight, &[Rule::Room]);
}

#[test]
fn daemons_take_room_on_new_nodes_where_they_run() {
    let one = Resources::new()
        .with(ResourceName::Cpu, 200)
        .with(ResourceName::Pods, 1);
    let with = |daemon: PodFixture| world().daemon(&daemon.cpu(200)).snapshot();
    let everywhere = with(pod("log"));
    let plan_of = |snapshot: &Snapshot| {
        plan(snapshot)
            .buy("general", &[SMALL])
            .daemons(&one)
            .put("web")
            .build()
    };
    breaks(&everywhere, &plan_of(&everywhere), &[Rule::Room]);
    let elsewhere = with(pod("log").select(ZONE, ZONE_2));
    let plain = bought(&elsewhere, &[SMALL], &["web"]);
    passes(&elsewhere, &plain);
}

#[test]
fn requests_cover_pods_and_daemons() {
    mutated(Rule::ClaimRequests, |plan| {
        plan.claims[0].requests.set(ResourceName::Cpu, 700);
    });
    mutated(Rule::ClaimRequests, |plan| {
        plan.claims[0].requests.set(ResourceName::Cpu, 900);
    });
}

#[test]
fn a_claim_is_narrowed_to_what_its_pods_need() {
    let snapshot = cluster()
        .types(ladder(1))
        .pool(pool("general").needs(exists("shard")))
        .pod(pod("web").select("shard", "7").select(OS, "linux"))
        .snapshot();
    let good = bought(&snapshot, &[SMALL], &["web"]);
    passes(&snapshot, &good);
    let mut other_shard = good.clone();
    other_shard.claims[0]
        .labels
        .insert("shard".into(), "8".into());
    breaks(
        &snapshot,
        &other_shard,
        &[Rule::ClaimLabels, Rule::NodeLabels],
    );
    let mut undecided = good.clone();
    undecided.claims[0].labels.remove("shard");
    breaks(&snapshot, &undecided, &[Rule::ClaimLabels]);
    let mut any_system = good;
    any_system.claims[0].requirements.remove(OS);
    breaks(&snapshot, &any_system, &[Rule::NodeLabels]);
}

#[test]
fn a_label_that_no_pool_knows_cannot_be_had() {
    let snapshot = cluster()
        .types(ladder(1))
        .pool(pool("general"))
        .pod(pod("web").select("team", "a"))
        .snapshot();
    let mut plan = bought(&snapshot, &[SMALL], &["web"]);
    plan.claims[0].requirements.remove("team");
    plan.claims[0].labels.remove("team");
    breaks(&snapshot, &plan, &[Rule::NodeLabels]);
}

#[test]
fn a_claim_without_pods_is_waste() {
    let snapshot = world().snapshot();
    let plan = plan(&snapshot)
        .buy_for("general", &[SMALL], &["web"])
        .buy("general", &[SMALL])
        .build();
    breaks(&snapshot, &plan, &[Rule::ClaimPods]);
}

#[test]
fn minimum_values_are_counted_over_the_types_named() {
    let snapshot = cluster()
        .types(ladder(4))
        .pool(pool("general").min_values(INSTANCE_TYPE, 2))
        .pod(pod("web"))
        .snapshot();
    let two = bought(&snapshot, &[SMALL, LARGE], &["web"]);
    passes(&snapshot, &two);
    let one = bought(&snapshot, &[SMALL], &["web"]);
    breaks(&snapshot, &one, &[Rule::MinValues]);
}

#[test]
fn cost_is_the_sum_over_claims() {
    mutated(Rule::Cost, |plan| plan.cost.planned = PricePerHour::ZERO);
    mutated(Rule::Cost, |plan| {
        plan.cost.list += PricePerHour::from_nanos(1);
    });
    mutated(Rule::Cost, |plan| plan.cost.dearest = PricePerHour::ZERO);
    mutated(Rule::Cost, |plan| {
        plan.cost.bound = plan.cost.list + PricePerHour::from_nanos(1);
    });
}

#[test]
fn the_cost_of_a_node_itself_is_part_of_its_price() {
    let cost = PricePerHour::from_nanos(7_000_000);
    let snapshot = world()
        .settings(|settings| settings.node_cost = cost)
        .snapshot();
    let mut plan = bought(&snapshot, &[SMALL], &["web"]);
    passes(&snapshot, &plan);
    plan.claims[0].options[0].price = plan.claims[0].options[0].list_price;
    plan.cost.planned = plan.claims[0].options[0].price;
    breaks(&snapshot, &plan, &[Rule::OptionPrice]);
}

#[test]
fn prices_capacities_and_marks_are_those_that_overlays_make() {
    let cheap = overlay("cheap")
        .needs(is_in(INSTANCE_TYPE, &["fake-it-0"]))
        .dearer_by_percent(-50);
    let overlaid = || world().overlay(cheap.clone()).snapshot();
    let told = |plan: &mut Plan| {
        let claim = &mut plan.claims[0];
        let half = PricePerHour::from_nanos(claim.options[0].list_price.nanos() / 2);
        (claim.options[0].price, claim.options[0].list_price) = (half, half);
        claim
            .annotations
            .insert("karpenter.sh/price-overlay-applied".into(), "true".into());
        (plan.cost.planned, plan.cost.list, plan.cost.dearest) = (half, half, half);
        plan.cost.bound = half;
    };
    let made = |change: &dyn Fn(&mut Plan)| {
        let bare = world().snapshot();
        let mut plan = bought(&bare, &[SMALL], &["web"]);
        told(&mut plan);
        change(&mut plan);
        plan
    };
    passes(&overlaid(), &made(&|_| {}));
    breaks(
        &overlaid(),
        &made(&|plan| plan.claims[0].annotations.clear()),
        &[Rule::ClaimMarks],
    );
    breaks(
        &world().snapshot(),
        &made(&|_| {}),
        &[Rule::ClaimMarks, Rule::OptionPrice],
    );
}
