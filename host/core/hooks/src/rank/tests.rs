//! Facts about the ranking seam: canonical tables, refusals of answers, order of launch lists.

use std::sync::Arc;

use plimsoll_base::units::{MAX_DOLLARS_PER_HOUR, PricePerHour};
use proptest::prelude::*;

use super::*;

fn instance_type<'a>(name: &'a str, labels: &'a [(&'a str, &'a str)]) -> InstanceTypeRow<'a> {
    InstanceTypeRow {
        name,
        family: name.split('.').next().unwrap_or(name),
        architecture: Architecture::Amd64,
        cpu_milli: 2_000,
        memory_mib: 8_192,
        pods: 29,
        gpus: 0,
        gpu_kind: "",
        labels,
    }
}

fn offering(instance_type: u32, zone: &str, price: f64) -> OfferingRow<'_> {
    OfferingRow {
        instance_type,
        zone,
        capacity: Capacity::OnDemand,
        price,
        price_age_s: 0,
        interruptions_per_day: 0.0,
        failures_1h: 0,
        reserved_left: 0,
        running: 0,
    }
}

/// Two types in two zones; pool `general` may buy all four offerings.
fn price_question() -> PriceQuestion {
    let mut builder = TablesBuilder::default();
    let small = builder.instance_type(&instance_type("m5.large", &[("zone-kind", "metro")]));
    let large = builder.instance_type(&instance_type("m5.xlarge", &[]));
    for (row, price) in [(small, 0.096), (large, 0.192)] {
        for zone in ["a", "b"] {
            builder.offering(&offering(row, zone, price)).unwrap();
        }
    }
    let name = builder.symbol("general");
    let mut pools = Pools::default();
    pools.push(
        PoolRow {
            name,
            weight: 10,
            nodes: 0,
            cost: 0.0,
        },
        &[0, 1, 2, 3],
    );
    PriceQuestion {
        context: Context::default(),
        tables: Arc::new(builder.finish()),
        pools,
    }
}

fn order_question(lists: &[&[u32]]) -> OrderQuestion {
    let PriceQuestion {
        context, tables, ..
    } = price_question();
    let mut claims = Claims::default();
    for list in lists {
        claims.push(
            ClaimRow {
                pool: NO_SYMBOL,
                cpu_milli: 1_000,
                mem_mib: 512,
                pods: 3,
                gpus: 0,
            },
            list,
        );
    }
    OrderQuestion {
        context,
        tables,
        claims,
    }
}

/// The sentence with which the list-price answer is refused after `change`.
fn refusal(change: impl FnOnce(&mut PriceAnswer)) -> String {
    let question = price_question();
    let mut answer = list_price(&question);
    change(&mut answer);
    check_prices(&question, &answer).unwrap_err().to_string()
}

#[test]
fn symbols_come_in_order_of_first_use_after_the_empty_text() {
    let mut builder = SymbolsBuilder::default();
    let symbols = ["b", "a", "b", "", "ä"].map(|text| builder.intern(text));
    assert_eq!(symbols, [1, 2, 1, NO_SYMBOL, 3]);
    let table = builder.finish();
    assert_eq!(table.blob, "baä".as_bytes());
    assert_eq!(table.ends, [0, 1, 2, 4]);
    assert_eq!(table.get(3), Some("ä"));
    assert_eq!(table.get(4), None);
}

#[test]
fn a_damaged_table_of_symbols_has_no_text_instead_of_a_panic() {
    let table = Symbols {
        blob: b"abc".to_vec(),
        ends: vec![3, 1, 900],
    };
    assert_eq!(table.get(1), None);
    assert_eq!(table.get(2), None);
}

#[test]
fn list_price_is_accepted_and_in_nano_dollars() {
    let question = price_question();
    let prices = check_prices(&question, &list_price(&question)).unwrap();
    let row = prices.rows[2];
    assert_eq!(row.first.price, Some(PricePerHour::from_nanos(192_000_000)));
    assert_eq!(
        row.then,
        Quote {
            price: Some(PricePerHour::from_nanos(192_000_000)),
            reason: LIST_PRICE
        }
    );
    assert_eq!((row.first_count, row.first_group), (0, 0));
}

