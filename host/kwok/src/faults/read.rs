//! A fault plan as it is written: JSON, every field of which may be absent.

use plimsoll_api::duration;
use plimsoll_base::time::Span;
use plimsoll_model::catalogue::OfferingKey;
use serde::Deserialize;
use thiserror::Error;

use super::{FaultPlan, Sold};

/// The fault of a fault plan.
#[derive(Debug, Error)]
pub enum FaultPlanError {
    /// It is no plan.
    #[error("the fault plan cannot be read")]
    Text(#[from] serde_json::Error),
    /// A value is out of its range.
    #[error("the fault plan: {field} is {value}; expected {expected}")]
    Value {
        /// The field.
        field: &'static str,
        /// Its value.
        value: String,
        /// The values that it may have.
        expected: &'static str,
    },
}

/// A plan as it is written.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Written {
    seed: u64,
    stock: Vec<Stock>,
    launch_errors: Vec<LaunchError>,
    launch_batch: Option<usize>,
    answer_delay: Option<String>,
    lost_answers_percent: u8,
    boot_delay: Option<WrittenRange>,
    lifetime: Option<String>,
    notice: Option<String>,
    ending_percent: u8,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenRange {
    least: String,
    most: String,
}

/// How many instances there are of some offerings, in all.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Stock {
    /// The type; any where it is not said.
    instance_type: Option<String>,
    /// The zone; any where it is not said.
    zone: Option<String>,
    /// The capacity type; any where it is not said.
    capacity_type: Option<String>,
    pub(super) available: u32,
}

impl Stock {
    pub(super) fn contains(&self, key: &OfferingKey) -> bool {
        let is = |wanted: &Option<String>, value: &str| {
            wanted.as_ref().is_none_or(|wanted| wanted == value)
        };
        is(&self.instance_type, key.instance_type.as_str())
            && is(&self.zone, &key.zone)
            && is(&self.capacity_type, key.capacity_type.as_str())
    }
}

/// Launches of a class that fail.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct LaunchError {
    /// Name of the class.
    pub(super) class: String,
    /// The cloud's words.
    pub(super) message: String,
    /// The first so many calls fail; all where it is not said.
    pub(super) calls: Option<u64>,
}

impl FaultPlan {
    /// Reads a plan from JSON. Any of these may be absent:
    ///
    /// - `seed`: a number on which all draws depend; 0 by default;
    /// - `stock`: a list of `instanceType`, `zone`, `capacityType` (each may be absent and then means any) and `available`, the instances
    ///   that there are in all;
    /// - `launchErrors`: a list of `class` (a name), `message` and `calls`: so many first calls for the class fail, all by default;
    /// - `launchBatch`: the most claims of one call, at least 1;
    /// - `answerDelay`: a duration that every answer takes; `lostAnswersPercent`: answers that never come, 0 to 100;
    /// - `bootDelay`: `least` and `most`, durations between which a node's own delay is drawn, on top of its class's;
    /// - `lifetime`, `endingPercent` and `notice`: so many instances end by themselves after so long, announced so long before.
    pub fn read(text: &str) -> Result<Self, FaultPlanError> {
        let written: Written = serde_json::from_str(text)?;
        let some_span = |field, text: Option<String>| {
            let parse = |text: String| span(field, &text);
            text.map(parse).transpose()
        };
        Ok(Self {
            seed: written.seed,
            stock: written.stock,
            launch_errors: written.launch_errors,
            launch_batch: at_least_one("launchBatch", written.launch_batch)?,
            answer_delay: some_span("answerDelay", written.answer_delay)?.unwrap_or(Span::ZERO),
            lost_answers_percent: percent("lostAnswersPercent", written.lost_answers_percent)?,
            boot_delay: written.boot_delay.as_ref().map_or(Ok(None), range)?,
            lifetime: some_span("lifetime", written.lifetime)?,
            notice: some_span("notice", written.notice)?.unwrap_or(Span::ZERO),
            ending_percent: percent("endingPercent", written.ending_percent)?,
            sold: Sold::default().into(),
        })
    }
}

fn span(field: &'static str, text: &str) -> Result<Span, FaultPlanError> {
    duration::parse(text).ok_or_else(|| FaultPlanError::Value {
        field,
        value: format!("\"{text}\""),
        expected: duration::EXPECTED,
    })
}

fn range(written: &WrittenRange) -> Result<Option<(Span, Span)>, FaultPlanError> {
    let least = span("bootDelay.least", &written.least)?;
    let most = span("bootDelay.most", &written.most)?;
    if most < least {
        return Err(FaultPlanError::Value {
            field: "bootDelay.most",
            value: format!("\"{}\"", written.most),
            expected: "at least bootDelay.least",
        });
    }
    Ok(Some((least, most)))
}

fn percent(field: &'static str, value: u8) -> Result<u8, FaultPlanError> {
    let is_share = value <= 100;
    is_share.then_some(value).ok_or(FaultPlanError::Value {
        field,
        value: value.to_string(),
        expected: "0 to 100",
    })
}

fn at_least_one(
    field: &'static str,
    value: Option<usize>,
) -> Result<Option<usize>, FaultPlanError> {
    if value == Some(0) {
        return Err(FaultPlanError::Value {
            field,
            value: "0".to_owned(),
            expected: "at least 1",
        });
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_plan_is_told_by_field() {
        let told = |text: &str| FaultPlan::read(text).unwrap_err().to_string();
        for (text, words) in [
            (r#"{"lifetime": "soon"}"#, "lifetime is \"soon\"; expected "),
            (
                r#"{"endingPercent": 101}"#,
                "endingPercent is 101; expected 0 to 100",
            ),
            (
                r#"{"launchBatch": 0}"#,
                "launchBatch is 0; expected at least 1",
            ),
            (
                r#"{"bootDelay": {"least": "9s", "most": "1s"}}"#,
                "bootDelay.most is \"1s\"; expected at least bootDelay.least",
            ),
        ] {
            let said = told(text);
            assert!(said.contains(words), "{said}");
        }
        assert!(FaultPlan::read(r#"{"stocks": []}"#).is_err());
    }
}
