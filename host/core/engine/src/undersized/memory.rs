//! Undersized launches as their pool remembers them for the next process, in an annotation.
//!
//! ```text
//! DIGEST RELAUNCHED open|settled SECONDS RESOURCE HAS COMPUTED SHORT; ...
//! ```
//!
//! What cannot be read is skipped: a launch is made once more then, which costs one node that is empty.

use std::sync::Arc;

use plimsoll_base::ids::PoolName;
use plimsoll_base::resources::ResourceName;
use plimsoll_base::time::Timestamp;
use plimsoll_model::UNDERSIZED_ANNOTATION;

use super::{Launch, Miss, REMEMBERED, RelaunchBackOff, UndersizedNodes};
use crate::Engine;

/// The most launches that a pool remembers, the latest: annotations are no place for many.
const MOST: usize = 50;

impl UndersizedNodes {
    /// Words for a pool to say; empty where there is nothing to remember.
    pub(crate) fn text(&self, pool: &PoolName) -> Arc<str> {
        let own = self.back_off.iter().filter(|(key, _)| key.pool == *pool);
        let mut latest: Vec<(&Launch, &RelaunchBackOff)> = own.collect();
        latest.sort_by_key(|(key, back_off)| (std::cmp::Reverse(back_off.at), key.digest));
        latest.truncate(MOST);
        let records: Vec<String> = latest
            .into_iter()
            .map(|(key, back_off)| record(key.digest, back_off))
            .collect();
        Arc::from(records.join("; "))
    }

    /// Takes over what a pool says, as far as it is not forgotten by now.
    fn recall(&mut self, pool: &PoolName, text: &str, now: Timestamp) {
        let records = text.split(';').filter_map(parse);
        let known = records.filter(|(_, own)| own.at <= now && own.at + REMEMBERED > now);
        let own = known.map(|(digest, back_off)| {
            let pool = pool.clone();
            (Launch { pool, digest }, back_off)
        });
        self.back_off.extend(own);
    }
}

fn record(digest: u64, back_off: &RelaunchBackOff) -> String {
    let RelaunchBackOff {
        relaunched,
        open,
        misses,
        at,
    } = back_off;
    let state = if *open { "open" } else { "settled" };
    let Miss {
        resource,
        has,
        computed,
        short,
    } = misses;
    let seconds = at.millis() / 1000;
    format!("{digest:016x} {relaunched} {state} {seconds} {resource} {has} {computed} {short}")
}

/// Reads one record; `None` where it is none.
fn parse(text: &str) -> Option<(u64, RelaunchBackOff)> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let [
        digest,
        relaunched,
        state,
        seconds,
        resource,
        has,
        computed,
        short,
    ] = words[..]
    else {
        return None;
    };
    let back_off = RelaunchBackOff {
        relaunched: relaunched.parse().ok()?,
        open: match state {
            "open" => true,
            "settled" => false,
            _ => return None,
        },
        misses: Miss {
            resource: ResourceName::from(resource),
            has: has.parse().ok()?,
            computed: computed.parse().ok()?,
            short: short.parse().ok()?,
        },
        at: Timestamp::from_millis(seconds.parse::<i64>().ok()?.checked_mul(1000)?),
    };
    Some((u64::from_str_radix(digest, 16).ok()?, back_off))
}

impl Engine {
    /// Takes over what the pools remember, after a restart.
    pub(crate) fn recall_undersized(&mut self, now: Timestamp) {
        for pool in self.cluster.pools.objects() {
            let memory = self.pool_memory(&pool.name);
            if let Some(text) = memory
                .and_then(|own| own.get(UNDERSIZED_ANNOTATION))
                .cloned()
            {
                self.undersized.recall(&pool.name, &text, now);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = "00000000000000ff 2 open 70 memory 900 1000 44";

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(seconds * 1000)
    }

    fn recalled(text: &str, now: Timestamp) -> String {
        let pool = PoolName::from("general");
        let mut own = UndersizedNodes::default();
        own.recall(&pool, text, now);
        assert_eq!(&*own.text(&PoolName::from("other")), "");
        own.text(&pool).to_string()
    }

    #[test]
    fn what_is_written_is_read_as_long_as_it_counts() {
        let other = "0000000000000001 0 settled 80 example.com/gpu 0 1 1";
        let both = format!("{other}; {SMALL}");
        assert_eq!(recalled(&both, at(100)), both);
        assert_eq!(
            recalled(&format!("{SMALL};{other}"), at(100)),
            both,
            "the latest first"
        );
        assert_eq!(recalled(SMALL, at(70) + REMEMBERED), "");
        assert_eq!(recalled(SMALL, at(69)), "", "nobody knows the future");
    }

    #[test]
    fn what_cannot_be_read_is_passed_over() {
        for text in [
            "",
            ";;",
            "ff 2 open",
            "ff 2 ajar 70 memory 900 1000 44",
            "xyz 2 open 70 memory 900 1000 44",
            "ff -2 open 70 memory 900 1000 44",
            "ff 2 open 9223372036854775807 memory 900 1000 44",
        ] {
            assert_eq!(recalled(text, at(100)), "", "{text}");
            assert_eq!(
                recalled(&format!("{text}; {SMALL}"), at(100)),
                SMALL,
                "{text}"
            );
        }
    }

    #[test]
    fn no_more_are_remembered_than_an_annotation_is_a_place_for() {
        let record = |number: i64| format!("{number:016x} 1 open {number} cpu 1 2 1");
        let many: Vec<String> = (0..80).map(record).collect();
        let kept: Vec<String> = (30..80).rev().map(record).collect();
        assert_eq!(recalled(&many.join(";"), at(100)), kept.join("; "));
    }
}