#[test]
fn dollars_round_to_the_nearest_nano_dollar() {
    let question = price_question();
    let mut answer = list_price(&question);
    answer.first = vec![0.000_000_000_4, 0.000_000_000_6, 0.1 + 0.2, 0.0];
    answer.then = vec![MAX_DOLLARS_PER_HOUR; 4];
    let prices = check_prices(&question, &answer).unwrap();
    let firsts: Vec<_> = prices
        .rows
        .iter()
        .map(|row| row.first.price.unwrap().nanos())
        .collect();
    assert_eq!(firsts, [0, 1, 300_000_000, 0]);
    assert_eq!(
        prices.rows[0].then.price,
        Some(PricePerHour::from_nanos(100_000_000_000_000))
    );
}

#[test]
fn infinity_vetoes_the_rest_or_all() {
    let question = price_question();
    let mut answer = list_price(&question);
    answer.then[0] = f64::INFINITY;
    (answer.first[1], answer.then[1]) = (f64::INFINITY, f64::INFINITY);
    let rows = check_prices(&question, &answer).unwrap().rows;
    assert_eq!(
        rows[0].first.price,
        Some(PricePerHour::from_nanos(96_000_000))
    );
    assert_eq!((rows[0].then.price, rows[1].first.price), (None, None));
}

#[test]
fn each_column_must_be_as_long_as_the_question() {
    let expected = |column, found| {
        format!("answer column `{column}` has {found} rows; the question has 4 candidates")
    };
    assert_eq!(
        refusal(|answer| answer.first.truncate(3)),
        expected("first", 3)
    );
    assert_eq!(
        refusal(|answer| answer.first_count.push(0)),
        expected("first-count", 5)
    );
    assert_eq!(
        refusal(|answer| answer.first_group.clear()),
        expected("first-group", 0)
    );
    assert_eq!(
        refusal(|answer| answer.first_reason.truncate(1)),
        expected("first-reason", 1)
    );
    assert_eq!(refusal(|answer| answer.then.push(1.0)), expected("then", 5));
    assert_eq!(
        refusal(|answer| answer.then_reason.push(1)),
        expected("then-reason", 5)
    );
}

#[test]
fn a_refused_price_names_candidate_field_value_and_expectation() {
    assert_eq!(
        refusal(|answer| answer.then[3] = f64::NAN),
        "row 3 (pool general, m5.xlarge, b, on-demand): `then` is NaN; expected dollars per hour in 0 to 100000, or +inf to veto"
    );
    assert_eq!(
        refusal(|answer| answer.first[1] = -0.5),
        "row 1 (pool general, m5.large, b, on-demand): `first` is -0.5; expected dollars per hour in 0 to 100000, or +inf to veto"
    );
    assert!(refusal(|answer| answer.then[0] = f64::NEG_INFINITY).contains("`then` is -inf"));
    assert!(refusal(|answer| answer.then[0] = 100_000.1).contains("`then` is 100000.1"));
}

#[test]
fn first_nodes_may_not_be_dearer_than_later_ones() {
    assert_eq!(
        refusal(|answer| answer.first[0] = 0.1),
        "row 0 (pool general, m5.large, a, on-demand): `first` is 0.1 and `then` is 0.096; `first` must not be above `then`"
    );
}

#[test]
fn a_group_has_one_count() {
    let refused = refusal(|answer| {
        answer.first_group = vec![7, 0, 7, 7];
        answer.first_count = vec![3, 9, 3, 4];
    });
    assert_eq!(
        refused,
        "row 3 (pool general, m5.xlarge, b, on-demand): `first-count` is 4; group 7 has 3 since row 0, and a group has one count"
    );
}

