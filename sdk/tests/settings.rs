//! Facts about settings: defaults, limits, and complaints that name setting, value and expectation.

use plimsoll_sdk::Settings;
use plimsoll_sdk::settings::{Setting, Settings as _};

#[derive(Debug, PartialEq, Settings)]
struct Options {
    /// Share of the list price.
    #[setting(min = 0, max = 1)]
    share: f64,
    #[setting(default = 3)]
    copies: u32,
    #[setting(default = "zone", one_of = ["zone", "family"])]
    spread: String,
    #[setting(default = [0.5, -1])]
    weights: Vec<f64>,
    #[setting(default = false)]
    strict: bool,
}

fn complaints(values: &[(&str, Setting)]) -> Vec<String> {
    let values: Vec<_> = values
        .iter()
        .map(|(name, value)| ((*name).to_owned(), value.clone()))
        .collect();
    let problems = Options::from_values(&values).expect_err("the settings are wrong");
    problems
        .iter()
        .map(|problem| format!("{} {}", problem.path, problem.message))
        .collect()
}

#[test]
fn what_is_not_given_has_its_default() {
    let options = Options::from_values(&[("share".to_owned(), Setting::Num(0.25))]).unwrap();
    let spread = "zone".to_owned();
    assert_eq!(
        options,
        Options {
            share: 0.25,
            copies: 3,
            spread,
            weights: vec![0.5, -1.0],
            strict: false
        }
    );
}

#[test]
fn every_problem_is_named_at_once() {
    let found = complaints(&[
        ("copies", Setting::Num(1.5)),
        ("spread", Setting::Text("rack".into())),
        ("strict", Setting::Text("yes".into())),
        ("shares", Setting::Num(1.0)),
    ]);
    assert_eq!(
        found,
        [
            "share is missing; expected a number",
            "copies is 1.5; expected a whole number, 0 or more",
            "spread is \"rack\"; expected one of zone, family",
            "strict is \"yes\"; expected true or false",
            "shares is not a setting of this policy; it has share, copies, spread, weights, strict",
        ]
    );
}

#[test]
fn limits_hold() {
    let found = |share: f64| complaints(&[("share", Setting::Num(share))]);
    assert_eq!(found(-0.1), ["share is -0.1; expected at least 0"]);
    assert_eq!(found(1.1), ["share is 1.1; expected at most 1"]);
    assert_eq!(found(f64::NAN), ["share is NaN; expected a number"]);
}
