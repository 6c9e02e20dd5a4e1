//! The sentences at the top of the page: who is cheapest, by how much, and whether costs may be compared at all.
//!
//! Whoever leaves fewer pods unschedulable comes first, then whoever costs less, then whoever was named first.

use crate::Contestant;
use crate::figures::{count, dollars, percent_in_words, span, times};

/// The conclusion of the comparison, in a sentence.
pub(crate) fn praise(contestants: &[Contestant]) -> String {
    let Some((reference, others)) = contestants.split_first() else {
        return "Nothing ran.".to_owned();
    };
    let best = contestants
        .iter()
        .min_by_key(|contestant| (contestant.card.unplaced_count, contestant.card.cost))
        .unwrap_or(reference);
    let mut praise = first_sentence(reference, others, best);
    if let Some(bound) = against_bound(best) {
        praise.push(' ');
        praise.push_str(&bound);
    }
    praise
}

fn first_sentence(reference: &Contestant, others: &[Contestant], best: &Contestant) -> String {
    let (name, cost) = (&best.name, dollars(best.card.cost));
    if others.is_empty() {
        return format!("{name} costs {cost} over {}.", span(best.card.lasted));
    }
    if std::ptr::eq(best, reference) {
        let second = others
            .iter()
            .min_by_key(|other| (other.card.unplaced_count, other.card.cost));
        let more = second.and_then(|second| {
            let more = percent_in_words(best.card.cost, second.card.cost)?;
            Some(format!("; {}, the next, costs {more}", second.name))
        });
        let is_cheapest = others.iter().all(|other| best.card.cost <= other.card.cost);
        let why = if is_cheapest {
            "costs least"
        } else {
            "leaves the fewest pods unschedulable"
        };
        return format!("{name} {why}: {cost}{}.", more.unwrap_or_default());
    }
    match percent_in_words(reference.card.cost, best.card.cost) {
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