/// The launch lists of an answer, as offering rows, and what it takes off.
fn lists(question: &OrderQuestion, answer: &OrderAnswer) -> Vec<(Vec<u32>, Vec<u32>)> {
    let lists = check_ordering(question, answer).unwrap();
    let ranges = question.claims.ranges().zip(lists.claims);
    let rows = |(range, list): (std::ops::Range<usize>, LaunchList)| {
        let row = |position: &usize| question.claims.cand[range.start + position];
        (
            list.kept.iter().map(row).collect(),
            list.removed.iter().map(row).collect(),
        )
    };
    ranges.map(rows).collect()
}

#[test]
fn launch_lists_go_by_score_and_else_stand_as_the_host_named_them() {
    let question = order_question(&[&[3, 2, 1, 0], &[1, 3]]);
    let mut answer = list_order(&question);
    let none = Vec::new;
    assert_eq!(
        lists(&question, &answer),
        [(vec![1, 0, 3, 2], none()), (vec![1, 3], none())]
    );
    answer.score = vec![1.0, 1.0, 1.0, 2.0, 5.0, -5.0];
    assert_eq!(
        lists(&question, &answer),
        [(vec![3, 2, 1, 0], none()), (vec![3, 1], none())]
    );
}

#[test]
fn removing_every_offering_of_a_claim_removes_none() {
    let question = order_question(&[&[2, 0], &[1, 3, 0]]);
    let infinite = f64::INFINITY;
    let answer = OrderAnswer {
        score: vec![infinite, infinite, infinite, 1.0, infinite],
        reason: vec![0; 5],
    };
    assert_eq!(
        lists(&question, &answer),
        [(vec![2, 0], vec![]), (vec![3], vec![1, 0])]
    );
}

#[test]
fn a_refused_score_names_the_claim() {
    let question = order_question(&[&[0], &[1, 3]]);
    let refused = |score: f64| {
        let answer = OrderAnswer {
            score: vec![0.0, 0.0, score],
            reason: vec![0; 3],
        };
        check_ordering(&question, &answer).unwrap_err().to_string()
    };
    let place = "row 2 (claim 1, m5.xlarge, b, on-demand)";
    let wanted = "expected a finite number, or +inf to remove the offering";
    assert_eq!(
        refused(f64::NAN),
        format!("{place}: `score` is NaN; {wanted}")
    );
    assert_eq!(
        refused(f64::NEG_INFINITY),
        format!("{place}: `score` is -inf; {wanted}")
    );
}

#[test]
fn the_catalogue_refuses_what_no_answer_could_be_checked_against() {
    let mut builder = TablesBuilder::default();
    let row = builder.instance_type(&instance_type("m5.large", &[]));
    let refusal =
        |builder: &mut TablesBuilder, row| builder.offering(&row).unwrap_err().to_string();
    assert_eq!(
        refusal(&mut builder, offering(row, "a", f64::NAN)),
        "offering of m5.large in a: price NaN; expected dollars per hour in 0 to 100000"
    );
    assert!(refusal(&mut builder, offering(row, "a", -1.0)).contains("price -1"));
    assert_eq!(
        refusal(&mut builder, offering(4, "a", 1.0)),
        "offering in a: instance type row 4 of 1; add the type before its offerings"
    );
    let rate = OfferingRow {
        interruptions_per_day: f32::INFINITY,
        ..offering(row, "a", 1.0)
    };
    assert!(refusal(&mut builder, rate).contains("inf interruptions per day"));
}

proptest! {
    #[test]
    fn no_answer_of_any_length_or_value_panics(
        first in prop::collection::vec(any::<f64>(), 0..6),
        then in prop::collection::vec(any::<f64>(), 0..6),
        count in prop::collection::vec(0_u32..3, 4),
        group in prop::collection::vec(0_u32..2, 4),
    ) {
        let question = price_question();
        let reasons = vec![0; 4];
        let answer = PriceAnswer {
            first, then, first_count: count, first_group: group,
            first_reason: reasons.clone(), then_reason: reasons,
        };
        if let Ok(prices) = check_prices(&question, &answer) {
            for row in prices.rows {
                // A veto is dearer than any price.
                let cost = |quote: Quote| quote.price.map_or(i64::MAX, PricePerHour::nanos);
                prop_assert!(cost(row.first) <= cost(row.then));
            }
        }
    }
}
