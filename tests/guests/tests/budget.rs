//! Budget modules as the host uses them: windows by the clock of a zone that the host resolves, the least of several, and
//! one that misbehaves holds back all but drift and is named.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests may fail loudly, as tests may"
)]

use std::sync::LazyLock;

use plimsoll_base::time::Span;
use plimsoll_guests::HOSTILE_BUDGET;
use plimsoll_hooks::allow::{AllowQuestion, Limit, grant};
use plimsoll_hooks::hook::{PolicySettings, Setting};
use plimsoll_policy::{Allowed, BudgetModule, Engine, EngineSettings, Outcome, allow};

use crate::fleet;
use crate::modules::misbehaviours;

static ENGINE: LazyLock<Engine> = LazyLock::new(|| Engine::new(EngineSettings::default()).unwrap());

fn shipped(name: &str, settings: &[(&str, Setting)]) -> Result<BudgetModule, String> {
    let settings = settings.iter();
    let settings: PolicySettings = settings
        .map(|(name, value)| ((*name).to_owned(), value.clone()))
        .collect();
    let bytes = plimsoll_policies::budget(name).unwrap().bytes;
    ENGINE
        .accept_as::<BudgetModule>(bytes, &settings)
        .map_err(|refusal| refusal.to_string())
}

fn text(text: &str) -> Setting {
    Setting::Text(text.to_owned())
}

fn texts(texts: &[&str]) -> Setting {
    Setting::Texts(texts.iter().map(|text| (*text).to_owned()).collect())
}

fn window(window: &str, zone: &str) -> BudgetModule {
    let settings = [("windows", texts(&[window])), ("zone", text(zone))];
    shipped("maintenance-window", &settings).unwrap()
}

fn hostile(behaviour: &str) -> BudgetModule {
    let settings = PolicySettings::from([("behaviour".to_owned(), text(behaviour))]);
    ENGINE.accept_as(HOSTILE_BUDGET, &settings).unwrap()
}

fn most_down(allowed: &Allowed) -> Vec<u32> {
    allowed
        .grants
        .rows
        .iter()
        .map(|grant| grant.most_down)
        .collect()
}

/// One pool that declares two nodes, at a time of day in UTC of Saturday 2026-11-21.
fn saturday(hour: u64, minute: u64) -> AllowQuestion {
    let mut question = fleet::pools(1);
    let now = &mut question.context.now_unix_s;
    *now = *now - *now % 86_400 + hour * 3_600 + minute * 60;
    question
}

#[test]
fn a_window_opens_by_the_clock_of_its_zone() {
    // Half past five hours ahead of UTC, and five behind.
    for (zone, opens, closes) in [
        ("UTC", (22, 0), (23, 30)),
        ("Asia/Kolkata", (16, 30), (18, 0)),
        ("Europe/Berlin", (21, 0), (22, 30)),
    ] {
        let module = window("sat 22:00-23:30", zone);
        let at = |(hour, minute): (u64, u64)| {
            let question = saturday(hour, minute);
            most_down(&allow(&[&module], &question))
        };
        let before = |(hour, minute): (u64, u64)| match minute {
            0 => (hour - 1, 59),
            _ => (hour, minute - 1),
        };
        let (open, closed) = ([2, 2, 2], [2, 0, 0]);
        assert_eq!(at(before(opens)), closed, "{zone}");
        assert_eq!(at(opens), open, "{zone}");
        assert_eq!(at(before(closes)), open, "{zone}");
        assert_eq!(at(closes), closed, "{zone}");
    }
}

