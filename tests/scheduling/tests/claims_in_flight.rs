//! Claims before their node speaks for itself: what is counted on, and what node each becomes.

use std::sync::Arc;

use proptest::prelude::*;

use plimsoll_base::ids::ClaimName;
use plimsoll_base::labels::{LabelKey, REGISTERED};
use plimsoll_base::requirement::{Requirement, Requirements, Undefined};
use plimsoll_base::resources::Resources;
use plimsoll_base::time::Timestamp;
use plimsoll_model::catalogue::{Catalogues, ExpectedResources};
use plimsoll_model::plan::Plan;
use plimsoll_model::snapshot::{Objects, Settings, Snapshot};
use plimsoll_model::{ClaimPhase, NodeClaim, PackingMode};
use plimsoll_oracles::fixture::*;
use plimsoll_oracles::generate::{Features, Shape, random_cluster, shapes};
use plimsoll_oracles::judge::cases;
use plimsoll_scheduling_tests::Run;

use crate::guards::{markets, shop, spot, web};

/// A cluster with one claim of pool `general` that is not launched, after a change of the claim.
fn with_claim(fixture: ClusterFixture, change: impl FnOnce(&mut NodeClaim)) -> Parts {
    let claim = node("n1").managed("general").phase(ClaimPhase::Created);
    let (mut objects, catalogues, settings) = fixture.node(claim).parts();
    let mut claim = NodeClaim::clone(&objects.claims[0]);
    (claim.capacity, claim.allocatable) = (Resources::new(), Resources::new());
    change(&mut claim);
    objects.claims = vec![Arc::new(claim)];
    (objects, catalogues, settings)
}

type Parts = (Objects, Catalogues, Settings);

/// How many nodes are bought beside the claim.
fn bought((objects, catalogues, settings): Parts) -> usize {
    let run = Run::new(objects, &catalogues, &settings, PackingMode::Price);
    assert_eq!(run.plan().unplaced, []);
    run.plan().claims.len()
}

fn names_types(claim: &mut NodeClaim, types: &[&str]) {
    let key = LabelKey::from(INSTANCE_TYPE);
    let named = Requirement::one_of(key, types.iter().copied());
    claim.requirements.replace(named);
}

/// A snapshot of six pods more, with the claims of a plan on their way, which have room for none of them.
fn with_planned(planned: &Plan) -> Snapshot {
    let (mut objects, catalogues, settings) = shop().pool(spot()).pods(web(6)).parts();
    let now = Timestamp::from_millis(0);
    for (number, planned) in planned.claims.iter().enumerate() {
        let mut claim = planned.to_claim(ClaimName::from(format!("c{number}")), now);
        claim.taints.push(taint("full", "", NoSchedule));
        objects.claims.push(Arc::new(claim));
    }
    let (settings, catalogues) = (Arc::new(settings), Arc::new(catalogues));
    Snapshot::new(now, 0, settings, catalogues, objects)
}

#[test]
fn claims_count_in_the_shares_of_spot_pools() {
    let first = plimsoll_schedule::plan(&shop().pool(spot()).pods(web(4)).snapshot());
    let (standing, count) = markets(&first).pop_first().expect("nodes are bought");
    assert_eq!(count, 4, "all of one type in one zone");
    let second = markets(&plimsoll_schedule::plan(&with_planned(&first)));
    assert!(!second.contains_key(&standing), "{second:?}");
    assert_eq!(second.values().max(), Some(&2));
}

#[test]
fn claims_cost_their_pool_what_they_were_planned_as() {
    let first = plimsoll_schedule::plan(&shop().pool(spot()).pods(web(4)).snapshot());
    let snapshot = with_planned(&first);
    let prepared = plimsoll_schedule::prepare(&snapshot);
    let question = prepared.question().expect("something is sold");
    assert_eq!(question.pools.nodes, [4]);
    assert_eq!(question.pools.cost, [first.cost.list.dollars()]);
}

/// A small type and a large one.
fn two_sizes() -> ClusterFixture {
    cluster()
        .sells(instance_type("large").cpu(8000).pods(20))
        .sells(instance_type("small").cpu(2000).pods(20))
        .pool(pool("general"))
}

