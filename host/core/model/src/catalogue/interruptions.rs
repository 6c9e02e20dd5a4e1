//! Spot that the cloud took back, against how long nodes of it have run.
//!
//! An offering's figure is the number of its nodes that were taken back within the last seven days, divided by the node-days that
//! it ran in that time. Less than one node-day counts as one, so that a single node of which the cloud thought better after ten
//! minutes does not stand for a hundred a day. Only what this process has seen counts, nodes that were there when it began from
//! then on: the figure is a hint for policies, and is held in memory alone. A recommendation to rebalance is no interruption.

use std::collections::{BTreeMap, VecDeque};

use plimsoll_base::ids::ClaimName;
use plimsoll_base::time::{Span, Timestamp};

use super::OfferingKey;

/// What lies further back does not count.
const WEEK: Span = Span::from_secs(7 * 24 * 3600);
/// Figures are made anew so long after they were made, while there are any.
const RECOUNTED: Span = Span::from_secs(3600);
/// The most ended nodes that are remembered of an offering; the oldest go first.
const MOST: usize = 10_000;

const MINUTES_A_DAY: i64 = 24 * 60;

/// Interruptions per node and day that were seen of spot offerings.
#[derive(Clone, Debug, Default)]
pub(super) struct Interruptions {
    /// Nodes that run, with when they were first seen to.
    running: BTreeMap<ClaimName, (OfferingKey, Timestamp)>,
    /// From when to when nodes ran that do so no more, in the order in which they ended.
    ended: BTreeMap<OfferingKey, VecDeque<(Timestamp, Timestamp)>>,
    /// When nodes were taken back, oldest first.
    reclaimed: BTreeMap<OfferingKey, VecDeque<Timestamp>>,
    figures: BTreeMap<OfferingKey, f32>,
    counted: Option<Timestamp>,
}

impl Interruptions {
    /// A node of a claim runs, and is of a spot offering.
    pub(super) fn begins(&mut self, claim: &ClaimName, offering: OfferingKey, now: Timestamp) {
        let running = self.running.entry(claim.clone());
        running.or_insert((offering, now));
    }

    /// The node of a claim is no more.
    pub(super) fn ends(&mut self, claim: &ClaimName, now: Timestamp) {
        let Some((offering, since)) = self.running.remove(claim) else {
            return;
        };
        let ended = self.ended.entry(offering).or_default();
        let is_past =
            |stay: Option<&(Timestamp, Timestamp)>| stay.is_some_and(|stay| stay.1 + WEEK <= now);
        while ended.len() >= MOST || is_past(ended.front()) {
            ended.pop_front();
        }
        ended.push_back((since, now));
    }

    /// The cloud takes a node of an offering back.
    pub(super) fn reclaimed(&mut self, offering: &OfferingKey, now: Timestamp) {
        let reclaimed = self.reclaimed.entry(offering.clone()).or_default();
        reclaimed.push_back(now);
        let figure = self.figure(offering, now);
        self.figures.insert(offering.clone(), figure);
        self.counted.get_or_insert(now);
    }

    /// Makes the figures anew where it is time.
    pub(super) fn recount(&mut self, now: Timestamp) {
        if self.next_change().is_none_or(|at| at > now) {
            return;
        }
        self.reclaimed.retain(|_, times| {
            times.retain(|at| *at + WEEK > now);
            !times.is_empty()
        });
        let figures = self.reclaimed.keys();
        self.figures = figures
            .map(|offering| (offering.clone(), self.figure(offering, now)))
            .collect();
        self.counted = (!self.figures.is_empty()).then_some(now);
    }

    /// When figures are to be made anew; `None` where there are none.
    pub(super) fn next_change(&self) -> Option<Timestamp> {
        self.counted.map(|at| at + RECOUNTED)
    }

    /// Offerings of which some was taken back.
    pub(super) fn offerings(&self) -> impl Iterator<Item = &OfferingKey> {
        self.figures.keys()
    }

