//! Random clusters, planned and planned again after the first plan was carried out: no plan breaks a rule.

use plimsoll_oracles::generate::{Features, Kind, Shape, random_cluster};
use plimsoll_scheduling_tests::check;

fn shape(seed: u64, features: Features) -> Shape {
    Shape::of(seed, [14, 3, 2, 4, 3], features)
}

#[test]
fn plans_of_random_topologies_break_no_rule() {
    let features = Features::of(&[Kind::Selectors, Kind::Spread, Kind::Affinity]);
    for seed in 1000..1100 {
        check(random_cluster(&shape(seed, features)));
    }
}

#[test]
fn second_batches_on_random_clusters_break_no_rule() {
    for seed in 2000..2050 {
        let _ = check(random_cluster(&shape(seed, Features::ALL))).then([]);
    }
}
