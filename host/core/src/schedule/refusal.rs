//! Why a pod found no place: per pool, the first rule that refused, in words.
//!
//! The text names what was asked and the nearest thing there is; counts are over the offerings that the pool may buy.

use super::axes::fits;
use super::candidate::Candidate;
use super::compile::{Compiled, PodGroup};
use crate::bits::Bits;
use crate::model::first_untolerated;
use crate::plan::{PoolRefusal, Refusal};
use crate::requirement::Undefined;
use crate::resources::{ResourceName, Resources};

/// Explains why a pod of the batch, by position, was left without a place.
pub(super) fn refusal(compiled: &Compiled<'_>, _candidate: &Candidate, pod: usize) -> Refusal {
    let group = &compiled.groups[compiled.pods[pod].group];
    let reasons = (0..compiled.templates.len()).map(|template| PoolRefusal {
        pool: compiled.templates[template].pool.name.clone(),
        reason: pool_reason(compiled, group, template),
    });
    Refusal::Unschedulable(reasons.collect())
}

fn pool_reason(compiled: &Compiled<'_>, group: &PodGroup, number: usize) -> String {
    let template = &compiled.templates[number];
    let level = group.levels.last().map_or(0, |_| group.levels.len() - 1);
    let level = &group.levels[level];
    if let Some(taint) = first_untolerated(template.taints(), &level.tolerations) {
        return format!("tainted {taint}, not tolerated");
    }
    let known = |key: &crate::labels::LabelKey| compiled.snapshot.catalogue.is_well_known(key);
    if let Err(incompatible) = template
        .requirements
        .accepts(&level.requirements, Undefined::Allowed(&known))
    {
        return format!("pool {incompatible}");
    }
    let own = &compiled.rows.of_template[number];
    if own.is_empty() {
        let limited = template
            .remaining
            .as_ref()
            .filter(|left| left.iter().any(|(_, amount)| amount <= 0));
        return match limited {
            Some(left) => format!("limits are used up: {left} left"),
            None => "nothing that its requirements allow can be bought".to_owned(),
        };
    }
    let mut reasons = Vec::new();
    for (name, short) in short_of(compiled, group, own) {
        reasons.push(short_sentence(compiled, group, own, &name, short));
    }
    let alone = level
        .rows
        .iter()
        .fold(Bits::none(compiled.rows.len()), |mut all, rows| {
            all.join(rows);
            all
        });
    let mut usable = alone.and(own);
    for row in own
        .iter()
        .filter(|row| !fits(&group.request, compiled.rows.capacity(*row)))
    {
        usable.remove(row);
    }
    if usable.is_empty() {
        let roomy = own
            .iter()
            .filter(|row| fits(&group.request, compiled.rows.capacity(*row)))
            .count();
        if roomy > 0 {
            reasons.push(format!(
                "{roomy} large enough but not what the pod or its volumes ask for: {}",
                level.requirements
            ));
        }
        return format!("{} offerings: {}", own.len(), reasons.join("; "));
    }
    if template.remaining.is_some() {
        return format!(
            "{} offerings could hold it, but its limits leave no room",
            usable.len()
        );
    }
    format!(
        "{} offerings could hold it, but no zone or host is left that its spread or affinity allows",
        usable.len()
    )
}

/// Resources that rows lack, with the number of rows that lack each first.
fn short_of(compiled: &Compiled<'_>, group: &PodGroup, rows: &Bits) -> Vec<(ResourceName, usize)> {
    let mut counts = vec![0; compiled.axes.len()];
    for row in rows.iter() {
        let room = compiled.rows.capacity(row);
        if let Some(axis) = group
            .request
            .iter()
            .zip(room)
            .position(|(request, room)| request > room)
        {
            counts[axis] += 1;
        }
    }
    let named = counts
        .into_iter()
        .enumerate()
        .filter(|(_, count)| *count > 0);
    named
        .map(|(axis, count)| (compiled.axes.name(axis).clone(), count))
        .collect()
}

fn short_sentence(
    compiled: &Compiled<'_>,
    group: &PodGroup,
    rows: &Bits,
    name: &ResourceName,
    count: usize,
) -> String {
    let axis = (0..compiled.axes.len())
        .find(|axis| compiled.axes.name(*axis) == name)
        .unwrap_or(0);
    let best = rows
        .iter()
        .max_by_key(|row| (compiled.rows.capacity(*row)[axis], std::cmp::Reverse(*row)));
    let asked = Resources::new().with(name.clone(), group.request[axis]);
    let most = best.map_or(0, |row| compiled.rows.capacity(row)[axis]);
    if most == 0 {
        return format!("{count} too little {name} (asks {asked}, no allowed type offers {name})");
    }
    let most = Resources::new().with(name.clone(), most);
    let best = best.map_or("", |row| {
        compiled
            .rows
            .offering(compiled.snapshot, row)
            .0
            .name
            .as_str()
    });
    format!("{count} too little {name} (asks {asked}, most after daemons is {most}, {best})")
}