    /// Interruptions per node and day; `None` where none were seen.
    pub(super) fn seen(&self, offering: &OfferingKey) -> Option<f32> {
        self.figures.get(offering).copied()
    }

    fn figure(&self, offering: &OfferingKey, now: Timestamp) -> f32 {
        let minutes = |since: Timestamp, until: Timestamp| {
            let begun = since.max(now - WEEK);
            until.since(begun).millis().max(0) / 60_000
        };
        let of_it = self.running.values();
        let of_it = of_it.filter(|(own, _)| own == offering);
        let running: i64 = of_it.map(|(_, since)| minutes(*since, now)).sum();
        let ended = self.ended.get(offering).into_iter().flatten();
        let ended: i64 = ended.map(|(since, until)| minutes(*since, *until)).sum();
        let ran = running.saturating_add(ended).max(MINUTES_A_DAY);
        let times = self.reclaimed.get(offering).map_or(0, VecDeque::len);
        let times = i64::try_from(times).unwrap_or(i64::MAX);
        let thousandths = times.saturating_mul(1000 * MINUTES_A_DAY) / ran;
        f32::from(u16::try_from(thousandths).unwrap_or(u16::MAX)) / 1000.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::CapacityType;

    fn spot(zone: &str) -> OfferingKey {
        OfferingKey {
            instance_type: "small".into(),
            zone: zone.into(),
            capacity_type: CapacityType::Spot,
            reservation: None,
        }
    }

    fn hour(hours: i64) -> Timestamp {
        Timestamp::from_millis(hours * 3_600_000)
    }

    /// In thousandths.
    fn seen(interruptions: &Interruptions, zone: &str) -> Option<String> {
        let seen = interruptions.seen(&spot(zone));
        seen.map(|seen| format!("{seen:.3}"))
    }

    #[test]
    fn nodes_that_were_taken_back_are_counted_per_node_and_day() {
        let mut own = Interruptions::default();
        for name in ["a", "b", "c", "d"] {
            own.begins(&name.into(), spot("zone-a"), hour(0));
        }
        own.begins(&"e".into(), spot("zone-b"), hour(0));
        // Four nodes of two days each.
        own.reclaimed(&spot("zone-a"), hour(48));
        assert_eq!(seen(&own, "zone-a").as_deref(), Some("0.125"));
        assert_eq!(seen(&own, "zone-b"), None);
        // What has ended counts as long as it ran: 3 nodes of four days, and one of two.
        own.ends(&"a".into(), hour(48));
        own.recount(hour(96));
        assert_eq!(seen(&own, "zone-a").as_deref(), Some("0.071"));
    }

    #[test]
    fn a_node_that_was_taken_back_at_once_is_not_a_hundred_a_day() {
        let mut own = Interruptions::default();
        own.begins(&"a".into(), spot("zone-a"), hour(0));
        own.reclaimed(&spot("zone-a"), hour(1));
        assert_eq!(seen(&own, "zone-a").as_deref(), Some("1.000"));
    }

    #[test]
    fn what_lies_a_week_back_does_not_count() {
        let mut own = Interruptions::default();
        let week = 7 * 24;
        own.begins(&"a".into(), spot("zone-a"), hour(-10 * week));
        own.begins(&"b".into(), spot("zone-a"), hour(-10 * week));
        own.reclaimed(&spot("zone-a"), hour(0));
        assert_eq!(seen(&own, "zone-a").as_deref(), Some("0.071"), "1 of 14");
        own.ends(&"b".into(), hour(0));
        own.recount(hour(week - 1));
        assert_eq!(
            seen(&own, "zone-a").as_deref(),
            Some("0.142"),
            "1 of 7 and an hour"
        );
        own.recount(hour(week));
        assert_eq!(seen(&own, "zone-a"), None);
        assert_eq!(own.next_change(), None);
    }
}
