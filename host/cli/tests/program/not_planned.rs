//! Pods and minimum values of which a plan says that it does less than was asked for.

use crate::json::{check, planned};
use crate::user::{fed, pod, snapshot};

/// Every pod without a node is placed, unschedulable or not planned, and of the last the reason is told.
#[test]
fn pods_that_are_not_planned_are_listed_with_the_reason() {
    let no_pool = "{matchExpressions: [{key: karpenter.sh/nodepool, operator: DoesNotExist}]}";
    let linux = "{matchExpressions: [{key: kubernetes.io/os, operator: In, values: [linux]}]}";
    let required = |terms: &str| {
        format!(
            "  affinity: {{nodeAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: [{terms}]}}}}}}\n"
        )
    };
    let prefers = format!(
        "  affinity: {{nodeAffinity: {{preferredDuringSchedulingIgnoredDuringExecution: [{{weight: 100, preference: {no_pool}}}]}}}}\n"
    );
    let objects = [
        pod("wishes", "1", "1Gi", &prefers),
        pod(
            "either",
            "1",
            "1Gi",
            &required(&format!("{no_pool}, {linux}")),
        ),
        pod("none", "1", "1Gi", &required(no_pool)),
        pod(
            "gated",
            "1",
            "1Gi",
            "  schedulingGates: [{name: example.com/later}]\n",
        ),
    ];
    let plan = planned(&objects.concat());
    assert_eq!(
        plan["placements"].as_array().map(Vec::len),
        Some(2),
        "{plan}"
    );
    let told = plan["notPlannedPods"].as_array().expect("a list");
    let told: Vec<_> = told
        .iter()
        .map(|pod| (pod["pod"]["name"].as_str(), pod["reason"].as_str()))
        .collect();
    let expected = [("gated", "SchedulingGated"), ("none", "ExcludesNodePools")];
    assert_eq!(
        told,
        expected.map(|(name, reason)| (Some(name), Some(reason)))
    );
    let text = fed(&["plan", "-"], snapshot(&objects.concat()).as_bytes()).ok();
    text.prints("not planned: 1 pod (shop/none): requires nodes without the label karpenter.sh/nodepool: no NodePool can launch one\n");
}

#[test]
fn a_lowered_minimum_of_values_gives_a_claim_that_an_api_server_takes() {
    let pool = "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: zonal}\nspec:\n  template: {spec: {\
         nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}, \
         requirements: [{key: topology.kubernetes.io/zone, operator: Exists, minValues: 2}]}}\n";
    let one =
        "  nodeSelector: {karpenter.sh/nodepool: zonal, topology.kubernetes.io/zone: zone-a}\n";
    let objects = pool.to_owned() + &pod("web", "1", "1Gi", one);
    let refused = planned(&objects);
    let said = "too few to choose from: the pool wants at least 2 values of topology.kubernetes.io/zone, the pod leaves 1 (minValues)";
    assert!(
        refused["unschedulablePods"].to_string().contains(said),
        "{refused}"
    );
    let best_effort = "seed: 1\nsettings: {minValues: BestEffort}";
    let input = snapshot(&objects).replacen("seed: 1", best_effort, 1);
    let ran = fed(&["plan", "-", "-o", "json", "--check"], input.as_bytes()).ok();
    let plan = check("plan", &ran.out);
    let claim = &plan["nodeClaims"][0];
    let found = plimsoll_api::validate("karpenter.sh/v1", "NodeClaim", claim);
    assert!(found.is_empty(), "{found:?}\n{claim}");
    assert!(
        plan["notes"].to_string().contains("is lowered from 2 to 1"),
        "{plan}"
    );
}
