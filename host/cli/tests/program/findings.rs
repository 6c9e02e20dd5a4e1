//! Findings of `plimsoll explain` beside an explanation: node classes of which not all is well, and launches that failed.

use crate::user::{Folder, Ran, fed, plimsoll, pod, snapshot};

fn explained(arguments: &[&str], objects: &str) -> Ran {
    let arguments = [&["explain"][..], arguments].concat();
    fed(&arguments, snapshot(objects).as_bytes()).ok()
}

/// The findings of an explanation.
fn findings(subject: &str, name: &str, objects: &str) -> Vec<String> {
    let ran = explained(&[subject, name, "-"], objects);
    let lines = ran.out.lines();
    let findings = lines.filter_map(|line| line.strip_prefix("finding: "));
    findings.map(str::to_owned).collect()
}

/// The pool's class, with conditions beside those that are true.
fn class(conditions: &[[&str; 4]]) -> String {
    let condition = |[kind, status, reason, message]: &[&str; 4]| {
        format!(
            "    - {{type: {kind}, status: \"{status}\", reason: {reason}, message: '{message}', lastTransitionTime: \"2026-01-01T00:00:00Z\"}}\n"
        )
    };
    let conditions: String = conditions.iter().map(condition).collect();
    format!(
        "---\napiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {{name: default}}\nspec:\n  role: nodes\n  \
         amiSelectorTerms: [{{alias: al2023@latest}}]\n  subnetSelectorTerms: [{{tags: {{a: b}}}}]\n  \
         securityGroupSelectorTerms: [{{tags: {{a: b}}}}]\nstatus:\n  conditions:\n    \
         - {{type: SubnetsReady, status: \"True\", reason: SubnetsReady, message: '', lastTransitionTime: \"2026-01-01T00:00:00Z\"}}\n{conditions}"
    )
}

const NO_QUEUE: [&str; 4] = [
    "InterruptionQueueReady",
    "False",
    "QueueNotFound",
    "INTERRUPTION_QUEUE is \"demo\": sqs:GetQueueUrl: QueueDoesNotExist; expected the name of a queue of this account in us-east-1",
];
const NO_QUEUE_FOUND: &str = "EC2NodeClass default: InterruptionQueueReady is False: QueueNotFound: INTERRUPTION_QUEUE is \"demo\": sqs:GetQueueUrl: \
     QueueDoesNotExist; expected the name of a queue of this account in us-east-1";

/// A NodeClaim without an instance, for which a pod waits.
fn claim(name: &str, reason: &str, message: &str) -> String {
    format!(
        "---\napiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {{name: {name}, uid: u-{name}, creationTimestamp: \"2026-11-21T09:00:00Z\", \
         labels: {{karpenter.sh/nodepool: general}}}}\n\
         spec: {{nodeClassRef: {{group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}}, requirements: [], resources: {{requests: {{cpu: \"1\"}}}}}}\n\
         status: {{conditions: [{{type: Launched, status: Unknown, reason: {reason}, message: '{message}', lastTransitionTime: \"2026-11-21T09:00:10Z\"}}]}}\n"
    )
}

/// D12: a queue that is not there is a finding, of its pool and of a pod that waits for it.
#[test]
fn a_queue_that_cannot_be_read_is_a_finding() {
    let objects = class(&[NO_QUEUE]);
    assert_eq!(findings("nodepool", "general", &objects), [NO_QUEUE_FOUND]);
    let waits = objects.clone() + &pod("web", "1", "1Gi", "");
    assert_eq!(findings("pod", "web", &waits), [NO_QUEUE_FOUND]);
    let never = objects.clone() + &pod("web", "900", "1Gi", "");
    assert_eq!(findings("pod", "web", &never), [NO_QUEUE_FOUND]);
    let ran = explained(&["nodepool", "general", "-", "-o", "json"], &objects);
    let document: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(document["findings"], serde_json::json!([NO_QUEUE_FOUND]));
}

/// T04: a class whose instances end at once says why, and the condition that only sums up is left out.
#[test]
fn a_class_that_is_not_ready_is_told_by_its_cause() {
    let key = [
        "ValidationSucceeded",
        "False",
        "InstancesEndAtOnce",
        "Client.InvalidKMSKey.InvalidState; expected the policy of the key to allow it",
    ];
    let ready = [
        "Ready",
        "False",
        "UnhealthyDependents",
        "ValidationSucceeded=False",
    ];
    let told = findings("nodepool", "general", &class(&[key, ready]));
    let words = "EC2NodeClass default: ValidationSucceeded is False: InstancesEndAtOnce: Client.InvalidKMSKey.InvalidState; expected the policy of the \
                 key to allow it";
    assert_eq!(told, [words]);
    let alone = findings("nodepool", "general", &class(&[ready]));
    let words =
        "EC2NodeClass default: Ready is False: UnhealthyDependents: ValidationSucceeded=False";
    assert_eq!(alone, [words]);
    assert_eq!(findings("nodepool", "general", &class(&[])), [""; 0]);
}

