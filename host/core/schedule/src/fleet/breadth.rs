//! The part of an instance that may be used in a pool that asks for a minimum of values, so that enough other types hold the same.
//!
//! A claim must leave its launch so many types (or families, zones ...) to choose from, and each of them must hold all of its
//! pods. A node is therefore filled only up to what a type has in common with the companions that cost it least room. The step
//! after, [`crate::claims::named`], names the companions; whether they suffice is seen there, after pods have narrowed the node.

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_base::bits::Bits;

use crate::batch::compile::Compiled;
use crate::batch::minimum;

/// Room in common with companions, by template and type.
#[derive(Clone, Debug, Default)]
pub(crate) struct Breadth {
    rooms: BTreeMap<(usize, usize), Box<[i64]>>,
}

impl Breadth {
    /// Works out the room of every type among `rows` whose pool asks for a minimum.
    pub(crate) fn of(compiled: &Compiled<'_>, rows: &Bits) -> Self {
        let mut result = Self::default();
        for (number, template) in compiled.templates.iter().enumerate() {
            if !template.has_minimum_values() {
                continue;
            }
            let minimum = minimum::wanted(compiled, number);
            let of_template = rows.and(&compiled.rows.of_template[number]);
            let own = rooms(compiled, &of_template);
            let type_of = |row: &usize| compiled.rows.rows[*row].instance_type;
            let enough = |types: &BTreeSet<usize>| {
                let rows = of_template
                    .iter()
                    .filter(|row| types.contains(&type_of(row)));
                minimum::is_met(compiled, number, &minimum, rows)
            };
            for at in own.keys() {
                let common = in_common(&enough, &own, *at);
                result.rooms.insert((number, *at), common);
            }
        }
        result
    }

    /// Takes off a row's capacity what its companions do not have.
    pub(crate) fn narrow(&self, compiled: &Compiled<'_>, row: usize, capacity: &mut [i64]) {
        let row = &compiled.rows.rows[row];
        if let Some(common) = self.rooms.get(&(row.template, row.instance_type)) {
            keep_least(capacity, common);
        }
    }
}

/// The least room of each type over its rows.
fn rooms(compiled: &Compiled<'_>, rows: &Bits) -> BTreeMap<usize, Box<[i64]>> {
    let mut result: BTreeMap<usize, Box<[i64]>> = BTreeMap::new();
    for row in rows.iter() {
        let room = compiled.rows.capacity(row);
        result
            .entry(compiled.rows.rows[row].instance_type)
            .and_modify(|least| keep_least(least, room))
            .or_insert_with(|| room.into());
    }
    result
}

/// Room, per axis, that a type has in common with as many others as minimum values need; all of its own room where there are too
/// few.
fn in_common(
    enough: &dyn Fn(&BTreeSet<usize>) -> bool,
    rooms: &BTreeMap<usize, Box<[i64]>>,
    of: usize,
) -> Box<[i64]> {
    let own = &rooms[&of];
    let mut others: Vec<usize> = rooms.keys().copied().filter(|other| *other != of).collect();
    others.sort_by_cached_key(|other| (std::cmp::Reverse(share(own, &rooms[other])), *other));
    let mut types = BTreeSet::from([of]);
    let mut common = own.clone();
    for other in others {
        if enough(&types) {
            break;
        }
        types.insert(other);
        keep_least(&mut common, &rooms[&other]);
    }
    if enough(&types) { common } else { own.clone() }
}

/// The share of `own` that is left beside a companion, on the axis that loses most; in thousandths.
fn share(own: &[i64], companion: &[i64]) -> i64 {
    let axes = own.iter().zip(companion).filter(|(own, _)| **own > 0);
    let of_axis = |(own, other): (&i64, &i64)| {
        let thousandths = i128::from(*other.min(own)) * 1000 / i128::from(*own);
        i64::try_from(thousandths).unwrap_or(0)
    };
    axes.map(of_axis).min().unwrap_or(1000)
}

fn keep_least(amounts: &mut [i64], others: &[i64]) {
    for (amount, other) in amounts.iter_mut().zip(others) {
        *amount = (*amount).min(*other);
    }
}
