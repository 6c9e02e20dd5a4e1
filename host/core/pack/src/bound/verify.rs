//! Checks a bound's proof in integers, from the problem alone.
//!
//! Weak duality: give every unit of demand the value of what it asks for. A kind's node can hold no more value than its
//! capacity is worth to the classes that may use it. Where that is at most the kind's price, a fleet costs at least the value of
//! the demand, less what nodes of limited supply (existing ones included) can hold beyond their price.

use plimsoll_base::bits::Bits;
use thiserror::Error;

use super::{Bound, FRACTION_BITS};
use crate::problem::{Class, Demand, Problem};

/// Why a proof does not hold.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BoundViolation {
    /// The proof was made for another problem.
    #[error("the proof speaks of {found} classes, expected {expected}")]
    Classes {
        /// Classes in the proof.
        found: usize,
        /// Classes in the problem.
        expected: usize,
    },
    /// A kind can hold more than it costs.
    #[error("kind {kind} holds a value above its list price of {list_price} nano-dollars")]
    KindUndervalued {
        /// Position among the problem's kinds.
        kind: usize,
        /// List price of the kind, in nano-dollars per hour.
        list_price: i64,
    },
    /// A value is negative or too large to count with.
    #[error("class {class} has a value out of range")]
    ValueOutOfRange {
        /// Position among the problem's classes.
        class: usize,
    },
}

/// Values above this could overflow the sums.
const LARGEST_VALUE: i128 = 1 << 100;

impl Bound {
    /// The bound that the proof supports, in nano-dollars per hour.
    pub fn verify(&self, problem: &Problem) -> Result<i64, BoundViolation> {
        self.check_form(problem)?;
        let overflow = BoundViolation::ValueOutOfRange { class: 0 };
        self.total(problem)?.ok_or(overflow)
    }

    fn check_form(&self, problem: &Problem) -> Result<(), BoundViolation> {
        if self.set_of_class.len() != problem.classes.len() {
            return Err(BoundViolation::Classes {
                found: self.set_of_class.len(),
                expected: problem.classes.len(),
            });
        }
        for (class, &set) in self.set_of_class.iter().enumerate() {
            let axes = self.axis_values.get(set);
            let rules = self.rule_values.get(set);
            let in_range = |value: i128| (0..=LARGEST_VALUE).contains(&value);
            let sound = axes.is_some_and(|axes| {
                axes.len() == problem.axes && axes.iter().all(|&value| in_range(value))
            }) && rules.is_some_and(|rules| {
                rules
                    .iter()
                    .all(|&(rule, value)| rule < problem.rules.len() && in_range(value))
            });
            if !sound {
                return Err(BoundViolation::ValueOutOfRange { class });
            }
        }
        Ok(())
    }

    /// Demand's value less rents; `None` when a sum leaves the range.
    fn total(&self, problem: &Problem) -> Result<Option<i64>, BoundViolation> {
        let sets_of_kind = self.sets_by(problem.kinds.len(), problem, |class| &class.kinds);
        let mut rents = vec![0_i128; problem.supplies.len()];
        for (row, kind) in problem.kinds.iter().enumerate() {
            let Some(worth) = self.worth(problem, &kind.capacity, &sets_of_kind[row]) else {
                return Ok(None);
            };
            let excess = worth - (i128::from(kind.list_price) << FRACTION_BITS);
            match kind.supply {
                Some(supply) => rents[supply] = rents[supply].max(excess),
                None if excess > 0 => {
                    return Err(BoundViolation::KindUndervalued {
                        kind: row,
                        list_price: kind.list_price,
                    });
                }
                None => {}
            }
        }
        Ok(self.sum(problem, &rents))
    }

