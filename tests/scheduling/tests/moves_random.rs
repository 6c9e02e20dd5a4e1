//! Consolidation moves of random clusters: every pod has its place, the checker finds nothing, and money is what was said.

use std::collections::BTreeSet;
use std::sync::Arc;

use plimsoll_oracles::judge::cases;
use proptest::prelude::*;

use plimsoll_base::labels::{CAPACITY_TYPE, INSTANCE_TYPE};
use plimsoll_base::units::PricePerHour;
use plimsoll_disrupt::moves::{Move, MoveSettings, carry_out, find};
use plimsoll_model::plan::PlannedClaim;
use plimsoll_model::snapshot::Snapshot;
use plimsoll_oracles::generate::{Features, Kind, Shape, random_cluster, shapes};
use plimsoll_oracles::moves::{findings, fleet_cost, node_price, pass};

const MOST: Shape = Shape::of(0, [2, 6, 2, 5, 3], Features::ALL);

/// Shapes in which no pod wants to be near one that still waits: a move may count on its coming, the checker does not.
fn settled() -> impl Strategy<Value = Shape> {
    shapes(MOST).prop_map(|mut shape| {
        if shape.features.has(Kind::Affinity) {
            shape.pods = 0;
            shape.features = shape.features.without(&[Kind::ChangingNodes]);
        }
        shape
    })
}

/// A random cluster whose nodes are all of the dearest type there is, on demand.
fn fleet(shape: &Shape) -> Snapshot {
    let mut snapshot = random_cluster(shape).snapshot();
    let types = snapshot.catalogues.of_others().types();
    let dearest = types.iter().max_by_key(|sold| sold.offerings[0].price);
    let name: Arc<str> = dearest.map_or("".into(), |sold| sold.name.clone().into());
    for node in &mut snapshot.nodes {
        let label = |labels: &mut plimsoll_base::labels::Labels| {
            labels.insert(CAPACITY_TYPE.into(), "on-demand".into());
            labels.insert(INSTANCE_TYPE.into(), Arc::clone(&name));
        };
        if let Some(node) = &mut node.node {
            label(&mut Arc::make_mut(node).labels);
        }
        if let Some(claim) = &mut node.claim {
            label(&mut Arc::make_mut(claim).labels);
        }
    }
    snapshot
}

fn candidates(snapshot: &Snapshot) -> Vec<usize> {
    let nodes = snapshot.nodes.iter().enumerate();
    let ours = nodes.filter(|(_, node)| node.is_managed() && node.is_initialized());
    ours.map(|(row, _)| row).collect()
}

fn eager() -> MoveSettings {
    MoveSettings {
        spot_to_spot: true,
        least_saving: PricePerHour::ZERO,
        least_saving_percent: 0,
        ..MoveSettings::default()
    }
}

fn price_of(snapshot: &Snapshot, rows: &[usize]) -> PricePerHour {
    let nodes = rows.iter().map(|row| &snapshot.nodes[*row]);
    nodes.filter_map(|node| node_price(snapshot, node)).sum()
}

/// Pods on nodes that are not there.
fn homeless(snapshot: &Snapshot) -> usize {
    let names = snapshot.rows_by_node();
    let nodes = snapshot.pods.iter().filter_map(|pod| pod.node.as_ref());
    nodes
        .filter(|node| names.get(node.as_str()).is_none())
        .count()
}

/// Every pod that runs on a member and is not tied to it has one place.
fn places_everybody(snapshot: &Snapshot, found: &Move) -> bool {
    let bound = snapshot.pods_by_node();
    let own = found.members.iter().flat_map(|row| &bound[*row]);
    let expected: BTreeSet<usize> = own.copied().collect();
    let placed: BTreeSet<usize> = found
        .placements
        .iter()
        .map(|placement| placement.pod)
        .collect();
    expected == placed && placed.len() == found.placements.len()
}

/// A waiting pod made the emptier zone look fuller than it was.
#[test]
fn a_move_that_once_broke_a_spread_is_not_made() {
    let numbers = [1, 5, 1, 1, 2];
    let shape = Shape::of(
        18_442_251_587_061_895_526,
        numbers,
        Features::of(&[Kind::Spread]),
    );
    let snapshot = fleet(&shape);
    for found in find(&snapshot, &candidates(&snapshot), &eager()) {
        assert_eq!(findings(&snapshot, &found), [], "{found:?}");
    }
}

proptest! {
    #![proptest_config(cases(384))]

    #[test]
    fn every_move_places_all_pods_under_all_rules_for_what_it_says(shape in settled()) {
        let snapshot = fleet(&shape);
        for found in find(&snapshot, &candidates(&snapshot), &eager()) {
            let findings = findings(&snapshot, &found);
            prop_assert!(findings.is_empty(), "{found:?}: {}", findings[0]);
            prop_assert!(places_everybody(&snapshot, &found), "{found:?}");
            let before = price_of(&snapshot, &found.members);
            let chosen: PricePerHour = found.claims.iter().filter_map(PlannedClaim::chosen).map(|way| way.list_price).sum();
            prop_assert_eq!(found.saving, before - chosen);
            let dearest = |claim: &PlannedClaim| claim.options.iter().map(|way| way.list_price).max();
            let worst: PricePerHour = found.claims.iter().filter_map(dearest).sum();
            prop_assert!(found.claims.is_empty() || worst < before, "{worst} for {before}");
        }
    }

    #[test]
    fn young_nodes_go_only_for_nothing_new(shape in shapes(MOST)) {
        let snapshot = fleet(&shape);
        let (old, young): (Vec<usize>, Vec<usize>) = candidates(&snapshot).into_iter().partition(|row| row % 2 == 0);
        let settings = MoveSettings { young: young.clone(), ..eager() };
        for found in find(&snapshot, &candidates(&snapshot), &settings) {
            let replaces = !found.claims.is_empty();
            prop_assert!(!replaces || found.members.iter().all(|row| old.contains(row)), "{found:?}");
        }
    }

    #[test]
    fn a_move_carried_out_costs_what_it_said(shape in shapes(MOST)) {
        let snapshot = fleet(&shape);
        for found in find(&snapshot, &candidates(&snapshot), &eager()) {
            let after = carry_out(&snapshot, std::slice::from_ref(&found));
            prop_assert_eq!(fleet_cost(&after), fleet_cost(&snapshot) - found.saving);
            prop_assert_eq!(homeless(&after), homeless(&snapshot));
        }
    }

    #[test]
    fn moves_that_share_no_node_save_together_what_each_says(shape in shapes(MOST)) {
        let snapshot = fleet(&shape);
        let going = |snapshot: &Snapshot| candidates(snapshot);
        let passed = pass(&snapshot, going, &eager());
        let saved: PricePerHour = passed.moves.iter().map(|made| made.saving).sum();
        prop_assert_eq!(fleet_cost(&passed.after), fleet_cost(&snapshot) - saved);
        prop_assert_eq!(homeless(&passed.after), homeless(&snapshot));
    }

    #[test]
    fn the_order_of_candidates_does_not_matter(shape in shapes(MOST)) {
        let snapshot = fleet(&shape);
        let mut backwards = candidates(&snapshot);
        backwards.reverse();
        prop_assert_eq!(find(&snapshot, &candidates(&snapshot), &eager()), find(&snapshot, &backwards, &eager()));
    }
}