#[test]
fn claim_gives_the_least_of_the_types_it_names() {
    for (types, cpu, new) in [
        (&["large"][..], 5000, 0),
        (&["large", "small"], 5000, 1),
        (&["large", "small"], 1500, 0),
        // None of them is sold any more: nothing can be said of it.
        (&["gone"], 1500, 1),
    ] {
        let fixture = two_sizes().pod(pod("web").cpu(cpu));
        let parts = with_claim(fixture, |claim| names_types(claim, types));
        assert_eq!(bought(parts), new, "{types:?} for {cpu}m");
    }
}

#[test]
fn claim_that_names_no_types_gives_the_least_of_all_that_its_requirements_allow() {
    let arm = is_in(ARCH, &["arm64"]);
    let fixture = || two_sizes().sells(instance_type("arm").arch("arm64").cpu(4000).pods(20));
    for (cpu, open, on_arm) in [(1500, 0, 0), (3000, 1, 0), (5000, 1, 1)] {
        let fixture = || fixture().pod(pod("web").cpu(cpu));
        assert_eq!(bought(with_claim(fixture(), |_| ())), open, "{cpu}m");
        let parts = with_claim(fixture(), |claim| claim.requirements.replace(arm.clone()));
        assert_eq!(bought(parts), on_arm, "{cpu}m on arm64");
    }
}

#[test]
fn claim_gives_what_overlays_of_its_pool_add() {
    let device = "example.com/device";
    let fixture = || {
        two_sizes()
            .overlay(overlay("devices").adds(device, 2))
            .pod(pod("web").cpu(100).device(device, 1))
    };
    let parts = with_claim(fixture(), |claim| names_types(claim, &["small"]));
    assert_eq!(bought(parts), 0);
}

#[test]
fn claim_takes_its_floor_of_the_limits_of_its_pool() {
    for (types, waiting) in [(&["small"][..], 0), (&["middle"], 1)] {
        let fixture = cluster()
            .sells(instance_type("middle").cpu(4000).pods(20))
            .sells(instance_type("small").cpu(2000).pods(20))
            .pool(pool("general").limit_cpu(7000))
            .pods(pod("web").cpu(1700).replicas(2));
        let (objects, catalogues, settings) = with_claim(fixture, |claim| {
            names_types(claim, types);
            claim.taints.push(taint("dedicated", "others", NoSchedule));
        });
        let run = Run::new(objects, &catalogues, &settings, PackingMode::Price);
        assert_eq!(run.plan().unplaced.len(), waiting, "{types:?}");
    }
}

proptest! {
    #![proptest_config(cases(96))]

    /// A claim becomes a node that satisfies it, whichever way it is bought, and that is no smaller than its floor.
    #[test]
    fn node_of_a_claim_satisfies_it_and_is_no_smaller_than_its_floor(shape in shapes(Shape {
        seed: 0,
        pods: 12,
        nodes: 3,
        pools: 3,
        types: 8,
        zones: 3,
        features: Features::ALL,
    })) {
        let snapshot = random_cluster(&shape).snapshot();
        let overlaid = snapshot.overlaid();
        for planned in plimsoll_schedule::plan(&snapshot).claims {
            let catalogue = overlaid.of(&planned.pool);
            let floor = catalogue.floor(&planned.requirements).expect("it names ways to buy it");
            for option in &planned.options {
                let sold = catalogue.offering(&option.offering()).expect("its options are sold");
                let labels = sold.node_labels(&planned.labels, &planned.requirements);
                let have = Requirements::from_labels(&labels);
                let mut asked = planned.requirements.clone();
                asked.remove(REGISTERED);
                prop_assert!(have.accepts(&asked, Undefined::Refused).is_ok(), "{labels:?}");
                for (key, value) in &planned.labels {
                    prop_assert_eq!(labels.get(key), Some(value));
                }
                let resources = sold.resources();
                for (name, least) in floor.allocatable.iter() {
                    prop_assert!(resources.allocatable.get(name) >= least, "{name}");
                }
                prop_assert!(floor.allocatable.fits(&planned.requests));
            }
        }
        // What is counted on is said once: reading it again changes nothing.
        let mut expected = ExpectedResources::new(&overlaid);
        for claim in snapshot.nodes.iter().filter_map(|node| node.claim.as_ref()) {
            let resources = expected.of(claim);
            prop_assert_eq!(&resources.allocatable, &claim.allocatable);
        }
    }
}
