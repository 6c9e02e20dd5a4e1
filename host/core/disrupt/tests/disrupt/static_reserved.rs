//! Drifted nodes of static pools beside a reservation: successors draw on it as far as it goes.

use plimsoll_base::ids::ReservationId;
use plimsoll_base::units::PricePerHour;
use plimsoll_model::BudgetNodes;
use plimsoll_model::catalogue::{Offering, Reservation};
use plimsoll_oracles::fixture::*;

use crate::static_pools::{budget, drifted, pass, second_zone};

/// Reservations that successors of two drifted nodes draw on, where one has so many instances left.
fn drawn(left: u32) -> Vec<bool> {
    let mut reserved = Offering::new(ZONE_2, CapacityType::Reserved, PricePerHour::ZERO);
    reserved.reservation = Some(Reservation {
        id: ReservationId::from("cr-1"),
        remaining: left,
    });
    let small = instance_type("small").cpu(2000).no_overhead().price(0.1);
    let small = small.offered(ZONE_1, OnDemand).offered(ZONE_2, OnDemand);
    let pool = second_zone("base", 2).with(budget(BudgetNodes::Count(2)));
    let world = cluster().sells(small.offering(reserved)).pool(pool);
    let world = world.settings(|settings| settings.reserved_capacity = true);
    let decision = pass(&drifted(world, "base", 2).snapshot());
    let claims = (decision.commands.iter()).flat_map(|command| &command.plan.claims);
    let chosen = claims.map(|claim| claim.chosen().expect("there is on demand"));
    chosen.map(|option| option.reservation.is_some()).collect()
}

#[test]
fn successors_draw_on_a_reservation_until_nothing_is_left_of_it() {
    assert_eq!(drawn(0), [false, false]);
    assert_eq!(drawn(1), [true, false]);
    assert_eq!(drawn(2), [true, true]);
}
