//! Streams of documents are cut as kubectl cuts them (`YAMLOrJSONDecoder` of k8s.io/apimachinery and the visitors of k8s.io/cli-runtime,
//! v0.36.3), and a fault names its document and line.

use plimsoll_snapshot::{Limits, read};

/// A section that spares the reader a region's catalogue, as one line of YAML or JSON.
const SECTION: &str = r#"{"apiVersion": "plimsoll.dev/v1alpha1", "kind": "Snapshot", "time": "2026-11-21T09:30:00Z", "catalogue": {"instanceTypes": [{"name": "m", "capacity": {"cpu": 1, "memory": "1Gi"}, "offerings": [{"zone": "a", "price": 1}]}]}}"#;

/// A pod as YAML.
fn pod(name: &str) -> String {
    format!("apiVersion: v1\nkind: Pod\nmetadata:\n  name: {name}\nspec: {{containers: []}}\n")
}

/// A pod as JSON.
fn json(name: &str) -> String {
    format!(
        r#"{{"apiVersion": "v1", "kind": "Pod", "metadata": {{"name": "{name}"}}, "spec": {{"containers": []}}}}"#
    )
}

/// Names of the pods of a text behind the section, or why it is refused.
fn pods(text: &str) -> Result<Vec<String>, String> {
    let loaded = read(text.as_bytes(), &Limits::default()).map_err(|error| error.to_string())?;
    let pods = loaded.snapshot.pods.iter();
    Ok(pods.map(|pod| pod.name.name.to_string()).collect())
}

/// Names of the pods of documents behind the section.
fn after_section(documents: &str) -> Vec<String> {
    pods(&format!("{SECTION}\n---\n{documents}")).expect("the stream is taken")
}

#[test]
fn documents_of_nothing_are_passed_over() {
    let (a, b) = (pod("a"), pod("b"));
    for stream in [
        format!("{a}---\n{b}---\n"),
        format!("{a}---\n{b}---"),
        format!("---\n---\n{a}---\n\n---\n{b}"),
        format!(
            "# of a chart\n---\n# Source: a.yaml\n{a}---\n# Source: empty.yaml\n---\n# b\n{b}---\n# end\n"
        ),
        format!("{a}--- # the next\n{b}---   \n   # end"),
        format!("null\n---\n{a}---\n~\n---\n{b}---\nnull # again\n"),
        format!("{a}...\n---\n{b}...\n"),
    ] {
        assert_eq!(after_section(&stream), ["a", "b"], "{stream}");
    }
}

#[test]
fn lines_may_end_as_on_windows_and_begin_with_a_mark_or_a_directive() {
    let (a, b) = (pod("a"), pod("b"));
    let stream = format!("{a}---\n# of b\n---\n{b}---\n").replace('\n', "\r\n");
    assert_eq!(after_section(&stream), ["a", "b"]);
    let joined = format!("\u{feff}{a}\u{feff}---\n\u{feff}{b}");
    assert_eq!(after_section(&joined), ["a", "b"]);
    let directive = format!("\u{feff}%YAML 1.2\n---\n{SECTION}\n---\n{a}---\n{b}");
    assert_eq!(pods(&directive), Ok(vec!["a".to_owned(), "b".to_owned()]));
}

#[test]
fn json_and_yaml_may_follow_each_other() {
    let (a, b) = (json("a"), json("b"));
    let names = Ok(vec!["a".to_owned(), "b".to_owned()]);
    for stream in [
        format!("{SECTION}{a}\n{b}"),
        format!("{SECTION}\nnull\n{a}\nnull\n{b}"),
        format!("{SECTION}\n---\n{a}\n---\n{b}\n---\n"),
        format!("{SECTION}\n{a}\n# and as YAML\n---\n{}", pod("b")),
        format!("# comments\n{SECTION}\n---\n{}---\n{b}", pod("a")),
        format!("{{apiVersion: v1, kind: List, items: [{a}]}}\n---\n{SECTION}\n---\n{b}"),
    ] {
        assert_eq!(pods(&stream), names, "{stream}");
    }
}

#[test]
fn lists_stand_in_streams_and_in_lists() {
    let (a, b, c) = (json("a"), json("b"), json("c"));
    let list = format!("apiVersion: v1\nkind: List\nitems:\n- {a}\n- {b}\n---\n{c}\n");
    assert_eq!(after_section(&list), ["a", "b", "c"]);
    let bare = r#"{"metadata": {"name": "b"}, "spec": {"containers": []}}"#;
    let nested = format!(
        "{{apiVersion: v1, kind: List, items: [{a}, {{apiVersion: v1, kind: PodList, items: [{bare}]}}, {c}]}}"
    );
    assert_eq!(after_section(&nested), ["a", "b", "c"]);
}

#[test]
fn faults_name_their_document_and_line() {
    let a = pod("a");
    for (stream, sentence) in [
        (
            format!("{a}---\n# nothing\n---\nkind: Pod\n"),
            "document 2 (line 9): apiVersion is missing; expected what kind of object it is",
        ),
        (
            format!(
                "{a}---\nkind: List\nitems: [{{kind: Pod, apiVersion: v1, metadata: {{name: b}}, spec: {{containers: []}}}}, 3]\n"
            ),
            "document 2 (line 7): items[1] is no object; expected one with apiVersion, kind and metadata",
        ),
        (
            format!("{}\n---\n{{\"kind\": ]\n", json("a")),
            "line 3 column 1: ",
        ),
        (format!("null\n---\n{a}---\na: [b\n"), "line "),
    ] {
        let refused = pods(&stream).expect_err("the stream is refused");
        assert!(refused.starts_with(sentence), "{refused}\n{stream}");
    }
}
