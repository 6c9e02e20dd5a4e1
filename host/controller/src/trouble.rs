//! Trouble with what is seen, told to people: once when it begins, and again while it lasts.
//!
//! Trouble with an object is told on the object. Trouble with a whole kind is told on the NodePools, whose nodes are not disrupted for it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use plimsoll_api::Kind;
use plimsoll_kube::event::Notice;
use plimsoll_kube::watch::{Failure, Unreadable};

/// A view that is stale for less is nobody's concern: writes of ours make it so for moments.
const PATIENCE: Duration = Duration::from_mins(1);
/// Time after which trouble that lasts is told again.
const AGAIN: Duration = Duration::from_mins(10);
/// The most pools on which the same is told.
const POOLS: usize = 10;

/// Trouble that was told, and when.
#[derive(Debug, Default)]
pub(crate) struct Troubles {
    told: BTreeMap<String, Instant>,
    stale_since: Option<Instant>,
}

impl Troubles {
    /// When there may be something to tell though nothing happens.
    pub(crate) fn next_wake(&self) -> Option<Instant> {
        let first = self.stale_since? + PATIENCE;
        let again = self.told.values().map(|at| *at + AGAIN).min();
        Some(again.map_or(first, |again| again.max(first)))
    }

    /// Objects that cannot be read.
    pub(crate) fn unreadable(&self, objects: Vec<Unreadable>) -> Vec<Notice> {
        let notice = |it: Unreadable| {
            let (kind, (namespace, name)) = (it.kind, it.key);
            let field = it.error.field;
            tracing::warn!(
                kind = kind.as_str(),
                namespace,
                name,
                "object passed over: {field}"
            );
            let message = format!("passed over, what was known of it before stays: {field}");
            Notice::warning(kind, &namespace, &name, "FailedValidation", message)
        };
        objects.into_iter().map(notice).collect()
    }

    /// Kinds that are stale, and what keeps kinds from being seen.
    pub(crate) fn of_view<'f>(
        &mut self,
        stale: &[Kind],
        failures: impl Iterator<Item = &'f Failure>,
        pools: &[&str],
        now: Instant,
    ) -> Vec<Notice> {
        let needs_people = failures.filter(|failure| failure.needs_people());
        let mut troubles: Vec<(&str, String)> = needs_people
            .map(|failure| (failure.reason(), failure.to_string()))
            .collect();
        if stale.is_empty() {
            self.stale_since = None;
        } else {
            let since = *self.stale_since.get_or_insert(now);
            if now >= since + PATIENCE {
                let kinds: Vec<&str> = stale.iter().map(|kind| kind.plural()).collect();
                let words = format!(
                    "no voluntary disruption and no expiry: what is seen of {} is older than a minute",
                    kinds.join(", ")
                );
                troubles.push(("DisruptionBlocked", words));
            }
        }
        self.told.retain(|_, at| now < *at + AGAIN);
        let mut notices = Vec::new();
        for (reason, words) in troubles {
            if self.told.contains_key(&words) {
                continue;
            }
            tracing::warn!(reason, "{words}");
            for pool in pools.iter().take(POOLS) {
                notices.push(Notice::warning(
                    Kind::NodePool,
                    "",
                    pool,
                    reason,
                    words.clone(),
                ));
            }
            self.told.insert(words, now);
        }
        notices
    }
}
