//! The money and instances still to be had: spend limits and supplies.

use super::problem::Problem;

/// Amounts left of each limit, and nodes left of each supply.
#[derive(Clone, Debug)]
pub(super) struct Ledger {
    limits: Vec<Vec<i64>>,
    supplies: Vec<u32>,
}

impl Ledger {
    /// Everything the problem grants.
    pub(super) fn new(problem: &Problem) -> Self {
        let limits = problem.spend_limits.iter();
        Self {
            limits: limits.map(|limit| limit.remaining.to_vec()).collect(),
            supplies: problem.supplies.clone(),
        }
    }

    /// How many nodes of a kind (by row) may still be bought.
    pub(super) fn affordable(&self, problem: &Problem, row: usize) -> u32 {
        let kind = &problem.kinds[row];
        let mut most = kind.supply.map_or(u32::MAX, |supply| self.supplies[supply]);
        if let Some((limit, takes)) = &kind.spends {
            for (&left, &take) in self.limits[*limit].iter().zip(takes) {
                if left < 0 {
                    return 0;
                }
                if take > 0 {
                    most = most.min(u32::try_from(left / take).unwrap_or(u32::MAX));
                }
            }
        }
        most
    }

    /// Enters `count` nodes of a kind.
    pub(super) fn take(&mut self, problem: &Problem, row: usize, count: u32) {
        self.enter(problem, row, count, -1);
    }

    /// Undoes [`Ledger::take`].
    pub(super) fn give_back(&mut self, problem: &Problem, row: usize, count: u32) {
        self.enter(problem, row, count, 1);
    }

    fn enter(&mut self, problem: &Problem, row: usize, count: u32, sign: i64) {
        let kind = &problem.kinds[row];
        if let Some(supply) = kind.supply {
            let left = &mut self.supplies[supply];
            *left = if sign < 0 {
                left.saturating_sub(count)
            } else {
                left.saturating_add(count)
            };
        }
        if let Some((limit, takes)) = &kind.spends {
            for (left, &take) in self.limits[*limit].iter_mut().zip(takes) {
                *left = left.saturating_add(sign * take.saturating_mul(i64::from(count)));
            }
        }
    }
}
