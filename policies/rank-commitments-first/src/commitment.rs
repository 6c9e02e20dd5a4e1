//! Commitments, and the part of them that no running node uses yet.

use plimsoll_sdk::ranking::{Capacity, Offering, PriceTable};

/// Nodes of a family or a type that are paid for.
pub(crate) struct Commitment<'a> {
    name: &'a str,
    nodes: u32,
}

impl<'a> Commitment<'a> {
    /// Reads `m7g=8` or `m7g.large=8`.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        let (name, nodes) = text.split_once('=')?;
        let (name, nodes) = (name.trim(), nodes.trim().parse().ok()?);
        (!name.is_empty()).then_some(Self { name, nodes })
    }

    fn covers(&self, offering: &Offering) -> bool {
        self.name == offering.family() || self.name == offering.instance_type()
    }
}

/// Commitments less what runs, and which offerings each covers.
pub(crate) struct Ledger {
    left: Vec<u32>,
    /// Number of the commitment that covers an offering, from 1, by number of the offering; 0 or missing for none.
    covered_by: Vec<u32>,
}

impl Ledger {
    /// Counts every on-demand offering once, however many pools may buy it. The first commitment that covers one counts.
    pub(crate) fn count(table: &PriceTable, commitments: &[String]) -> Self {
        let texts = commitments.iter();
        let commitments: Vec<Commitment<'_>> =
            texts.filter_map(|text| Commitment::parse(text)).collect();
        let mut ledger = Self {
            left: commitments.iter().map(|paid| paid.nodes).collect(),
            covered_by: Vec::new(),
        };
        table.each_offering(|offering| {
            if offering.capacity() != Capacity::OnDemand {
                return;
            }
            let mut all = (1..).zip(&commitments);
            if let Some((number, _)) = all.find(|(_, paid)| paid.covers(offering)) {
                let row = offering.row();
                if ledger.covered_by.len() <= row {
                    ledger.covered_by.resize(row + 1, 0);
                }
                ledger.covered_by[row] = number;
                let left = &mut ledger.left[number as usize - 1];
                *left = left.saturating_sub(offering.running());
            }
        });
        ledger
    }

    /// How many commitments there are.
    pub(crate) fn commitments(&self) -> usize {
        self.left.len()
    }

    /// Number of the commitment that covers an offering, and the nodes left of it.
    pub(crate) fn left(&self, offering: &Offering) -> Option<(u32, u32)> {
        let number = *self.covered_by.get(offering.row())?;
        let left = self.left.get((number as usize).checked_sub(1)?)?;
        Some((number, *left))
    }
}
