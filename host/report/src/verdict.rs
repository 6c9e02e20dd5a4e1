//! The sentences at the top of the page: who is cheapest, by how much, and whether costs may be compared at all.
//!
//! Runs in which no policy failed come first, then those that leave fewer pods unschedulable, then those that cost less, then those that were
//! named first.

use crate::Contestant;
use crate::figures::{count, dollars, percent_in_words, span, times};

/// The conclusion of the comparison, in a sentence.
pub(crate) fn praise(contestants: &[Contestant]) -> String {
    let Some((reference, others)) = contestants.split_first() else {
        return "Nothing ran.".to_owned();
    };
    let best = contestants.iter().min_by_key(|own| rank(own));
    let best = best.unwrap_or(reference);
    if best.card.faults > 0 && !others.is_empty() {
        return "Policies failed in every run: no cost is that of what they ask for.".to_owned();
    }
    let mut praise = first_sentence(reference, others, best);
    if let Some(bound) = against_bound(best) {
        praise.push(' ');
        praise.push_str(&bound);
    }
    praise
}

/// Place among the runs, the best first.
fn rank(contestant: &Contestant) -> (bool, u32, i64) {
    let card = &contestant.card;
    (card.faults > 0, card.unplaced_count, card.cost)
}

fn first_sentence(reference: &Contestant, others: &[Contestant], best: &Contestant) -> String {
    let (name, cost) = (&best.name, dollars(best.card.cost));
    if others.is_empty() {
        return format!("{name} costs {cost} over {}.", span(best.card.lasted));
    }
    if std::ptr::eq(best, reference) {
        let sound: Vec<&Contestant> = others.iter().filter(|own| own.card.faults == 0).collect();
        let second = sound.iter().min_by_key(|own| rank(own));
        let more = second.and_then(|second| {
            let more = percent_in_words(best.card.cost, second.card.cost)?;
            Some(format!("; {}, the next, costs {more}", second.name))
        });
        let is_cheapest = sound.iter().all(|other| best.card.cost <= other.card.cost);
        let why = if is_cheapest {
            "costs least"
        } else {
            "leaves the fewest pods unschedulable"
        };
        return format!("{name} {why}: {cost}{}.", more.unwrap_or_default());
    }
    let less = percent_in_words(reference.card.cost, best.card.cost);
    match less.filter(|_| reference.card.faults == 0) {
        Some(less) => format!("{name} costs {cost}, {less} than {}.", reference.name)
            .replace("as much than", "as much as"),
        None => format!("{name} costs {cost}."),
    }
}

fn against_bound(best: &Contestant) -> Option<String> {
    let times = times(best.card.cost, best.card.bound?)?;
    Some(format!(
        "That is {times} the LP bound, below which no fleet at list prices can cost."
    ))
}

/// A reason why costs should not be compared, or only with care; `None` where there is none.
pub(crate) fn reservation(contestants: &[Contestant]) -> Option<String> {
    let said = [failed(contestants), left_over(contestants)];
    let said: Vec<String> = said.into_iter().flatten().collect();
    (!said.is_empty()).then(|| said.join(" "))
}

/// The runs in which policies failed; `None` where there are none.
fn failed(contestants: &[Contestant]) -> Option<String> {
    let failed = contestants.iter().filter(|own| own.card.faults > 0);
    let each = failed.map(|own| format!("{} {}", own.name, count(own.card.faults)));
    let each: Vec<String> = each.collect();
    (!each.is_empty()).then(|| {
        format!(
            "Policies failed, so that run's cost is not that of what they ask for; faults: {}.",
            each.join(", ")
        )
    })
}

/// Pods that stayed unschedulable; `None` where none did.
fn left_over(contestants: &[Contestant]) -> Option<String> {
    let left = |contestant: &Contestant| contestant.card.unplaced_count;
    let first = left(contestants.first()?);
    if contestants.iter().all(|other| left(other) == first) {
        return (first > 0).then(|| {
            let pods = if first == 1 { "pod" } else { "pods" };
            let whose = if contestants.len() == 1 {
                ""
            } else {
                " under each"
            };
            format!("{} {pods} stayed unschedulable{whose}.", count(first))
        });
    }
    let each: Vec<String> = contestants
        .iter()
        .map(|contestant| format!("{} {}", contestant.name, count(left(contestant))))
        .collect();
    Some(format!(
        "The numbers of unschedulable pods differ, so costs are not for the same work: {}.",
        each.join(", ")
    ))
}