/// T01: a launch that failed is told in the claim's sentence, and one that has not been tried is not.
#[test]
fn a_launch_that_failed_is_a_finding() {
    let role =
        "AuthFailure.ServiceLinkedRoleCreationNotPermitted: create the service-linked role of spot";
    let objects = claim("c-1", "SpotSLRCreationFailed", role)
        + &claim(
            "c-2",
            "AwaitingReconciliation",
            "object is awaiting reconciliation",
        );
    let words = format!("NodeClaim c-1: it has no instance: {role}");
    let words = std::slice::from_ref(&words);
    assert_eq!(findings("nodepool", "general", &objects), words);
    let waits = objects + &pod("web", "900", "1Gi", "");
    assert_eq!(findings("pod", "web", &waits), words);
}

/// What is written of a snapshot has the findings as well.
#[test]
fn a_file_that_was_converted_keeps_its_findings() {
    let folder = Folder::new();
    let from = folder.file("from.yaml", snapshot(&class(&[NO_QUEUE])));
    let to = folder.path("to.json");
    let to = to.to_str().expect("text");
    plimsoll(&["snapshot", "convert", &from, "-O", to]).ok();
    let ran = plimsoll(&["explain", "nodepool", "general", to]).ok();
    let line = format!("finding: {NO_QUEUE_FOUND}\n");
    assert!(ran.out.ends_with(&line), "{}", ran.out);
}

/// A pool beside the general one; `status` are its conditions.
fn other_pool(requirements: &str, limits: &str, status: &str) -> String {
    format!(
        "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {{name: other}}\nspec:\n  limits: {{{limits}}}\n  template: {{spec: {{nodeClassRef: \
         {{group: karpenter.k8s.aws, kind: EC2NodeClass, name: none}}, requirements: [{requirements}]}}}}\nstatus: {{conditions: [{status}]}}\n"
    )
}

/// A pool that is not ready takes no part in plans: a pod that waits is told which those are, and why.
#[test]
fn a_pool_that_is_not_ready_is_told_to_a_pod_that_fits_nowhere() {
    let conditions = "{type: NodeClassReady, status: \"False\", reason: NodeClassNotFound, message: 'EC2NodeClass none does not exist', \
         lastTransitionTime: \"2026-01-01T00:00:00Z\"}, {type: Ready, status: \"False\", reason: UnhealthyDependents, message: '', \
         lastTransitionTime: \"2026-01-01T00:00:00Z\"}";
    let waits = other_pool("", "", conditions) + &pod("web", "9", "1Gi", "");
    let words = "NodePool other is not ready: it waits for NodeClassReady: EC2NodeClass none does not exist";
    assert_eq!(findings("pod", "web", &waits), [words]);
    let fits = other_pool("", "", conditions) + &pod("web", "1", "1Gi", "");
    assert_eq!(findings("pod", "web", &fits), [""; 0]);
}

/// Where a pool's limits keep it from the types that would hold a pod, they are the first reason, and not the size of the types that are left.
#[test]
fn limits_stand_in_front_of_the_sizes_that_they_leave() {
    let waits = other_pool("", "cpu: \"3\"", "")
        + &pod(
            "web",
            "4",
            "1Gi",
            "  nodeSelector: {karpenter.sh/nodepool: other}\n",
        );
    let ran = explained(&["pod", "web", "-"], &waits);
    ran.prints("pool other    5 offerings: 2 would hold it, but the NodePool's limits leave cpu 3 (the cheapest is large)");
    ran.prints("3 too little cpu (requests cpu 4; most: cpu 2 on small)");
}

/// A guard keeps from being bought what the pool's requirements allow.
#[test]
fn guards_on_what_a_pool_allows_are_named() {
    let any = other_pool("", "", "");
    let words = "1 not bought while there are others: guard on unrequested spot capacity";
    explained(&["nodepool", "other", "-"], &any).prints(words);
    let says = "{key: karpenter.sh/capacity-type, operator: Exists}";
    let ran = explained(&["nodepool", "other", "-"], &other_pool(says, "", ""));
    assert!(!ran.out.contains("guard on"), "{}", ran.out);
}

/// What is wrong with an object of a file is one warning, and no finding about whatever is explained.
#[test]
fn faults_of_a_file_are_warnings_and_no_findings() {
    let bad = class(&[]).replace(
        "  role: nodes\n",
        "  role: nodes\n  kubelet: {registerWithTaints: []}\n",
    );
    let ran = explained(&["nodepool", "general", "-"], &bad);
    let words = "registerWithTaints belongs to the controller";
    assert_eq!(ran.err.matches(words).count(), 1, "{}", ran.err);
    assert!(!ran.out.contains(words), "{}", ran.out);
}
