//! Capacity that is paid for already goes first, up to its amount: reservations, and commitments to families or types. README.md has the
//! formula.

mod commitment;

use plimsoll_sdk::ranking::*;

use crate::commitment::{Commitment, Ledger};

/// Settings, as they appear in the Policy object.
#[derive(Debug, Settings)]
pub struct Options {
    /// Nodes committed to, each `FAMILY=COUNT` or `TYPE=COUNT`, for instance `m7g=8`.
    #[setting(default = [])]
    pub commitments: Vec<String>,
    /// Share of the list price that a committed node costs still.
    #[setting(default = 0, min = 0, max = 1)]
    pub committed_share: f64,
}

reasons! {
    LIST = "list price",
    RESERVED = "out of a reservation",
    COMMITTED = "committed to and not used yet",
}

/// Paid first, then list prices.
#[derive(Debug)]
pub struct CommitmentsFirst;

impl Ranking for CommitmentsFirst {
    type Settings = Options;

    fn prices(&self, table: &PriceTable, options: &Options) -> Result<PriceAnswer, PolicyError> {
        let ledger = Ledger::count(table, &options.commitments);
        Ok(table.map(|offering, _pool| {
            let list = Price::dollars(offering.price(), LIST);
            if offering.capacity() == Capacity::Reserved {
                // One count for the reservation, whichever pool buys out of it.
                let group = ledger.commitments() + 1 + offering.row();
                return list
                    .but_first(offering.reserved_left(), 0.0, RESERVED)
                    .in_group(u32::try_from(group).unwrap_or_default());
            }
            match ledger.left(offering) {
                Some((group, left)) if left > 0 => list
                    .but_first(left, options.committed_share * offering.price(), COMMITTED)
                    .in_group(group),
                _ => list,
            }
        }))
    }

    fn validate(&self, options: &Options) -> Vec<Problem> {
        let reads = |text: &str| Commitment::parse(text).is_some();
        let expected = "FAMILY=COUNT or TYPE=COUNT, for instance m7g=8";
        unreadable("commitments", &options.commitments, reads, expected)
    }
}

export_ranking!(CommitmentsFirst);
