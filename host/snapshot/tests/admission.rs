//! Templates in files with what admission gives to the pods that are made of them.

use plimsoll_base::resources::ResourceName;
use plimsoll_model::{DaemonSet, TolerationOperator};
use plimsoll_snapshot::{Limits, read};

/// A daemon set of namespace `ops` with two containers, the second of which asks for nothing.
const AGENT: &str = r"
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: ops}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      runtimeClassName: sandboxed
      priorityClassName: high
      nodeSelector: {team: ops}
      containers:
      - {name: main, resources: {limits: {cpu: 300m}}}
      - {name: side}
";

const RUNTIME: &str = r#"
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: sandboxed}
handler: sandbox
overhead: {podFixed: {cpu: 500m}}
scheduling:
  nodeSelector: {sandbox: "true"}
  tolerations: [{key: sandbox, operator: Exists}]
"#;

const RANGE: &str = r#"
apiVersion: v1
kind: LimitRange
metadata: {name: defaults, namespace: ops}
spec:
  limits:
  - {type: Pod, max: {cpu: "9"}}
  - {type: Container, default: {cpu: 400m}, defaultRequest: {cpu: 200m}, max: {memory: 64Mi}}
"#;

const PRIORITY: &str = r"
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 1000
";

/// The one daemon set of these documents.
fn agent(documents: &[&str]) -> DaemonSet {
    let mut text = documents.join("\n---\n");
    text.push_str("\n---\nplimsoll: {time: 2026-11-21T09:30:00Z}\n");
    let loaded = read(text.as_bytes(), &Limits::default()).expect("the text is a snapshot");
    let notes = loaded.notes.iter().map(ToString::to_string);
    // There is neither pool nor catalogue, which is not what these tests are about.
    let passed: Vec<String> = notes.filter(|note| !note.starts_with("no ")).collect();
    assert_eq!(passed, Vec::<String>::new());
    DaemonSet::clone(&loaded.snapshot.daemon_sets[0])
}

fn cpu_and_mebibytes(set: &DaemonSet) -> (i64, i64) {
    let requests = &set.pod.requests;
    let memory = requests.get(&ResourceName::Memory) >> 20;
    (requests.get(&ResourceName::Cpu), memory)
}

#[test]
fn containers_get_what_a_limit_range_of_their_namespace_has() {
    // The first container's limit stands in for its request; memory follows from the most that is allowed.
    assert_eq!(cpu_and_mebibytes(&agent(&[AGENT, RANGE])), (500, 128));
    assert_eq!(cpu_and_mebibytes(&agent(&[AGENT])), (300, 0));
    let elsewhere = RANGE.replace("namespace: ops", "namespace: shop");
    assert_eq!(cpu_and_mebibytes(&agent(&[AGENT, &elsewhere])), (300, 0));
}

#[test]
fn a_runtime_class_adds_overhead_labels_and_tolerations() {
    for documents in [[AGENT, RUNTIME], [RUNTIME, AGENT]] {
        let set = agent(&documents);
        assert_eq!(cpu_and_mebibytes(&set), (800, 0));
        let labels: Vec<String> = set
            .pod
            .node_selector
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(labels, ["sandbox In [true]", "team In [ops]"]);
        let tolerated = &set.pod.tolerations;
        assert_eq!(tolerated.len(), 1);
        assert_eq!(tolerated[0].operator, TolerationOperator::Exists);
    }
}

#[test]
fn a_priority_class_gives_its_value() {
    assert_eq!(agent(&[AGENT, PRIORITY]).pod.priority, 1000);
    let system = AGENT.replace(
        "priorityClassName: high",
        "priorityClassName: system-node-critical",
    );
    assert_eq!(agent(&[&system]).pod.priority, 2_000_001_000);
    let unnamed = AGENT.replace("priorityClassName: high", "hostNetwork: false");
    let default = PRIORITY.replace("value: 1000", "value: 7\nglobalDefault: true");
    assert_eq!(agent(&[&unnamed, &default]).pod.priority, 7);
    assert_eq!(agent(&[&unnamed, PRIORITY]).pod.priority, 0);
}