    fn sum(&self, problem: &Problem, rents: &[i128]) -> Option<i64> {
        let mut total = self.value_of_demand(problem)?;
        for (&rent, &supply) in rents.iter().zip(&problem.supplies) {
            total = total.checked_sub(rent.checked_mul(i128::from(supply))?)?;
        }
        let mut sets = Bits::none(self.axis_values.len());
        let mut known: Option<&Bits> = None;
        for node in &problem.existing {
            if known != Some(&node.classes) {
                sets = Bits::none(self.axis_values.len());
                for class in node.classes.iter().filter(|c| *c < problem.classes.len()) {
                    sets.insert(self.set_of_class[class]);
                }
                known = Some(&node.classes);
            }
            total = total.checked_sub(self.worth(problem, &node.free, &sets)?)?;
        }
        // Prices are whole numbers, so a fleet that costs at least this costs at least this rounded up.
        let part = (1 << FRACTION_BITS) - 1;
        i64::try_from((total.max(0).checked_add(part)?) >> FRACTION_BITS).ok()
    }

    /// Per row of something: the sets of the classes that may use it.
    fn sets_by<'p>(
        &self,
        rows: usize,
        problem: &'p Problem,
        may_use: impl Fn(&'p Class) -> &'p Bits,
    ) -> Vec<Bits> {
        let mut result = vec![Bits::none(self.axis_values.len()); rows];
        let mut seen: Vec<(usize, &Bits)> = Vec::new();
        for (class, &set) in problem.classes.iter().zip(&self.set_of_class) {
            let uses = may_use(class);
            if seen.contains(&(set, uses)) {
                continue;
            }
            seen.push((set, uses));
            for row in uses.iter().filter(|row| *row < rows) {
                result[row].insert(set);
            }
        }
        result
    }

    /// Most that a node of this capacity can hold, by worth, in fixed-point nano-dollars; `None` on overflow.
    fn worth(&self, problem: &Problem, capacity: &[i64], sets: &Bits) -> Option<i128> {
        let mut total = 0_i128;
        for (axis, &amount) in capacity.iter().enumerate() {
            let best = sets.iter().map(|set| self.axis_values[set][axis]).max();
            total = total.checked_add(best.unwrap_or(0).checked_mul(i128::from(amount))?)?;
        }
        let mut by_rule: Vec<(usize, i128)> = sets
            .iter()
            .flat_map(|set| self.rule_values[set].iter().copied())
            .collect();
        by_rule.sort_unstable();
        for (at, &(rule, value)) in by_rule.iter().enumerate() {
            let is_best = by_rule.get(at + 1).is_none_or(|next| next.0 != rule);
            if is_best {
                let limit = i128::from(problem.rules[rule].limit);
                total = total.checked_add(value.checked_mul(limit)?)?;
            }
        }
        Some(total)
    }

    fn value_of_demand(&self, problem: &Problem) -> Option<i128> {
        let mut total = 0_i128;
        for demand in problem.demands.iter().filter(|d| is_placeable(problem, d)) {
            let class = &problem.classes[demand.class];
            let set = self.set_of_class[demand.class];
            let mut one = 0_i128;
            for (axis, &amount) in demand.request.iter().enumerate() {
                let value = self.axis_values[set][axis];
                one = one.checked_add(value.checked_mul(i128::from(amount))?)?;
            }
            for membership in class.memberships.iter().filter(|m| m.owner) {
                for &(rule, value) in &self.rule_values[set] {
                    if rule == membership.rule {
                        let counted = i128::from(membership.counted);
                        one = one.checked_add(value.checked_mul(counted)?)?;
                    }
                }
            }
            total = total.checked_add(one.checked_mul(i128::from(demand.count))?)?;
        }
        Some(total)
    }
}

/// `true` if some kind or existing node could hold one unit of a demand, alone.
pub(crate) fn is_placeable(problem: &Problem, demand: &Demand) -> bool {
    let class = &problem.classes[demand.class];
    let obeys = class.memberships.iter().all(|membership| {
        !membership.owner || membership.counted <= problem.rules[membership.rule].limit
    });
    let holds = |room: &[i64]| {
        room.iter()
            .zip(&demand.request)
            .all(|(have, ask)| have >= ask)
    };
    obeys
        && (class
            .kinds
            .iter()
            .any(|kind| holds(&problem.kinds[kind].capacity))
            || problem
                .existing
                .iter()
                .any(|node| node.classes.contains(demand.class) && holds(&node.free)))
}
