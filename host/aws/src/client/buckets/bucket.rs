//! A bucket of tokens: how many calls may be made now, and how long the next one has to wait.
//!
//! Times are handed in and waits are handed out. All numbers are whole, so that a wait that was said is neither too short nor too long.

use std::time::{Duration, Instant};

/// Parts of a token: a refill of a thousandth of a token a second gives one of them in a nanosecond.
const TOKEN: u64 = 1_000_000_000_000;
/// The slowest that a bucket refills, in thousandths of a token a second: as slow as the adaptive mode of the SDK gets.
const SLOWEST: u64 = 500;
/// Answers after which a bucket that was slowed down once refills as before; however slow it got, twice as many are enough.
const RECOVERY: u64 = 20;

/// Refill and size of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rate {
    /// Tokens that come back in a second, at least one.
    pub(super) per_second: u32,
    /// Tokens of a full bucket, at least one.
    pub(super) burst: u32,
}

impl Rate {
    /// Thousandths of a token that come back in a second.
    fn refill(self) -> u64 {
        u64::from(self.per_second.max(1)) * 1_000
    }
}

/// A bucket.
#[derive(Clone, Debug)]
pub(super) struct Bucket {
    rate: Rate,
    /// Thousandths of a token that come back in a second now: fewer than the rate says after EC2 has throttled.
    refill: u64,
    /// Parts of tokens that were there at an instant.
    left: u64,
    at: Instant,
    /// When it was slowed down last.
    slowed: Option<Instant>,
}

impl Bucket {
    /// A full one.
    pub(super) fn full(rate: Rate, now: Instant) -> Self {
        Self {
            rate,
            refill: rate.refill(),
            left: u64::from(rate.burst) * TOKEN,
            at: now,
            slowed: None,
        }
    }

    fn fill(&mut self, now: Instant) {
        let passed = now.saturating_duration_since(self.at).as_nanos();
        let passed = u64::try_from(passed).unwrap_or(u64::MAX);
        let full = u64::from(self.rate.burst) * TOKEN;
        let back = passed.saturating_mul(self.refill);
        self.left = self.left.saturating_add(back).min(full);
        self.at = self.at.max(now);
    }

    /// Takes tokens, or says after how long they will be there. Of more than it holds it asks for all that it holds.
    pub(super) fn take(&mut self, tokens: u32, now: Instant) -> Result<(), Duration> {
        self.fill(now);
        let wanted = u64::from(tokens.min(self.rate.burst)) * TOKEN;
        match wanted.checked_sub(self.left) {
            None | Some(0) => {
                self.left -= wanted;
                Ok(())
            }
            Some(missing) => Err(Duration::from_nanos(missing.div_ceil(self.refill))),
        }
    }

    /// Whole tokens that are there.
    pub(super) fn whole(&mut self, now: Instant) -> u32 {
        self.fill(now);
        u32::try_from(self.left / TOKEN).unwrap_or(u32::MAX)
    }

    /// EC2 has throttled a call: its own bucket is empty, whatever emptied it. Each time ours refills half as fast, which makes the waits
    /// between tries twice as long. A call that was sent before that was known says nothing new.
    pub(super) fn throttled(&mut self, sent: Instant, now: Instant) {
        if self.slowed.is_some_and(|slowed| sent < slowed) {
            return;
        }
        self.fill(now);
        self.left = 0;
        self.refill = (self.refill / 2).max(SLOWEST).min(self.rate.refill());
        self.slowed = Some(now);
    }

