//! Errors in a suite name file, case, field, value and expectation; and a case fails for each thing it expects.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests may fail loudly, as tests may"
)]

use plimsoll_author::suite::Suite;
use plimsoll_policy::{AnyModule, Engine, EngineSettings, Manifest};

fn shipped(name: &str) -> AnyModule {
    let shipped = plimsoll_policies::shipped(name).unwrap();
    let engine = Engine::new(EngineSettings::default()).unwrap();
    let suite = shipped.suite.unwrap();
    let manifest = engine.inspect(shipped.bytes).unwrap().manifest;
    let suite = Suite::read("suite.yaml", suite, &manifest).unwrap();
    AnyModule::accept(&engine, shipped.bytes, &|_| Ok(suite.settings.clone())).unwrap()
}

/// A manifest of each hook, without a module.
fn manifest(hook: &str) -> Manifest {
    let text = format!(
        r#"{{"name": "test", "version": "1", "hook": "{hook}", "orders": true,
            "reasons": [{{"name": "PRICE", "text": "list price"}}, {{"name": "PAID", "text": "already paid for"}}]}}"#
    );
    Manifest::parse(text.as_bytes()).unwrap()
}

#[track_caller]
fn refused(hook: &str, text: &str, expected: &str) {
    let error = Suite::read("suite.yaml", text, &manifest(hook)).unwrap_err();
    assert_eq!(error.to_string(), expected);
}

/// A case called `c` of a ranking policy with an offering `m5`.
fn ranking(more: &str) -> String {
    format!("cases:\n- name: c\n  input: {{ offerings: {{ m5: {{ price: 0.1 }} }} }}\n  {more}\n")
}

#[test]
fn an_unknown_field_is_told_with_the_one_that_was_meant() {
    refused(
        "rank",
        "casse: []",
        "suite.yaml: casse is no field; did you mean cases?",
    );
    refused(
        "rank",
        "settings: {}",
        "suite.yaml: cases is missing; expected a list of cases",
    );
    refused(
        "rank",
        &ranking("expects: {}"),
        "suite.yaml: case \"c\": expects is no field; did you mean expect?",
    );
    refused(
        "rank",
        "cases:\n- name: c\n  input: { offerings: { m5: { prise: 0.1 } } }\n",
        "suite.yaml: case \"c\": input.offerings.m5.prise is no field; did you mean price?",
    );
    refused(
        "budget",
        "cases:\n- input: { nodes: {} }\n",
        "suite.yaml: case \"1\": name is missing; expected what the case shows",
    );
    refused(
        "budget",
        "cases:\n- name: c\n  input: { nodes: {} }\n",
        "suite.yaml: case \"c\": input.nodes is no field; expected one of now, seed, pools",
    );
}

#[test]
fn a_value_of_the_wrong_type_is_told_with_what_was_expected() {
    refused(
        "rank",
        "cases:\n- name: c\n  input: { offerings: { m5: { price: dear } } }\n",
        "suite.yaml: case \"c\": input.offerings.m5.price is \"dear\"; expected a number, 0 or more",
    );
    refused(
        "rank",
        "cases:\n- name: c\n  input: { offerings: { m5: { price: 1e6 } } }\n",
        "suite.yaml: case \"c\": input.offerings.m5 cannot be: offering of m5 in a: price 1000000; expected dollars per hour in 0 to 100000",
    );
    refused(
        "rank",
        "cases:\n- name: c\n  input: { offerings: { m5: { price: 1, capacity: free } } }\n",
        "suite.yaml: case \"c\": input.offerings.m5.capacity is \"free\"; expected one of on-demand, spot, reserved",
    );
    refused(
        "budget",
        "cases:\n- name: c\n  input: { now: noon, pools: { a: { nodes: 1 } } }\n",
        "suite.yaml: case \"c\": input.now is \"noon\"; expected a moment after 1970 such as 2026-11-27T10:00:00Z",
    );
    refused(
        "consolidate",
        "cases:\n- name: c\n  input: { nodes: { a: { price: 1, pods: -1 } }, moves: {} }\n",
        "suite.yaml: case \"c\": input.nodes.a.pods is -1; expected a whole number in 0 to 4294967295",
    );
    refused(
        "rank",
        &ranking("settings: { a: { b: 1 } }"),
        "suite.yaml: case \"c\": settings.a is an object; expected true or false, a number, a text, or a list of numbers or texts",
    );
}

