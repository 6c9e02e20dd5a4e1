//! Schedules of budgets: a text is refused with the field at fault, or it is a schedule whose hits come one after the other, and whose
//! windows stay as they are for as long as it says.

use plimsoll_base::cron::Schedule;
use plimsoll_base::time::{Span, Timestamp};

use crate::Draw;
use crate::acceptance::judge_words;

const ATOMS: [&str; 24] = [
    "*",
    "?",
    "0",
    "1",
    "5",
    "07",
    "23",
    "31",
    "59",
    "60",
    "jan",
    "DEC",
    "sun",
    "Sat",
    "-",
    "/",
    ",",
    "1-5",
    "10-2",
    "*/5",
    "3/7",
    "*/0",
    "999999999999",
    "é",
];
const MACROS: [&str; 4] = ["@daily", "@yearly", "@hourly", "@never"];

/// One text, and an instant.
pub(crate) fn run(draw: &mut Draw) {
    let text = text(draw);
    match Schedule::parse(&text) {
        Err(error) => judge_words(&error.to_string()),
        Ok(schedule) => {
            let at = instant(draw);
            check_hits(draw, &schedule, at);
            check_windows(draw, &schedule, at);
        }
    }
}

fn text(draw: &mut Draw) -> String {
    if draw.once_in(10) {
        return (*draw.pick(&MACROS)).to_owned();
    }
    let fields = if draw.once_in(20) { 4 } else { 5 };
    let field = |draw: &mut Draw| -> String {
        let plain = if draw.once_in(2) {
            1
        } else {
            1 + draw.below(3)
        };
        (0..plain).map(|_| *draw.pick(&ATOMS)).collect()
    };
    let fields: Vec<String> = (0..fields).map(|_| field(draw)).collect();
    fields.join(" ")
}

/// An instant within some centuries, or at the end of what there is.
fn instant(draw: &mut Draw) -> Timestamp {
    const CENTURIES: i64 = 400 * 366 * 86_400_000;
    let any = i64::try_from(draw.any() >> 1).unwrap_or_default();
    let millis = match draw.below(20) {
        0 => i64::MAX - any % 1_000,
        1 => i64::MIN + any % 1_000,
        2 => -(any % CENTURIES),
        _ => any % CENTURIES,
    };
    Timestamp::from_millis(millis)
}

/// The next hit is the next one from wherever one looks before it.
fn check_hits(draw: &mut Draw, schedule: &Schedule, at: Timestamp) {
    let Some(hit) = schedule.next_after(at) else {
        return;
    };
    assert!(hit > at, "{hit:?} is not after {at:?}");
    assert_eq!(hit.millis().rem_euclid(60_000), 0, "{hit:?}");
    let between = between(draw, at, hit);
    assert_eq!(schedule.next_after(between), Some(hit), "after {between:?}");
}

/// A window stays open or closed until the instant that says so.
fn check_windows(draw: &mut Draw, schedule: &Schedule, now: Timestamp) {
    let minutes = i64::from(draw.byte()) * i64::from(draw.byte());
    let length = Span::from_secs(minutes * 60);
    let is_open = schedule.is_open(length, now);
    let Some(until) = schedule.settled_until(length, now) else {
        return;
    };
    assert!(until > now, "{until:?} is not after {now:?}");
    let between = between(draw, now, until);
    assert_eq!(schedule.is_open(length, between), is_open, "at {between:?}");
}

/// An instant from `from` on and before `to`.
fn between(draw: &mut Draw, from: Timestamp, to: Timestamp) -> Timestamp {
    let apart = to.since(from).millis().max(1);
    let some = i64::try_from(draw.any() >> 1).unwrap_or_default() % apart;
    from + Span::from_millis(some)
}