    /// EC2 has answered a call: it may be called a little more often again.
    pub(super) fn answered(&mut self, now: Instant) {
        let full = self.rate.refill();
        if self.refill < full {
            self.fill(now);
            self.refill = (self.refill + full.div_ceil(2 * RECOVERY)).min(full);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const RATE: Rate = Rate {
        per_second: 20,
        burst: 90,
    };
    const NANO: Duration = Duration::from_nanos(1);

    fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn a_throttled_call_empties_the_bucket_and_halves_what_comes_back() {
        let before = Instant::now();
        let now = before + NANO;
        let mut bucket = Bucket::full(RATE, now);
        bucket.throttled(now, now);
        assert_eq!(bucket.take(1, now), Err(millis(100)), "ten a second");
        // Another one that was sent before says the same.
        bucket.throttled(before, now + millis(1));
        assert_eq!(bucket.take(1, now + millis(100)), Ok(()));
        bucket.throttled(now + millis(100), now + millis(100));
        assert_eq!(bucket.take(1, now + millis(100)), Err(millis(200)));
        for _ in 0..20 {
            bucket.throttled(now + millis(200), now + millis(200));
        }
        assert_eq!(
            bucket.take(1, now + millis(200)),
            Err(millis(2_000)),
            "never less than half a token a second"
        );
    }

    #[test]
    fn twenty_answers_make_up_for_one_that_was_throttled() {
        let now = Instant::now();
        let mut bucket = Bucket::full(RATE, now);
        bucket.throttled(now, now);
        for _ in 0..19 {
            bucket.answered(now);
        }
        assert!(bucket.take(1, now) > Err(millis(50)));
        bucket.answered(now);
        assert_eq!(bucket.take(1, now), Err(millis(50)));
        bucket.answered(now);
        assert_eq!(bucket.take(1, now), Err(millis(50)), "never faster");
    }

    #[test]
    fn more_than_it_holds_waits_for_all_of_it() {
        let now = Instant::now();
        let mut bucket = Bucket::full(RATE, now);
        assert_eq!(bucket.take(1_000, now), Ok(()));
        assert_eq!(bucket.take(1_000, now), Err(millis(4_500)));
    }

    proptest! {
        /// The law of EC2's buckets: in no span of time more than a full bucket and what came back in it.
        #[test]
        fn no_span_has_more_tokens_than_a_full_bucket_and_what_came_back(
            (per_second, burst) in (1_u32..30, 1_u32..120),
            asked in proptest::collection::vec((0_u64..400, 1_u32..40), 1..60),
        ) {
            let rate = Rate { per_second, burst };
            let start = Instant::now();
            let mut bucket = Bucket::full(rate, start);
            let (mut at, mut taken) = (start, Vec::new());
            for (pause, tokens) in asked {
                at += millis(pause);
                if bucket.take(tokens, at).is_ok() {
                    taken.push((at, u64::from(tokens.min(burst))));
                }
            }
            for (first, (begin, _)) in taken.iter().enumerate() {
                let mut sum = 0;
                for (end, tokens) in &taken[first..] {
                    sum += tokens;
                    let passed = u64::try_from((*end - *begin).as_nanos()).expect("short");
                    let most = u64::from(burst) * 1_000_000_000 + passed * u64::from(per_second);
                    prop_assert!(sum * 1_000_000_000 <= most, "{sum} tokens in {:?}", *end - *begin);
                }
            }
        }

        #[test]
        fn a_wait_is_as_long_as_it_must_be_and_no_longer(
            (per_second, burst) in (1_u32..30, 1_u32..120),
            asked in proptest::collection::vec((0_u64..400, 1_u32..40, 0_u8..10), 1..60),
        ) {
            let start = Instant::now();
            let mut bucket = Bucket::full(Rate { per_second, burst }, start);
            let mut at = start;
            for (pause, tokens, said) in asked {
                at += millis(pause);
                match said {
                    0 => bucket.throttled(at, at),
                    1 => bucket.answered(at),
                    _ => {}
                }
                if let Err(wait) = bucket.take(tokens, at) {
                    prop_assert!(bucket.clone().take(tokens, at + wait.saturating_sub(NANO)).is_err());
                    prop_assert_eq!(bucket.take(tokens, at + wait), Ok(()));
                    at += wait;
                }
            }
        }

        #[test]
        fn throttling_gives_no_tokens(
            asked in proptest::collection::vec((0_u64..400, any::<bool>()), 1..60),
        ) {
            let start = Instant::now();
            let (mut at, mut slowed, mut free) = (start, Bucket::full(RATE, start), Bucket::full(RATE, start));
            for (pause, is_throttled) in asked {
                at += millis(pause);
                if is_throttled {
                    slowed.throttled(at, at);
                } else {
                    slowed.answered(at);
                }
                prop_assert!(slowed.whole(at) <= free.whole(at));
            }
        }
    }
}
