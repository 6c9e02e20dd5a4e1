//! The suite's report in JSON, as far as it is read: names of specs, and how one ended.

use anyhow::{Context, Result};
use serde::Deserialize;

/// How a spec ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// The verdict.
    pub(crate) state: State,
    /// Its first failure and where in the suite that is; empty if it passed.
    pub(crate) why: String,
}

/// The verdict on a spec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// All that it expects has happened.
    Passed,
    /// Something has not.
    Failed,
    /// It was still waiting when its time was over.
    TimedOut,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct SuiteReport {
    spec_reports: Option<Vec<SpecReport>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct SpecReport {
    container_hierarchy_texts: Option<Vec<String>>,
    leaf_node_text: String,
    leaf_node_type: String,
    state: String,
    failure: Option<Failure>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Failure {
    message: String,
    location: Location,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Location {
    file_name: String,
    line_number: u64,
}

/// Names of the specs that were not skipped, in the suite's order.
pub(crate) fn names(json: &str) -> Result<Vec<String>> {
    let specs = specs(json)?;
    Ok(specs.iter().map(SpecReport::name).collect())
}

/// The outcome of the one spec that was not skipped.
pub(crate) fn outcome(json: &str) -> Result<Outcome> {
    let specs = specs(json)?;
    let spec = specs.first().context("the report tells of no spec")?;
    let state = match spec.state.as_str() {
        "passed" => State::Passed,
        "timedout" | "interrupted" => State::TimedOut,
        _ => State::Failed,
    };
    let why = spec.failure.as_ref().map(Failure::to_text);
    Ok(Outcome {
        state,
        why: why.unwrap_or_default(),
    })
}

/// Specs that were not skipped; what stands around the whole suite and begins or ends it is none.
fn specs(json: &str) -> Result<Vec<SpecReport>> {
    let suites: Vec<SuiteReport> = serde_json::from_str(json).context("the suite's report")?;
    let specs = suites.into_iter().filter_map(|suite| suite.spec_reports);
    let ran = |spec: &SpecReport| spec.leaf_node_type == "It" && spec.state != "skipped";
    Ok(specs.flatten().filter(ran).collect())
}

impl SpecReport {
    fn name(&self) -> String {
        let around = self.container_hierarchy_texts.iter().flatten();
        let texts: Vec<&str> = around
            .chain([&self.leaf_node_text])
            .map(String::as_str)
            .collect();
        texts.join(" ")
    }
}

impl Failure {
    /// One line.
    fn to_text(&self) -> String {
        let message: Vec<&str> = self.message.split_whitespace().collect();
        let file = self.location.file_name.rsplit('/').next();
        format!(
            "{}:{}: {}",
            file.unwrap_or_default(),
            self.location.line_number,
            message.join(" ")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = r#"[{"SpecReports": [
        {"ContainerHierarchyTexts": null, "LeafNodeText": "", "LeafNodeType": "BeforeSuite", "State": "passed"},
        {"ContainerHierarchyTexts": ["Drift"], "LeafNodeText": "should go", "LeafNodeType": "It", "State": "skipped"},
        {"ContainerHierarchyTexts": ["Drift", "Budgets"], "LeafNodeText": "should hold", "LeafNodeType": "It", "State": "timedout",
         "Failure": {"Message": "A suite timeout\n  occurred", "Location": {"FileName": "a/b/drift_test.go", "LineNumber": 66}}}
    ]}]"#;

    #[test]
    fn only_specs_that_were_not_skipped_count() {
        assert_eq!(names(REPORT).unwrap(), ["Drift Budgets should hold"]);
        let ended = outcome(REPORT).unwrap();
        assert_eq!(ended.state, State::TimedOut);
        assert_eq!(ended.why, "drift_test.go:66: A suite timeout occurred");
    }

    #[test]
    fn a_report_without_the_spec_is_no_outcome() {
        assert!(outcome(r#"[{"SpecReports": null}]"#).is_err());
        assert!(outcome("").is_err());
    }
}
