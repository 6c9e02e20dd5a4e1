//! Comparison of a policy in shadow with what decides, as its status, its events and the metrics have it.

use plimsoll_api::kinds::ShadowComparison;
use plimsoll_base::event_reason::EventReason;
use plimsoll_base::units::PricePerHour;
use plimsoll_policy::ShadowLog;

use super::events::Said;

/// Longest text of a difference or a failure, in bytes.
const WORDS: usize = 2048;

/// The comparison of a status; `None` before the first decision.
pub(super) fn status(log: &ShadowLog) -> Option<ShadowComparison> {
    if log.decisions == 0 && log.passed_over == 0 && log.hung == 0 {
        return None;
    }
    let last = log.differing.back();
    let last = last.map(|own| format!("decided: {}; shadow: {}", own.active, own.shadow));
    Some(ShadowComparison {
        decisions: count(log.decisions),
        differing: count(log.differ),
        skipped: count(log.passed_over),
        agreement_percent: agreement(log),
        regret_dollars_per_hour: format!("{:.4}", log.regret.dollars()),
        more_pending_pods: log.waiting,
        extra_consolidations: count(log.extra_moves),
        missing_consolidations: count(log.missing_moves),
        wider_budgets: count(log.wider),
        narrower_budgets: count(log.narrower),
        last_difference: last.map(cut),
        last_fault: log.last_fault.clone().map(cut),
    })
}

/// Events that tell what has come of a comparison since an earlier look: of the first decision that differs, of each power of ten of decisions,
/// compared or out of time, and of the first failure.
pub(super) fn news(before: Option<&ShadowLog>, now: &ShadowLog) -> Vec<Said> {
    let none = ShadowLog::default();
    // Another module starts with counts of its own.
    let is_earlier = |own: &&ShadowLog| own.decisions <= now.decisions && own.hung <= now.hung;
    let before = before.filter(is_earlier);
    let before = before.unwrap_or(&none);
    let mut said = Vec::new();
    if now.faults > 0 && before.faults == 0 {
        let fault = now.last_fault.as_deref().unwrap_or_default();
        said.push(Said {
            reason: EventReason::PolicyFailed,
            message: format!("shadow call failed (decisions are not affected): {fault}"),
        });
    }
    let is_first = now.differ > 0 && before.differ == 0;
    let grows = |count: fn(&ShadowLog) -> u64| magnitude(count(now)) > magnitude(count(before));
    if is_first || grows(|log| log.decisions) || grows(|log| log.hung) {
        said.push(Said {
            reason: EventReason::ShadowCompared,
            message: words(now),
        });
    }
    said
}

/// Digits of a number, 0 of none.
fn magnitude(decisions: u64) -> u32 {
    decisions.checked_ilog10().map_or(0, |digits| digits + 1)
}

fn words(log: &ShadowLog) -> String {
    let mut words = format!(
        "{} of {} decisions differ from the active ones",
        log.differ, log.decisions
    );
    if let Some(percent) = agreement(log) {
        words = format!("{words}; {percent} % of choices agree");
    }
    if log.regret != PricePerHour::ZERO {
        words = format!("{words}; costs {:+}", log.regret);
    }
    for (number, what) in [
        (log.extra_moves, "more consolidations"),
        (log.missing_moves, "fewer consolidations"),
        (log.wider, "wider budgets"),
        (log.narrower, "narrower budgets"),
        (log.faults, "faults"),
        (log.passed_over, "decisions skipped"),
        (
            log.hung,
            "decisions not compared, since a call ran out of time",
        ),
    ] {
        if number > 0 {
            words = format!("{words}; {number} {what}");
        }
    }
    if log.waiting != 0 {
        words = format!("{words}; {:+} pods pending", log.waiting);
    }
    if let Some(last) = log.differing.back() {
        words = format!(
            "{words}; last, decided: {}; shadow: {}",
            last.active, last.shadow
        );
    }
    words
}

fn agreement(log: &ShadowLog) -> Option<i64> {
    Some(count(log.agreement()? / 10))
}