#[test]
fn a_name_that_stands_for_nothing_is_told() {
    refused(
        "rank",
        &ranking("expect: { prices: { m6: 0.1 } }"),
        "suite.yaml: case \"c\": expect.prices.m6 is no row of the answer; expected one of m5",
    );
    refused(
        "rank",
        &ranking("expect: { vetoes: { m5: list prize } }"),
        "suite.yaml: case \"c\": expect.vetoes.m5 is \"list prize\", which is no reason of the policy; did you mean list price?",
    );
    refused(
        "rank",
        "cases:\n- name: c\n  input: twozones\n",
        "suite.yaml: case \"c\": input is \"twozones\", which is no input; there is none",
    );
    refused(
        "rank",
        "cases:\n- name: c\n  input: { offerings: { a: { price: 1 } }, pools: { p: { may-buy: [b] } } }\n",
        "suite.yaml: case \"c\": input.pools.p.may-buy[0] is \"b\", which is no offering; expected one of a",
    );
    refused(
        "consolidate",
        "cases:\n- name: c\n  input: { nodes: { node-1: { price: 1 } }, moves: { m: { nodes: [node-2] } } }\n",
        "suite.yaml: case \"c\": input.moves.m.nodes[0] is \"node-2\", which is no node; did you mean node-1?",
    );
    refused(
        "consolidate",
        "cases:\n- name: c\n  input: { nodes: { n: { price: 1 } }, moves: { m: { nodes: [] } } }\n",
        "suite.yaml: case \"c\": input.moves.m cannot be: move 0 takes no node away; expected at least one",
    );
}

#[test]
fn what_a_policy_is_not_asked_for_cannot_be_expected() {
    let policy = shipped("fewest-nodes");
    let text = ranking("expect: { scores: { m5: 1 } }");
    let error = Suite::read("suite.yaml", &text, policy.manifest()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "suite.yaml: case \"c\": expect.scores is nothing that this policy is asked for: its manifest says whether it prices, orders, or both"
    );
    refused(
        "rank",
        &ranking("expect: { cheaper: [m5] }"),
        "suite.yaml: case \"c\": expect.cheaper is [\"m5\"]; expected at least two rows, the cheaper first",
    );
}

#[test]
fn names_of_cases_and_keys_are_given_once() {
    let twice = "cases:\n- &c { name: c, input: { pools: { a: { nodes: 1 } } } }\n- *c\n";
    refused(
        "budget",
        twice,
        "suite.yaml: case \"c\": name is that of another case",
    );
    let error = Suite::read("s", "cases: []\ncases: []\n", &manifest("rank")).unwrap_err();
    assert!(error.to_string().starts_with("s is no YAML: "), "{error}");
    for text in ["", "[", "cases: 3", "- 1", "\0"] {
        assert!(
            Suite::read("s", text, &manifest("rank")).is_err(),
            "{text:?}"
        );
    }
}

#[test]
fn what_is_no_case_and_what_no_line_could_show_is_refused() {
    refused(
        "budget",
        "cases:\n- 3\n",
        "suite.yaml: case \"1\": the whole is 3; expected fields of name, settings, input, expect",
    );
    refused(
        "rank",
        "cases:\n- name: c\n  input: { offerings: {} }\n",
        "suite.yaml: case \"c\": input.offerings is empty; expected at least one offering",
    );
    let coloured = "cases:\n- name: \"red\\e[31m\"\n  input: { pools: {} }\n";
    let error = Suite::read("s", coloured, &manifest("budget")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "s: case \"1\": name is \"red\\u001b[31m\"; expected a text without control characters"
    );
}

