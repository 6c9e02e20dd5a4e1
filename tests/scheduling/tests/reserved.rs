//! Capacity that is paid for already: how many nodes it gives, who gets it, and what the claim says.

use plimsoll_model::plan::PlannedClaim;
use plimsoll_oracles::fixture::*;
use plimsoll_scheduling_tests::{Outcome, check};

/// The label of a reservation's id.
const RESERVATION: &str = "karpenter.k8s.aws/capacity-reservation-id";

/// Pods that take a node each.
fn alone(count: usize) -> impl Iterator<Item = PodFixture> + use<> {
    pod("web").cpu(100).anti_affinity(HOSTNAME).replicas(count)
}

/// A type on demand at one dollar, and so many of it reserved.
fn partly_reserved(name: &str, id: &str, remaining: u32) -> TypeFixture {
    instance_type(name)
        .price(0.000_000_1)
        .reserved(ZONE_1, id, remaining)
        .price(1.0)
        .offered(ZONE_1, OnDemand)
}

/// Plans pods for one pool that may buy any of some types.
fn decided(
    sold: impl IntoIterator<Item = TypeFixture>,
    pods: impl IntoIterator<Item = PodFixture>,
) -> Outcome {
    let shop = sold.into_iter().fold(cluster(), ClusterFixture::sells);
    check(shop.pool(pool("general")).pods(pods))
}

/// Name under which claims without a reservation are counted.
const OTHERS: &str = "others";

/// Claims per reservation, and those on other terms.
fn reservations(outcome: &Outcome) -> Vec<(String, usize)> {
    outcome.agreed(|run| {
        let mut result = std::collections::BTreeMap::new();
        for claim in &run.plan().claims {
            let own = claim.options[0].reservation.as_ref();
            let id = own.map_or_else(|| OTHERS.to_owned(), ToString::to_string);
            *result.entry(id).or_insert(0) += 1;
        }
        result.into_iter().collect()
    })
}

/// Claims are counted as stated.
#[track_caller]
fn draws_on(outcome: &Outcome, claims: &[(&str, usize)]) {
    let owned = |&(id, count): &(&str, usize)| (id.to_owned(), count);
    let expected: Vec<_> = claims.iter().map(owned).collect();
    assert_eq!(reservations(outcome), expected);
}

#[test]
fn reservation_is_used_up_to_what_it_has_and_then_others_are_bought_at_once() {
    let outcome = decided([partly_reserved("m", "r-1", 2)], alone(5));
    assert_eq!(outcome.unplaced(), 0, "nobody waits for a reservation");
    draws_on(&outcome, &[(OTHERS, 3), ("r-1", 2)]);
}

#[test]
fn claim_of_a_reservation_names_it_and_its_terms_alone() {
    let outcome = decided([partly_reserved("m", "r-1", 1)], alone(1));
    let claim: PlannedClaim = outcome.agreed(|run| run.plan().claims[0].clone());
    let single = |key: &str| {
        let own = claim
            .requirements
            .get(key)
            .and_then(|own| own.single().cloned());
        own.map(|value| value.to_string())
    };
    assert_eq!(single(CAPACITY_TYPE).as_deref(), Some("reserved"));
    assert_eq!(single(RESERVATION).as_deref(), Some("r-1"));
}

#[test]
fn claim_of_other_terms_names_no_reservation() {
    let outcome = decided([partly_reserved("m", "r-1", 0)], alone(1));
    draws_on(&outcome, &[(OTHERS, 1)]);
    let reserved = outcome.agreed(|run| {
        let mut options = run.plan().claims[0].options.iter();
        options.any(|option| option.capacity_type == Reserved)
    });
    assert!(!reserved);
}

#[test]
fn reservations_of_several_types_are_all_used_in_one_decision() {
    let outcome = decided(
        [
            partly_reserved("s", "r-s", 1),
            partly_reserved("m", "r-m", 1),
        ],
        alone(3),
    );
    draws_on(&outcome, &[(OTHERS, 1), ("r-m", 1), ("r-s", 1)]);
}

#[test]
fn reservation_shared_by_pools_is_counted_once() {
    let outcome = check(
        cluster()
            .sells(partly_reserved("m", "r-1", 2))
            .pool(pool("a"))
            .pool(pool("b").weight(10))
            .pods(alone(2).map(|pod| pod.select(NODEPOOL, "a")))
            .pods(
                pod("db")
                    .cpu(100)
                    .anti_affinity(HOSTNAME)
                    .select(NODEPOOL, "b")
                    .replicas(2),
            ),
    );
    assert_eq!(outcome.unplaced(), 0);
    draws_on(&outcome, &[(OTHERS, 2), ("r-1", 2)]);
}

