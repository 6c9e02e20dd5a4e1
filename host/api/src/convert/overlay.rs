//! `karpenter.sh/v1alpha1 NodeOverlay`.

use plimsoll_base::time::Timestamp;
use plimsoll_base::units::PricePerHour;
use plimsoll_model::{NodeOverlay, PriceChange, Status};
use serde_json::{Value, json};

use super::amounts::amounts;
use super::pool::weight;
use super::{condition, metadata, requirement};
use crate::error::{FieldError, Within};
use crate::intern::Interner;
use crate::object::Kind;
use crate::{kinds, write};

/// Largest weight the API takes.
const MAX_WEIGHT: i32 = 10_000;
/// Millionths in one percent.
const PER_PERCENT: f64 = 10_000.0;
/// The largest change of price in percent that is taken for meant.
const MAX_PERCENT: f64 = 1e6;

/// An overlay.
pub(crate) fn node_overlay(
    written: &kinds::NodeOverlay,
    interner: &mut Interner,
) -> Result<NodeOverlay, FieldError> {
    let spec = &written.spec;
    Ok(NodeOverlay {
        name: interner.text(metadata::name(&written.metadata)?),
        weight: weight(spec.weight, MAX_WEIGHT)?,
        requirements: requirement::of_pool(&spec.requirements, interner)
            .within("spec.requirements")?
            .into_iter()
            .collect(),
        price: price(spec).within("spec")?,
        capacity: amounts(&spec.capacity, interner).within("spec.capacity")?,
        status: status(written, interner),
    })
}

fn status(written: &kinds::NodeOverlay, interner: &mut Interner) -> Status {
    let metadata = &written.metadata;
    let status = written.status.as_ref();
    let conditions = status.map_or(&[][..], |status| &status.conditions);
    Status {
        generation: metadata::generation(metadata),
        conditions: condition::conditions_without_ready(
            conditions,
            metadata::created(metadata),
            interner,
        ),
        ..Status::default()
    }
}

fn price(spec: &kinds::NodeOverlaySpec) -> Result<Option<PriceChange>, FieldError> {
    match (&spec.price, &spec.price_adjustment) {
        (None, None) => Ok(None),
        (Some(_), Some(change)) => Err(FieldError::unexpected(
            "priceAdjustment",
            change,
            "nothing beside spec.price",
        )),
        (Some(price), None) => {
            let dollars = decimal(price).filter(|dollars| *dollars >= 0.0);
            let price_per_hour = dollars.and_then(PricePerHour::from_dollars);
            let set = price_per_hour.map(PriceChange::Set).ok_or_else(|| {
                FieldError::unexpected("price", price, "dollars per hour such as 0.25")
            })?;
            Ok(Some(set))
        }
        (None, Some(text)) => adjustment(text).map(Some).ok_or_else(|| {
            let expected = "a signed amount or percentage such as -0.05 or +10%";
            FieldError::unexpected("priceAdjustment", text, expected)
        }),
    }
}

fn adjustment(text: &str) -> Option<PriceChange> {
    if !text.starts_with(['+', '-']) {
        return None;
    }
    let Some(percent) = text.strip_suffix('%') else {
        return PricePerHour::from_dollars(decimal(text)?).map(PriceChange::Add);
    };
    let percent = decimal(percent).filter(|percent| (-100.0..=MAX_PERCENT).contains(percent))?;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the range was checked: at most 1e10"
    )]
    Some(PriceChange::Scale((percent * PER_PERCENT).round() as i64))
}

/// A plain decimal number; words that floating point also reads (`inf`, `nan`, `1e5`) are none.
fn decimal(text: &str) -> Option<f64> {
    let plain = |c: char| c.is_ascii_digit() || matches!(c, '.' | '+' | '-');
    text.parse().ok().filter(|_| text.chars().all(plain))
}

/// An overlay as it is written.
pub(crate) fn to_value(overlay: &NodeOverlay) -> Value {
    let mut meta = write::metadata(&overlay.name, None, Timestamp::default());
    write::generation(&mut meta, overlay.status.generation);
    let mut spec = json!({
        "requirements": write::all_expressions(overlay.requirements.iter()),
        "capacity": write::amounts(&overlay.capacity),
    });
    if overlay.weight > 0 {
        spec["weight"] = overlay.weight.into();
    }
    match overlay.price {
        None => {}
        Some(PriceChange::Set(price)) => {
            spec["price"] = format!("{:.9}", price.dollars()).into();
        }
        Some(PriceChange::Add(change)) => {
            spec["priceAdjustment"] = format!("{:+.9}", change.dollars()).into();
        }
        Some(PriceChange::Scale(millionths)) => {
            let percent = millionths as f64 / PER_PERCENT;
            spec["priceAdjustment"] = format!("{percent:+.4}%").into();
        }
    }
    let mut fields = json!({"spec": spec});
    if !overlay.status.conditions.is_empty() {
        let conditions = condition::conditions_value(&overlay.status.conditions);
        fields["status"] = json!({ "conditions": conditions });
    }
    write::framed(Kind::NodeOverlay, Value::Object(meta), fields)
}
