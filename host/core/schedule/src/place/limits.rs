//! The rest of pools' limits, while pods are placed one by one.
//!
//! Each new node is charged at the largest instance it may still become, per resource, and as one node. Contract: the section
//! on limits; unlike upstream, `limits.nodes` falls with every new node of the same decision. A node that a simulation takes away frees its
//! share, as upstream: what replaces it may be bought by a pool that has reached its limits.

use plimsoll_base::bits::Bits;
use plimsoll_base::resources::{ResourceName, Resources};

use crate::batch::compile::Compiled;
use crate::offers::axes::fits;

/// Limits left per template, by limited resource.
#[derive(Clone)]
pub(crate) struct Limits {
    left: Vec<Option<PoolLimit>>,
}

#[derive(Clone)]
struct PoolLimit {
    left: Vec<i64>,
    /// The same as far as nodes decide that are there: nothing is charged for new ones, which the packer merges.
    before_new: Vec<i64>,
    /// The most that one node of any row takes.
    most: Vec<i64>,
}

impl Limits {
    /// Limits of every pool before any new node, with every node in its place.
    pub(crate) fn new(compiled: &Compiled<'_>) -> Self {
        let limit = |(number, left): (usize, &Resources)| PoolLimit {
            left: left.iter().map(|(_, left)| left).collect(),
            before_new: left.iter().map(|(_, left)| left).collect(),
            most: most(
                compiled,
                &compiled.rows.of_template[number],
                left.iter().count(),
            ),
        };
        let templates = compiled.templates.iter().enumerate();
        let limits = templates.map(|(number, template)| {
            let remaining = template.remaining.as_ref()?;
            Some(limit((number, remaining)))
        });
        let mut result = Self {
            left: limits.collect(),
        };
        for (template, share) in compiled.freed.shares() {
            result.add(*template, share, i64::saturating_sub);
        }
        result
    }

    /// Frees the share of a node that is removed.
    pub(crate) fn free(&mut self, compiled: &Compiled<'_>, node: usize) {
        if let Some((template, share)) = compiled.freed.of(node) {
            self.add(*template, share, i64::saturating_add);
        }
    }

    fn add(&mut self, template: usize, share: &[i64], add: impl Fn(i64, i64) -> i64) {
        let Some(limit) = &mut self.left[template] else {
            return;
        };
        for left in [&mut limit.left, &mut limit.before_new] {
            for (left, share) in left.iter_mut().zip(share) {
                *left = add(*left, *share);
            }
        }
    }

    /// Amounts that all new nodes of a template may take together; `None` where nothing limits them.
    pub(crate) fn for_new(&self, template: usize) -> Option<&[i64]> {
        Some(&self.left[template].as_ref()?.before_new)
    }

    /// The state after a simulation that is kept: its new nodes have the share that its leaving ones have freed.
    pub(crate) fn keep_since(&mut self, begun: &Self) {
        for (own, begun) in self.left.iter_mut().zip(&begun.left) {
            if let (Some(own), Some(begun)) = (own, begun) {
                own.before_new.clone_from(&begun.before_new);
            }
        }
    }

    /// The rows that limits still allow; `None` when they keep nothing out.
    pub(crate) fn within(
        &self,
        compiled: &Compiled<'_>,
        template: usize,
        rows: &Bits,
    ) -> Option<Bits> {
        let limit = self.left[template].as_ref()?;
        if fits(&limit.most, &limit.left) {
            return None;
        }
        let mut result = Bits::none(compiled.rows.len());
        rows.iter()
            .filter(|row| fits(compiled.rows.spends(*row), &limit.left))
            .for_each(|row| result.insert(row));
        Some(result)
    }

    /// Charges a new node.
    pub(crate) fn charge(&mut self, compiled: &Compiled<'_>, template: usize, rows: &Bits) {
        let Some(limit) = &mut self.left[template] else {
            return;
        };
        let charged = most(compiled, rows, limit.left.len());
        for (left, charged) in limit.left.iter_mut().zip(charged) {
            *left = left.saturating_sub(charged);
        }
    }
}

/// The most that one node of any of some rows takes, per limited resource.
fn most(compiled: &Compiled<'_>, rows: &Bits, resources: usize) -> Vec<i64> {
    let mut result = vec![0; resources];
    for row in rows.iter() {
        for (most, taken) in result.iter_mut().zip(compiled.rows.spends(row)) {
            *most = (*most).max(*taken);
        }
    }
    result
}

/// Resources that one node of a row takes of its pool's limits, itself counted as one under `nodes`.
pub(crate) fn capacity(compiled: &Compiled<'_>, row: usize) -> Resources {
    let (instance_type, offering) = compiled.offering(row);
    instance_type
        .capacity_of(offering)
        .with(ResourceName::Nodes, 1)
}
