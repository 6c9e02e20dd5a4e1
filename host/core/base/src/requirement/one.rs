//! One requirement: the values that a label key may have.
//!
//! Held as a set of values or the complement of one, with optional integer bounds. `In []` is `DoesNotExist`; an unset
//! complement without exclusions is `Exists`. Bounds exist on complements only: a concrete set is filtered by them at once.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::labels::LabelKey;
use crate::words::shortened;

/// How an expression relates a key to values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Operator {
    /// One of the values.
    In,
    /// Any value but these, or no label at all.
    NotIn,
    /// Any value.
    Exists,
    /// No such label.
    DoesNotExist,
    /// An integer above the one given.
    Gt,
    /// An integer below the one given.
    Lt,
    /// An integer of at least the one given.
    Gte,
    /// An integer of at most the one given.
    Lte,
}

impl Operator {
    /// Reads an operator as the API spells it.
    pub fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "In" => Self::In,
            "NotIn" => Self::NotIn,
            "Exists" => Self::Exists,
            "DoesNotExist" => Self::DoesNotExist,
            "Gt" => Self::Gt,
            "Lt" => Self::Lt,
            "Gte" => Self::Gte,
            "Lte" => Self::Lte,
            _ => return None,
        })
    }
}

/// Why an expression is no requirement.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RequirementError {
    /// `Gt`, `Lt`, `Gte` and `Lte` take exactly one integer of at least 0.
    #[error(
        "key {key}: operator {operator:?} has values {values:?}; expected exactly one integer of at least 0"
    )]
    NotOneInteger {
        /// The key.
        key: LabelKey,
        /// The operator.
        operator: Operator,
        /// The values given.
        values: Vec<String>,
    },
    /// `In` takes at least one value.
    #[error("key {key}: operator In has no values; expected at least one")]
    NoValues {
        /// The key.
        key: LabelKey,
    },
}

/// The values that a label key may have.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Requirement {
    key: LabelKey,
    complement: bool,
    values: BTreeSet<Arc<str>>,
    gte: Option<i64>,
    lte: Option<i64>,
    min_values: Option<u32>,
}

impl Requirement {
    /// From an expression as the API writes it.
    pub fn new(
        key: LabelKey,
        operator: Operator,
        values: &[Arc<str>],
    ) -> Result<Self, RequirementError> {
        let bound = || match values {
            [value] => value.parse::<i64>().ok().filter(|n| *n >= 0),
            _ => None,
        };
        let not_one_integer = || RequirementError::NotOneInteger {
            key: key.clone(),
            operator,
            values: values
                .iter()
                .map(|value| value.as_ref().to_owned())
                .collect(),
        };
        let mut result = Self::exists(key.clone());
        match operator {
            Operator::In if values.is_empty() => return Err(RequirementError::NoValues { key }),
            Operator::In => {
                result.complement = false;
                result.values = values.iter().cloned().collect();
            }
            Operator::NotIn => result.values = values.iter().cloned().collect(),
            Operator::Exists => {}
            Operator::DoesNotExist => result.complement = false,
            Operator::Gt => match bound().ok_or_else(not_one_integer)?.checked_add(1) {
                Some(least) => result.gte = Some(least),
                None => result.complement = false,
            },
            // A label value cannot begin with a minus sign, so nothing is below 0.
            Operator::Lt => match bound().ok_or_else(not_one_integer)? - 1 {
                -1 => result.complement = false,
                most => result.lte = Some(most),
            },
            Operator::Gte => result.gte = Some(bound().ok_or_else(not_one_integer)?),
            Operator::Lte => result.lte = Some(bound().ok_or_else(not_one_integer)?),
        }
        Ok(result)
    }

    /// Any value.
    pub fn exists(key: LabelKey) -> Self {
        Self {
            key,
            complement: true,
            values: BTreeSet::new(),
            gte: None,
            lte: None,
            min_values: None,
        }
    }

    /// No such label.
    pub fn does_not_exist(key: LabelKey) -> Self {
        Self {
            complement: false,
            ..Self::exists(key)
        }
    }

    /// One of `values`; none of them means that the label must not exist.
    pub fn one_of<V: Into<Arc<str>>>(key: LabelKey, values: impl IntoIterator<Item = V>) -> Self {
        let values = values.into_iter().map(Into::into).collect();
        Self {
            complement: false,
            values,
            ..Self::exists(key)
        }
    }

    /// With at least this many distinct values left to choose from (`minValues`, 1 to 50).
    #[must_use]
    pub fn with_min_values(mut self, min_values: Option<u32>) -> Self {
        self.min_values = min_values;
        self
    }

    /// The key.
    pub fn key(&self) -> &LabelKey {
        &self.key
    }

    /// How many distinct values must be left to choose from.
    pub fn min_values(&self) -> Option<u32> {
        self.min_values
    }

    /// The operator that the state amounts to. Bounds do not show: `Gt 5` reads as `Exists`.
    pub fn operator(&self) -> Operator {
        match (self.complement, self.values.is_empty()) {
            (true, true) => Operator::Exists,
            (true, false) => Operator::NotIn,
            (false, true) => Operator::DoesNotExist,
            (false, false) => Operator::In,
        }
    }

    /// The allowed values when they can be listed (`In`, `DoesNotExist`); `None` for complements.
    pub fn listed(&self) -> Option<&BTreeSet<Arc<str>>> {
        (!self.complement).then_some(&self.values)
    }

