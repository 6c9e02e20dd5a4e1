//! The algebra's table and its laws.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::labels::LabelKey;

fn requirement(operator: Operator, values: &[&str]) -> Requirement {
    let values: Vec<Arc<str>> = values.iter().map(|value| Arc::from(*value)).collect();
    if operator == Operator::In && values.is_empty() {
        return Requirement::does_not_exist(LabelKey::from("k"));
    }
    Requirement::new(LabelKey::from("k"), operator, &values).expect("a valid expression")
}

/// The reference's table, one row per line.
#[test]
fn intersections_of_the_contract() {
    use Operator::{DoesNotExist, Exists, Gt, Gte, In, Lt, NotIn};
    type Case<'a> = (Operator, &'a [&'a str], Operator, &'a [&'a str], &'a str);
    let cases: [Case<'_>; 11] = [
        (Exists, &[], In, &["a"], "k In [a]"),
        (In, &["a", "b"], NotIn, &["a"], "k In [b]"),
        (In, &["a"], NotIn, &["a"], "k DoesNotExist"),
        (NotIn, &["a"], NotIn, &["b"], "k NotIn [a, b]"),
        (Gt, &["1"], Lt, &["9"], "k Exists >= 2 <= 8"),
        (Gt, &["9"], Lt, &["1"], "k DoesNotExist"),
        (In, &["1", "9"], Gt, &["1"], "k In [9]"),
        (In, &["A"], Gt, &["1"], "k DoesNotExist"),
        (Gte, &["5"], Gt, &["4"], "k Exists >= 5"),
        (DoesNotExist, &[], Exists, &[], "k DoesNotExist"),
        (Gt, &["9223372036854775807"], Exists, &[], "k DoesNotExist"),
    ];
    for (left, its_values, right, other_values, expected) in cases {
        let (left, right) = (
            requirement(left, its_values),
            requirement(right, other_values),
        );
        assert_eq!(
            left.intersect(&right).to_string(),
            expected,
            "{left} with {right}"
        );
        assert_eq!(
            right.intersect(&left).to_string(),
            expected,
            "{right} with {left}"
        );
    }
}

#[test]
fn the_larger_minimum_of_values_is_kept_even_when_nothing_is_left() {
    let left = requirement(Operator::In, &["a"]).with_min_values(Some(2));
    let right = requirement(Operator::NotIn, &["a"]).with_min_values(Some(3));
    assert_eq!(left.intersect(&right).min_values(), Some(3));
}

#[test]
fn a_bounded_requirement_keeps_its_exclusions_when_written_down() {
    let both = requirement(Operator::Gte, &["2"]).intersect(&requirement(Operator::NotIn, &["3"]));
    let written = both.to_expressions();
    assert_eq!(
        written,
        [
            (Operator::Gte, vec![Arc::from("2")]),
            (Operator::NotIn, vec![Arc::from("3")])
        ]
    );
}

#[test]
fn comparisons_take_one_integer_of_at_least_zero() {
    for values in [&[][..], &["-1"], &["a"], &["1", "2"], &["1.5"]] {
        let values: Vec<Arc<str>> = values.iter().map(|value| Arc::from(*value)).collect();
        let error =
            Requirement::new(LabelKey::from("k"), Operator::Gt, &values).expect_err("refused");
        assert!(
            matches!(error, RequirementError::NotOneInteger { .. }),
            "{values:?}"
        );
    }
}

fn set(requirements: &[Requirement]) -> Requirements {
    requirements.iter().cloned().collect()
}

#[test]
fn an_undefined_key_is_refused_unless_absence_satisfies_or_it_is_allowed() {
    let nothing = Requirements::new();
    let wants = set(&[requirement(Operator::In, &["a"])]);
    let avoids = set(&[requirement(Operator::NotIn, &["a"])]);
    let known = |key: &LabelKey| key.as_str() == "k";
    assert!(nothing.accepts(&wants, Undefined::Refused).is_err());
    assert!(nothing.accepts(&avoids, Undefined::Refused).is_ok());
    assert!(nothing.accepts(&wants, Undefined::Allowed(&known)).is_ok());
    assert!(nothing.accepts(&wants, Undefined::Ignored).is_ok());
}

#[test]
fn absence_on_both_sides_is_agreement() {
    let lacks = set(&[Requirement::does_not_exist(LabelKey::from("k"))]);
    let avoids = set(&[requirement(Operator::NotIn, &["a"])]);
    let wants = set(&[requirement(Operator::Exists, &[])]);
    assert!(lacks.accepts(&avoids, Undefined::Refused).is_ok());
    assert!(lacks.accepts(&lacks, Undefined::Refused).is_ok());
    assert!(lacks.accepts(&wants, Undefined::Refused).is_err());
}

fn any_requirement() -> impl Strategy<Value = Requirement> {
    let value = prop::sample::select(vec!["0", "1", "2", "3", "7", "a", "b"]);
    let values = prop::collection::vec(value, 1..4);
    let number = prop::sample::select(vec!["0", "1", "2", "3", "7"]);
    prop_oneof![
        values
            .clone()
            .prop_map(|values| requirement(Operator::In, &values)),
        values.prop_map(|values| requirement(Operator::NotIn, &values)),
        Just(requirement(Operator::Exists, &[])),
        Just(requirement(Operator::DoesNotExist, &[])),
        number.clone().prop_map(|n| requirement(Operator::Gt, &[n])),
        number.clone().prop_map(|n| requirement(Operator::Lt, &[n])),
        number
            .clone()
            .prop_map(|n| requirement(Operator::Gte, &[n])),
        number.prop_map(|n| requirement(Operator::Lte, &[n])),
    ]
}

proptest! {
    #[test]
    fn intersection_allows_what_both_allow(a in any_requirement(), b in any_requirement(),
        value in prop::sample::select(vec!["0", "1", "2", "3", "4", "7", "8", "a", "b", "c"])) {
        prop_assert_eq!(a.intersect(&b).allows(value), a.allows(value) && b.allows(value));
    }

    #[test]
    fn intersection_commutes_associates_and_is_idempotent(a in any_requirement(), b in any_requirement(), c in any_requirement()) {
        prop_assert_eq!(a.intersect(&b), b.intersect(&a));
        prop_assert_eq!(a.intersect(&a), a.clone());
        prop_assert_eq!(a.intersect(&b).intersect(&c), a.intersect(&b.intersect(&c)));
    }

    #[test]
    fn overlap_is_what_the_intersection_says(a in any_requirement(), b in any_requirement()) {
        let both = a.intersect(&b);
        let complements = a.listed().is_none() && b.listed().is_none();
        prop_assert_eq!(a.overlaps(&b), both.operator() != Operator::DoesNotExist || (complements && both.listed().is_none()));
    }

    #[test]
    fn any_value_is_an_allowed_one(a in any_requirement()) {
        if let Some(value) = a.any() {
            prop_assert!(a.allows(&value), "{} does not allow {}", a, value);
        }
    }

    #[test]
    fn written_expressions_read_back_as_the_same(a in any_requirement(), b in any_requirement()) {
        let both = a.intersect(&b);
        let read = both.to_expressions().iter().map(|(operator, values)| match (operator, values.is_empty()) {
            (Operator::In, true) => Requirement::does_not_exist(LabelKey::from("k")),
            _ => Requirement::new(LabelKey::from("k"), *operator, values).expect("written by us"),
        }).reduce(|x, y| x.intersect(&y)).expect("at least one");
        prop_assert_eq!(read, both);
    }
}