fn cut(mut text: String) -> String {
    let end = text.floor_char_boundary(WORDS);
    text.truncate(end);
    text
}

fn count(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use plimsoll_policy::Differing;

    use super::*;

    fn log(decisions: u64, differ: u64) -> ShadowLog {
        let regret = PricePerHour::from_nanos(-120_000_000);
        let differing = (0..differ).map(|number| Differing {
            number,
            unix_s: 7,
            active: "1 large".to_owned(),
            shadow: "2 small".to_owned(),
            regret,
        });
        ShadowLog {
            decisions,
            differ,
            compared: decisions,
            agree: decisions - differ,
            regret: if differ > 0 {
                regret
            } else {
                PricePerHour::ZERO
            },
            differing: differing.collect(),
            ..ShadowLog::default()
        }
    }

    fn told(before: Option<&ShadowLog>, now: &ShadowLog) -> Vec<String> {
        let said = news(before, now).into_iter();
        said.map(|said| format!("{}: {}", said.reason, said.message))
            .collect()
    }

    #[test]
    fn a_comparison_is_an_event_at_first_where_it_first_differs_and_at_powers_of_ten() {
        let (first, second) = (log(1, 0), log(9, 0));
        assert!(told(None, &ShadowLog::default()).is_empty());
        assert_eq!(
            told(None, &first),
            [
                "ShadowCompared: 0 of 1 decisions differ from the active ones; 100 % of choices agree"
            ]
        );
        assert!(told(Some(&first), &second).is_empty());
        assert_eq!(
            told(Some(&second), &log(9, 1)),
            [
                "ShadowCompared: 1 of 9 decisions differ from the active ones; 88 % of choices agree; costs -$0.1200/h; last, decided: 1 large; shadow: 2 small"
            ]
        );
        assert!(told(Some(&log(9, 1)), &log(9, 2)).is_empty());
        assert_eq!(told(Some(&log(9, 2)), &log(10, 2)).len(), 1);
        // Another module starts with counts of its own.
        assert_eq!(told(Some(&log(200, 2)), &first).len(), 1);
    }

    #[test]
    fn the_first_failure_in_shadow_is_an_event() {
        let now = ShadowLog {
            faults: 2,
            last_fault: Some("it trapped".to_owned()),
            ..log(1, 0)
        };
        let said = told(Some(&log(1, 0)), &now);
        assert_eq!(
            said,
            ["PolicyFailed: shadow call failed (decisions are not affected): it trapped"]
        );
        assert!(told(Some(&now), &now).is_empty());
    }

    #[test]
    fn a_shadow_that_always_runs_out_of_time_is_seen() {
        let hung = |hung| ShadowLog {
            hung,
            ..ShadowLog::default()
        };
        let said = status(&hung(1)).expect("a comparison");
        assert_eq!((said.decisions, said.agreement_percent), (0, None));
        assert_eq!(
            told(None, &hung(3)),
            [
                "ShadowCompared: 0 of 0 decisions differ from the active ones; 3 decisions not compared, since a call ran out of time"
            ]
        );
        assert!(told(Some(&hung(3)), &hung(4)).is_empty());
        assert_eq!(told(Some(&hung(9)), &hung(10)).len(), 1);
        assert_eq!(told(Some(&hung(9)), &hung(1)).len(), 1, "another module");
    }

    #[test]
    fn a_status_has_the_comparison_from_the_first_decision_on() {
        assert_eq!(status(&ShadowLog::default()), None);
        let said = status(&log(10, 1)).unwrap();
        assert_eq!((said.decisions, said.differing, said.skipped), (10, 1, 0));
        assert_eq!(said.agreement_percent, Some(90));
        assert_eq!(said.regret_dollars_per_hour, "-0.1200");
        assert_eq!(
            said.last_difference.as_deref(),
            Some("decided: 1 large; shadow: 2 small")
        );
        assert_eq!(cut("\u{e9}".repeat(2_000)).len(), WORDS);
    }
}