#[test]
fn signals_are_given_on_all_rows_or_none() {
    refused(
        "consolidate",
        "cases:\n- name: c\n  input:\n    nodes: { a: { price: 1 }, b: { price: 1, signals: { x: 1 } } }\n    moves: {}\n",
        "suite.yaml: case \"c\": input.nodes.b.signals.x is not given on the rows before; expected it on all",
    );
    refused(
        "consolidate",
        "cases:\n- name: c\n  input:\n    nodes: { a: { price: 1, signals: { x: 1 } }, b: { price: 1 } }\n    moves: {}\n",
        "suite.yaml: case \"c\": input.nodes.b has no signal x; expected it on all rows, as others have it",
    );
}

/// Failures of one case.
#[track_caller]
fn failures(policy: &AnyModule, case: &str) -> Vec<String> {
    let text = format!("cases:\n- name: c\n{case}");
    let suite = Suite::read("suite.yaml", &text, policy.manifest()).unwrap();
    suite.run(policy).remove(0).failures
}

#[test]
fn prices_reasons_vetoes_and_order_are_judged() {
    let policy = shipped("list-price");
    let input = "  input:\n    offerings: { a: { type: m5.large, price: 0.1 }, b: { type: c5.large, price: 0.2 } }\n    claims: { web: {} }\n";
    let of = |expect: &str| failures(&policy, &format!("{input}  expect: {expect}\n"));
    assert_eq!(
        of(
            "{ prices: { a: 0.1, b: { then: 0.2, reason: LIST } }, cheaper: [a, b], lists: { web: [a, b] } }"
        ),
        [""; 0]
    );
    assert_eq!(
        of("{ prices: { a: 0.11 } }"),
        ["expect.prices.a: general/a price is 0.1; expected 0.11"]
    );
    assert_eq!(
        of("{ prices: { a: { first-count: 2 } } }"),
        ["expect.prices.a.first-count: general/a first-count is 0; expected 2"]
    );
    assert_eq!(
        of("{ cheaper: [b, a] }"),
        ["expect.cheaper: general/b at 0.2 is not below general/a at 0.1"]
    );
    assert_eq!(
        of("{ vetoes: { a: list price } }"),
        ["expect.vetoes.a: general/a first is 0.1; expected veto"]
    );
    assert_eq!(
        of("{ lists: { web: [b, a] } }"),
        ["expect.lists.web: is [a, b]; expected [b, a]"]
    );
}

#[test]
fn values_allowances_and_refusals_are_judged() {
    let policy = shipped("savings-threshold");
    let input = "  input: { nodes: { n: { price: 1 } }, moves: { go: { nodes: [n] } } }\n";
    assert_eq!(
        failures(
            &policy,
            &format!(
                "{input}  expect: {{ values: {{ go: 0.9 }}, does: [], refuses: {{ go: saves too little }} }}\n"
            )
        ),
        [
            "expect.values.go: go value is 0.95; expected 0.9",
            "expect.refuses.go: go value is 0.95; expected at most 0",
            "expect.refuses.go: go reason is \"saves enough\"; expected \"saves too little\"",
            "expect.does: is [go]; expected []",
        ]
    );
    assert_eq!(
        failures(
            &policy,
            &format!("  settings: {{ least_dollars: -1 }}\n{input}")
        ),
        ["settings are refused: setting least_dollars: is -1; expected a number in 0 to 10000"]
    );
    assert_eq!(
        failures(
            &policy,
            &format!("{input}  expect: {{ refused: dollars }}\n")
        ),
        ["expect.refused: the settings are agreed to; expected a refusal with \"dollars\""]
    );
    let policy = shipped("rollout-guard");
    let input = "  input: { pools: { p: { nodes: 100 } } }\n";
    assert_eq!(
        failures(
            &policy,
            &format!("{input}  expect: {{ allowed: {{ p/drifted: 4 }}, recheck-after-s: 60 }}\n")
        ),
        [
            "expect.allowed.p/drifted: p/drifted nodes is 5; expected 4",
            "expect.recheck-after-s: answer recheck-after-s is 0; expected 60"
        ]
    );
}