#[test]
fn summer_time_moves_the_window_with_the_clock() {
    let module = window("daily 02:00-03:00", "Europe/Berlin");
    let zone = |unix_s| module.zones(unix_s)[0].clone();
    // Noon of 2026-06-01, and half an hour before clocks were set back on 2026-10-25.
    assert_eq!(zone(1_780_315_200).offset_minutes, 120);
    let last = zone(1_792_888_200);
    assert_eq!(
        (
            last.offset_minutes,
            last.next_change_unix_s,
            last.next_offset_minutes
        ),
        (120, 1_792_890_000, 60)
    );
    for (unix_s, open) in [
        // 02:30 in summer time, and again an hour later in winter time; then 03:00.
        (1_792_888_200, true),
        (1_792_891_800, true),
        (1_792_893_600, false),
    ] {
        let mut question = fleet::pools(1);
        question.context.now_unix_s = unix_s;
        let granted = most_down(&allow(&[&module], &question));
        assert_eq!(granted[1] > 0, open, "{unix_s}");
    }
}

#[test]
fn the_least_of_several_policies_wins_and_the_earliest_recheck() {
    let question = saturday(22, 48);
    let (open, guard) = (
        window("sat 22:00-23:00", "UTC"),
        shipped("rollout-guard", &[]).unwrap(),
    );
    let frozen = shipped("freeze-calendar", &[("freezes", texts(&["2026-11-21"]))]).unwrap();
    let both = allow(&[&open, &guard], &question);
    assert_eq!(most_down(&both), [2, 1, 1]);
    let limit = Some(Limit {
        policy: 1,
        reason: 1,
    });
    assert_eq!(both.grants.rows[1].limit, limit);
    assert_eq!(both.grants.recheck_after, Some(Span::from_secs(720)));
    let all = allow(&[&open, &guard, &frozen], &question);
    assert_eq!(most_down(&all), [2, 0, 0]);
}

#[test]
fn a_module_cannot_widen_what_is_declared() {
    let question = saturday(12, 0);
    let widened = allow(&[&hostile("widen")], &question);
    assert_eq!(widened.grants.rows, grant(&question, &[]).rows);
    let restless = allow(&[&hostile("restless")], &question);
    assert_eq!(restless.grants.recheck_after, Some(Span::from_secs(1)));
}

#[test]
fn each_misbehaviour_holds_back_all_but_drift_and_is_named() {
    let question = saturday(12, 0);
    let honest = shipped("rollout-guard", &[]).unwrap();
    let rows = |said: &str| format!("`allowed` has {said} rows; the question has 3");
    let lengths = [
        ("short", rows("2")),
        ("long", rows("4")),
        ("huge", "the module's answer cannot be read".to_owned()),
    ];
    let lengths =
        lengths.map(|(behaviour, sentence)| (behaviour, Outcome::InvalidOutput, sentence));
    for (behaviour, outcome, sentence) in misbehaviours(3).into_iter().chain(lengths) {
        let allowed = allow(&[&hostile(behaviour), &honest], &question);
        let [(0, fault)] = allowed.faults.as_slice() else {
            unreachable!("{behaviour}: one policy fails: {:?}", allowed.faults)
        };
        assert_eq!(fault.outcome, outcome, "{fault}");
        assert!(fault.sentence.contains(&sentence), "{fault}");
        // Of drift the honest module allows one.
        assert_eq!(most_down(&allowed), [0, 0, 1], "{behaviour}");
        assert_eq!(
            allowed.notes,
            [format!(
                "policy guest-hostile-budget failed to allow: {fault}; only drift continues, as declared"
            )]
        );
    }
}

#[test]
fn settings_that_make_no_sense_are_refused_by_name() {
    let windows = |window: &str, zone: &str| {
        let settings = [("windows", texts(&[window])), ("zone", text(zone))];
        shipped("maintenance-window", &settings).unwrap_err()
    };
    assert_eq!(
        windows("sat 22:00-23:00", "Europe/Berln"),
        "setting zone: is \"Europe/Berln\", which is no time zone; did you mean Europe/Berlin?"
    );
    assert!(windows("whenever", "UTC").starts_with("setting windows: has \"whenever\"; expected"));
    assert_eq!(
        shipped("maintenance-window", &[]).unwrap_err(),
        "setting windows: is missing; expected a list, each a text"
    );
}
