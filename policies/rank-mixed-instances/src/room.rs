//! Nodes of each kind that a plan may buy, so that the shares are kept once it has bought all it may.

use plimsoll_sdk::ranking::{Capacity, PriceTable};

use crate::{Options, objection};

/// Nodes that may be bought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Room {
    pub(crate) on_demand: u32,
    pub(crate) spot: u32,
}

impl Room {
    /// From what runs of the offerings of the mix, each counted once however many pools may buy it.
    pub(crate) fn count(table: &PriceTable, options: &Options) -> Self {
        let (mut on_demand, mut spot) = (0_u32, 0_u32);
        table.each_offering(|offering| {
            if objection(offering, options).is_some() {
                return;
            }
            let nodes = match offering.capacity() {
                Capacity::Spot => &mut spot,
                Capacity::OnDemand | Capacity::Reserved => &mut on_demand,
            };
            *nodes = nodes.saturating_add(offering.running());
        });
        Self::of(on_demand, spot, options)
    }

    /// From so many nodes that run.
    fn of(on_demand: u32, spot: u32, options: &Options) -> Self {
        let all = on_demand
            .saturating_add(spot)
            .saturating_add(options.at_once);
        let base = options.base.min(all);
        let above = f64::from(all - base) * options.on_demand_share;
        let wanted = base.saturating_add(rounded(above)).min(all);
        Self {
            on_demand: wanted.saturating_sub(on_demand),
            spot: (all - wanted).saturating_sub(spot),
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of a count lies between 0 and the count"
)]
fn rounded(nodes: f64) -> u32 {
    nodes.round() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room(on_demand: u32, spot: u32, base: u32, share: f64) -> (u32, u32) {
        let options = Options {
            max_price: 1.0,
            types: Vec::new(),
            base,
            on_demand_share: share,
            at_once: 10,
        };
        let Room { on_demand, spot } = Room::of(on_demand, spot, &options);
        (on_demand, spot)
    }

    #[test]
    fn what_is_bought_makes_up_for_what_runs() {
        assert_eq!(room(0, 0, 0, 0.5), (5, 5));
        assert_eq!(room(10, 4, 0, 0.5), (2, 8));
        assert_eq!(room(40, 0, 0, 0.5), (0, 25));
    }

    #[test]
    fn the_base_comes_first_and_shares_are_of_the_rest() {
        assert_eq!(room(0, 0, 12, 0.5), (10, 0));
        assert_eq!(room(4, 0, 4, 0.2), (2, 8));
        assert_eq!(room(0, 0, 0, 1.0), (10, 0));
        assert_eq!(room(0, 0, 0, 0.0), (0, 10));
    }

    /// C12: plans that take what is cheaper still keep the shares, one after another.
    #[test]
    fn shares_stay_within_five_points_of_half_whatever_plans_prefer() {
        let (mut on_demand, mut spot) = (0, 0);
        for bought in (1..200).map(|plan| plan % 7) {
            let (of_demand, of_spot) = room(on_demand, spot, 0, 0.5);
            let cheap = of_spot.min(bought);
            spot += cheap;
            on_demand += (bought - cheap).min(of_demand);
            let all = on_demand + spot;
            if all >= 100 {
                let share = f64::from(on_demand) / f64::from(all);
                assert!((share - 0.5).abs() <= 0.05, "{on_demand} of {all}");
            }
        }
        assert!(on_demand + spot >= 500);
    }
}