#[test]
fn reservation_shared_by_types_is_counted_once() {
    let outcome = decided(
        [
            partly_reserved("a", "r-1", 2),
            partly_reserved("b", "r-1", 2),
        ],
        alone(4),
    );
    draws_on(&outcome, &[(OTHERS, 2), ("r-1", 2)]);
}

#[test]
fn two_reservations_of_one_type_are_used_and_then_others_bought() {
    let sold = instance_type("m")
        .price(0.000_000_1)
        .reserved(ZONE_1, "r-1", 2)
        .reserved(ZONE_2, "r-2", 1)
        .price(1.0)
        .offered(ZONE_1, OnDemand);
    let outcome = decided([sold], alone(4));
    draws_on(&outcome, &[(OTHERS, 1), ("r-1", 2), ("r-2", 1)]);
}

#[test]
fn pods_that_fit_share_one_reserved_node() {
    let outcome = decided(
        [partly_reserved("m", "r-1", 1)],
        pod("web").cpu(100).replicas(4),
    );
    draws_on(&outcome, &[("r-1", 1)]);
}

#[test]
fn pod_that_may_only_use_a_reservation_gets_it_before_those_that_have_a_choice() {
    let outcome = check(
        cluster()
            .sells(partly_reserved("m", "r-1", 1))
            .pool(pool("general"))
            .pods(pod("web").cpu(200).anti_affinity(HOSTNAME).replicas(2))
            .pod(
                pod("bound")
                    .cpu(100)
                    .select(RESERVATION, "r-1")
                    .label("app", "web")
                    .anti_affinity(HOSTNAME)
                    .to("web"),
            ),
    );
    assert_eq!(outcome.unplaced(), 0);
    assert_eq!(
        outcome.domains(CAPACITY_TYPE, "web").get("reserved"),
        Some(&1)
    );
}

#[test]
fn pods_beyond_a_reservation_that_they_insist_on_wait() {
    let outcome = decided(
        [partly_reserved("m", "r-1", 1)],
        alone(3).map(|pod| pod.select(CAPACITY_TYPE, "reserved")),
    );
    assert_eq!((outcome.placed("web"), outcome.unplaced()), (1, 2));
}

#[test]
fn pool_of_reservations_alone_leaves_the_rest_to_a_lighter_pool() {
    let outcome = check(
        cluster()
            .sells(partly_reserved("m", "r-1", 1))
            .pool(pool("reserved").weight(10).capacity_types(&[Reserved]))
            .pool(pool("general").capacity_types(&[OnDemand]))
            .pods(alone(3)),
    );
    let pools: Vec<_> = outcome.domains(NODEPOOL, "web").into_iter().collect();
    assert_eq!(
        pools,
        [("general".to_owned(), 2), ("reserved".to_owned(), 1)]
    );
}

#[test]
fn reservations_are_not_used_when_switched_off() {
    let outcome = check(
        cluster()
            .sells(partly_reserved("m", "r-1", 5))
            .pool(pool("general"))
            .settings(|settings| settings.reserved_capacity = false)
            .pods(alone(1)),
    );
    draws_on(&outcome, &[(OTHERS, 1)]);
}

#[test]
fn reservation_does_not_break_a_minimum_of_types() {
    let outcome = check(
        cluster()
            .sells(partly_reserved("a", "r-1", 1))
            .sells(instance_type("b").price(1.0).offered(ZONE_1, OnDemand))
            .pool(pool("general").min_values(INSTANCE_TYPE, 2))
            .pods(alone(1)),
    );
    assert_eq!(outcome.unplaced(), 0);
}

/// How many wishes each placed pod has given up.
fn given_up(outcome: &Outcome) -> Vec<u32> {
    outcome.agreed(|run| {
        let placements = run.plan().placements.iter();
        placements.map(|placement| placement.relaxed).collect()
    })
}

#[test]
fn wish_that_other_terms_meet_is_kept_where_the_reservation_is_used_up() {
    let outcome = decided(
        [partly_reserved("m", "r-1", 1)],
        alone(2).map(|pod| pod.prefers(1, is_in(ZONE, &[ZONE_1]))),
    );
    assert_eq!(given_up(&outcome), [0, 0]);
}

#[test]
fn wish_for_a_full_reservation_is_given_up() {
    let wish = || is_in(CAPACITY_TYPE, &["reserved"]);
    let outcome = decided(
        [partly_reserved("m", "r-1", 0)],
        alone(1).map(|pod| pod.prefers(1, wish())),
    );
    assert_eq!(given_up(&outcome), [1]);
    let outcome = decided(
        [partly_reserved("m", "r-1", 1)],
        alone(2).map(|pod| pod.prefers(1, wish())),
    );
    assert_eq!(given_up(&outcome), [0, 1]);
}
