//! Exchanges one unit on a node for one that is worth more: what is left of a node's axes is rarely what the next unit asks for.

use super::fill::Filler;
use super::worth::Values;

/// Gains below this share of a unit's value are not worth an exchange.
const LEAST_GAIN: f64 = 1e-6;

/// Makes the best exchange of one unit for another; false when none gains.
pub(super) fn improve(filler: &mut Filler<'_, '_>, values: &Values) -> bool {
    let model = filler.model;
    let mut best: Option<(f64, usize, usize, usize)> = None;
    for (at, entry) in filler.node.load.iter().enumerate() {
        let value = values.of(model, entry.lot, entry.class);
        let given = &model.lots[entry.lot].request;
        let least = best.map_or(value * LEAST_GAIN, |(gain, ..)| gain);
        for &lot in filler.usable_lots() {
            // In most pairs the newcomer is worth less or does not fit; who may stand in is asked last.
            if values.most_of_lot(lot) - value <= least {
                continue;
            }
            let asked = &model.lots[lot].request;
            let room = filler.node.room.iter().zip(given).zip(asked);
            if room
                .into_iter()
                .any(|((have, given), ask)| have + given < *ask)
            {
                continue;
            }
            let Some(class) = filler.stand_in(entry.class, lot) else {
                continue;
            };
            let gain = values.of(model, lot, class) - value;
            if gain > least && best.is_none_or(|(most, ..)| gain > most) {
                best = Some((gain, at, lot, class));
            }
        }
    }
    let Some((_, at, lot, class)) = best else {
        return false;
    };
    let item = model
        .item_of(lot, class)
        .expect("a present class has an item in its lot");
    filler.replace(at, lot, class, item);
    true
}