    /// The values named: allowed ones of `In`, excluded ones of `NotIn`.
    pub fn named(&self) -> &BTreeSet<Arc<str>> {
        &self.values
    }

    /// The smallest and the largest integer allowed, where bounded.
    pub fn bounds(&self) -> (Option<i64>, Option<i64>) {
        (self.gte, self.lte)
    }

    /// The one value allowed, if there is exactly one.
    pub fn single(&self) -> Option<&Arc<str>> {
        if self.complement || self.values.len() != 1 {
            None
        } else {
            self.values.first()
        }
    }

    /// `true` if an absent label satisfies this too: `NotIn` and `DoesNotExist`.
    pub fn allows_absence(&self) -> bool {
        matches!(self.operator(), Operator::NotIn | Operator::DoesNotExist)
    }

    /// `true` if `value` is allowed. With a bound, what is no integer is outside.
    pub fn allows(&self, value: &str) -> bool {
        self.values.contains(value) != self.complement && self.within_bounds(value)
    }

    fn within_bounds(&self, value: &str) -> bool {
        if self.gte.is_none() && self.lte.is_none() {
            return true;
        }
        value.parse::<i64>().is_ok_and(|n| {
            self.gte.is_none_or(|least| n >= least) && self.lte.is_none_or(|most| n <= most)
        })
    }

    /// The values that both allow. `minValues` becomes the larger of the two.
    #[must_use]
    pub fn intersect(&self, other: &Self) -> Self {
        assert_eq!(self.key, other.key, "requirements of one key");
        let min_values = self.min_values.max(other.min_values);
        let (gte, lte) = self.shared_bounds(other);
        if crossed(gte, lte) {
            return Self::does_not_exist(self.key.clone()).with_min_values(min_values);
        }
        let complement = self.complement && other.complement;
        let values: BTreeSet<Arc<str>> = match (self.complement, other.complement) {
            (true, true) => self.values.union(&other.values).cloned().collect(),
            (true, false) => other.values.difference(&self.values).cloned().collect(),
            (false, true) => self.values.difference(&other.values).cloned().collect(),
            (false, false) => self.values.intersection(&other.values).cloned().collect(),
        };
        let mut result = Self {
            key: self.key.clone(),
            complement,
            values,
            gte,
            lte,
            min_values,
        };
        let kept = result
            .values
            .iter()
            .filter(|value| result.within_bounds(value))
            .cloned()
            .collect();
        result.values = kept;
        if !complement {
            (result.gte, result.lte) = (None, None);
        }
        result
    }

    /// `true` if the two allow a value in common; cheaper than building the intersection. Two complements always do unless
    /// their bounds cross, even when exclusions use up the bounded range, as upstream.
    pub fn overlaps(&self, other: &Self) -> bool {
        let (gte, lte) = self.shared_bounds(other);
        if crossed(gte, lte) {
            return false;
        }
        match (self.complement, other.complement) {
            (true, true) => true,
            (false, _) => self.values.iter().any(|value| other.allows(value)),
            (true, false) => other.values.iter().any(|value| self.allows(value)),
        }
    }

    /// `true` if a node that satisfies one may satisfy the other: they allow a value in common, or both allow none.
    pub fn agrees_with(&self, other: &Self) -> bool {
        self.overlaps(other) || (self.allows_absence() && other.allows_absence())
    }

    fn shared_bounds(&self, other: &Self) -> (Option<i64>, Option<i64>) {
        let lte = match (self.lte, other.lte) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        (self.gte.max(other.gte), lte)
    }

    /// A value that is allowed, the same each time: the first listed, or the smallest allowed integer of a complement.
    pub fn any(&self) -> Option<Arc<str>> {
        if !self.complement {
            return self.values.first().cloned();
        }
        let most = self.lte.unwrap_or(i64::MAX);
        let mut candidate = self.gte.unwrap_or(0);
        while candidate <= most {
            let text = candidate.to_string();
            if !self.values.contains(text.as_str()) {
                return Some(Arc::from(text));
            }
            candidate = candidate.checked_add(1)?;
        }
        None
    }

    /// The expressions that write this requirement down. Bounds and exclusions are both kept, where upstream loses the
    /// exclusions of a bounded requirement.
    pub fn to_expressions(&self) -> Vec<(Operator, Vec<Arc<str>>)> {
        let mut expressions = Vec::new();
        if let Some(least) = self.gte {
            expressions.push((Operator::Gte, vec![Arc::from(least.to_string())]));
        }
        if let Some(most) = self.lte {
            expressions.push((Operator::Lte, vec![Arc::from(most.to_string())]));
        }
        if expressions.is_empty() || !self.values.is_empty() {
            expressions.push((self.operator(), self.values.iter().cloned().collect()));
        }
        expressions
    }
}

fn crossed(gte: Option<i64>, lte: Option<i64>) -> bool {
    matches!((gte, lte), (Some(least), Some(most)) if least > most)
}

impl fmt::Display for Requirement {
    /// `topology.kubernetes.io/zone In [a, b]`; more than five values are counted.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.key, self.operator())?;
        if !self.values.is_empty() {
            write!(f, " [{}]", shortened(&self.values))?;
        }
        if let Some(least) = self.gte {
            write!(f, " >= {least}")?;
        }
        if let Some(most) = self.lte {
            write!(f, " <= {most}")?;
        }
        if let Some(count) = self.min_values {
            write!(f, " minValues {count}")?;
        }
        Ok(())
    }
}
