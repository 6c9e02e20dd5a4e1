//! Reasons why a pod waits, rule by rule, and why a claim is as it is: `plimsoll explain`.

use crate::user::{Ran, fed, pod, snapshot};

fn explained(subject: &str, name: &str, objects: &str) -> Ran {
    fed(
        &["explain", subject, name, "-"],
        snapshot(objects).as_bytes(),
    )
}

/// Explains pod `web` among the objects and checks the whole answer behind its first line.
fn waits(objects: &str, lines: &[&str]) {
    let ran = explained("pod", "web", objects).ok();
    let mut said = ran.out.lines();
    assert_eq!(
        said.next(),
        Some("shop/web is unschedulable: no offering of its NodePools can hold it"),
        "{ran:?}"
    );
    let said: Vec<&str> = said.collect();
    assert_eq!(said, lines, "{}", ran.out);
}

/// A second pool with requirements or taints of its own.
fn pool(name: &str, template: &str, more: &str) -> String {
    format!(
        "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {{name: {name}}}\nspec:\n  template: {{spec: {{\
         nodeClassRef: {{group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}}, {template}}}}}\n{more}"
    )
}

fn only(name: &str) -> String {
    format!("  nodeSelector: {{karpenter.sh/nodepool: {name}}}\n")
}

const NOT_ITS_POOL: &str = "  pool general  the pod requires karpenter.sh/nodepool In [few], the NodePool allows karpenter.sh/nodepool In [general]\n";

/// T08: not enough cpu, not enough memory.
#[test]
fn too_little_of_a_resource_is_counted_and_the_most_there_is_named() {
    waits(
        &pod("web", "9", "64Gi", ""),
        &["  pool general  4 offerings: 4 too little cpu (requests cpu 9; most: cpu 8 on large)"],
    );
    waits(
        &pod("web", "1", "64Gi", ""),
        &[
            "  pool general  4 offerings: 4 too little memory (requests memory 64Gi; most: memory 32Gi on large)",
        ],
    );
    waits(
        &pod("web", "4", "64Gi", ""),
        &[
            "  pool general  4 offerings: 4 too little memory (requests memory 64Gi; most: memory 32Gi on large)",
        ],
    );
}

/// What daemons take is said where they take any of the resource.
#[test]
fn the_most_there_is_is_after_daemon_sets_that_ask_for_it() {
    let daemon = "---\napiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: agent, namespace: kube-system}\n\
        spec: {selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, \
        spec: {containers: [{name: a, resources: {requests: {cpu: 100m}}}]}}}\n";
    waits(
        &(daemon.to_owned() + &pod("web", "9", "1Gi", "")),
        &[
            "  pool general  4 offerings: 4 too little cpu (requests cpu 9; most after DaemonSets: cpu 7900m on large)",
        ],
    );
    waits(
        &(daemon.to_owned() + &pod("web", "1", "64Gi", "")),
        &[
            "  pool general  4 offerings: 4 too little memory (requests memory 64Gi; most: memory 32Gi on large)",
        ],
    );
}

/// A zone that nothing is sold in is the reason, though the small type would be too small as well.
#[test]
fn a_rule_that_refuses_every_offering_is_the_only_reason() {
    waits(
        &pod(
            "web",
            "4",
            "1Gi",
            "  nodeSelector: {topology.kubernetes.io/zone: zone-c}\n",
        ),
        &["  pool general  4 offerings: 4 not in zone zone-c"],
    );
}

/// Offerings that are too small are those that the pod would take if they were larger.
#[test]
fn requirements_are_counted_before_resources() {
    waits(
        &pod(
            "web",
            "3",
            "1Gi",
            "  nodeSelector: {topology.kubernetes.io/zone: zone-a, node.kubernetes.io/instance-type: small}\n",
        ),
        &[
            "  pool general  4 offerings: 2 not small",
            "                             1 not in zone zone-a",
            "                             1 too little cpu (requests cpu 3; most: cpu 2 on small)",
        ],
    );
}

/// A pool for each team, and a pod of one: its own pool comes first, and pools that exclude it are counted where they are many.
#[test]
fn pools_that_exclude_a_pod_come_last_and_are_counted() {
    let team = |name: &str| {
        let taint =
            format!("requirements: [], taints: [{{key: team, value: {name}, effect: NoSchedule}}]");
        pool(name, &taint, "")
    };
    let teams: String = ["a", "b", "c", "d", "e", "f"].map(team).concat();
    let more = "  nodeSelector: {karpenter.sh/nodepool: e}\n  \
                tolerations: [{key: team, value: e, effect: NoSchedule}]\n";
    let objects = teams + &pod("web", "9", "1Gi", more);
    waits(
        &objects,
        &[
            "  pool e        5 offerings: 5 too little cpu (requests cpu 9; most: cpu 8 on large)",
            "  pool general  the pod requires karpenter.sh/nodepool In [e], the NodePool allows karpenter.sh/nodepool In [general]",
            "  pool f        tainted team=f:NoSchedule, not tolerated",
            "  pool d        tainted team=d:NoSchedule, not tolerated",
            "  3 other NodePools with taints or labels that exclude the pod",
        ],
    );
    let said = fed(
        &["explain", "pod", "web", "-", "-o", "json"],
        snapshot(&objects).as_bytes(),
    );
    let said = said.ok().out;
    assert!(
        said.contains("; 3 other NodePools with taints or labels that exclude the pod"),
        "{said}"
    );
    assert!(
        said.contains("tainted team=a:NoSchedule"),
        "documents have all of them: {said}"
    );
}

/// T08: not enough pods.
#[test]
fn too_few_pods_is_told() {
    let daemon = |number: usize| {
        format!(
            "---\napiVersion: apps/v1\nkind: DaemonSet\nmetadata: {{name: agent-{number}, namespace: kube-system}}\n\
             spec: {{selector: {{matchLabels: {{app: a{number}}}}}, template: {{metadata: {{labels: {{app: a{number}}}}}, spec: {{containers: [{{name: a}}]}}}}}}\n"
        )
    };
    let daemons = (0..50).map(daemon).collect::<Vec<_>>().concat();
    waits(
        &(daemons + &pod("web", "1", "1Gi", "")),
        &[
            "  pool general  2 offerings: 2 too few pods (requests pods 1; most after DaemonSets: pods 0 on large)",
        ],
    );
}

/// T06: the cause in one sentence, where the catalogue lacks the resource; with it, the pod gets an instance.
#[test]
fn a_resource_that_nothing_offers_is_told_in_one_sentence() {
    let asks = |name: &str| {
        format!(
            "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, namespace: shop}}\nspec:\n  containers:\n  \
             - {{name: main, resources: {{requests: {{cpu: 1475m, memory: 1686Mi}}, limits: {{vpc.amazonaws.com/pod-eni: \"1\"}}}}}}\n"
        )
    };
    waits(
        &asks("web"),
        &[
            "  pool general  4 offerings: 4 without vpc.amazonaws.com/pod-eni (requests vpc.amazonaws.com/pod-eni 1; no allowed instance type has vpc.amazonaws.com/pod-eni)",
        ],
    );
    let daemons = (0..7)
        .map(|number| {
            let (cpu, memory) = if number == 0 { ("310m", "272Mi") } else { ("0", "0") };
            format!(
                "---\napiVersion: apps/v1\nkind: DaemonSet\nmetadata: {{name: d{number}, namespace: kube-system}}\n\
                 spec: {{selector: {{matchLabels: {{app: d}}}}, template: {{metadata: {{labels: {{app: d}}}}, \
                 spec: {{containers: [{{name: d, resources: {{requests: {{cpu: {cpu}, memory: {memory}}}}}}}]}}}}}}\n"
            )
        })
        .collect::<Vec<_>>()
        .concat();
    let pool = pool(
        "general",
        "requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}, {key: kubernetes.io/arch, operator: In, values: [amd64]}, \
         {key: node.kubernetes.io/instance-type, operator: In, values: [c7i.2xlarge, c7i.4xlarge]}]",
        "",
    );
    let today = "apiVersion: plimsoll.dev/v1alpha1\nkind: Snapshot\ntime: 2026-11-21T09:30:00Z\n\
                 catalogue: {region: us-east-1, zones: [us-east-1a, us-east-1c]}\n";
    let today = format!("{today}{pool}{daemons}{}", asks("web"));
    let ran = fed(&["explain", "pod", "web", "-"], today.as_bytes()).ok();
    assert!(ran.out.starts_with("shop/web gets a new node\n"), "{ran:?}");
    assert!(
        ran.out
            .contains(" of NodePool general: c7i.2xlarge, on-demand"),
        "{ran:?}"
    );
    assert!(
        ran.out
            .contains("requests cpu 1785m, memory 1958Mi, pods 8, vpc.amazonaws.com/pod-eni 1"),
        "the daemons' share is included: {ran:?}"
    );
}

/// T08: label.
#[test]
fn a_label_that_no_pool_has_is_told() {
    waits(
        &pod("web", "1", "1Gi", "  nodeSelector: {team: blue}\n"),
        &[
            "  pool general  the pod requires team In [blue], a label that the NodePool does not define",
        ],
    );
}

/// T08: zone, capacity type.
#[test]
fn zone_and_capacity_type_are_told_with_what_is_nearest() {
    waits(
        &pod(
            "web",
            "1",
            "1Gi",
            "  nodeSelector: {topology.kubernetes.io/zone: zone-c}\n",
        ),
        &["  pool general  4 offerings: 4 not in zone zone-c"],
    );
    waits(
        &pod(
            "web",
            "1",
            "1Gi",
            "  nodeSelector: {karpenter.sh/capacity-type: spot}\n",
        ),
        &[
            "  pool general  the pod requires karpenter.sh/capacity-type In [spot], the NodePool allows karpenter.sh/capacity-type In [on-demand]",
            "nearest to pool general: small in zone zone-a, spot, would fit, but the NodePool requires karpenter.sh/capacity-type In [on-demand]",
        ],
    );
}

/// T08: taint.
#[test]
fn a_taint_that_is_not_tolerated_is_told() {
    let gpu = pool(
        "gpu",
        "requirements: [], taints: [{key: gpu, effect: NoSchedule}]",
        "",
    );
    waits(
        &(gpu + &pod("web", "9", "1Gi", "")),
        &[
            "  pool general  4 offerings: 4 too little cpu (requests cpu 9; most: cpu 8 on large)",
            "  pool gpu      tainted gpu:NoSchedule, not tolerated",
        ],
    );
}

/// A pod of one cpu that a pool beside the general one has to serve.
fn one_from(pool: String, name: &str) -> Ran {
    let world = pool + &pod("web", "1", "1Gi", &only(name));
    explained("pod", "web", &world).ok()
}

/// T08: limit.
#[test]
fn a_limit_is_told_with_what_it_leaves() {
    let small = pool("few", "requirements: []", "  limits: {cpu: \"1\"}\n");
    let ran = one_from(small, "few");
    ran.prints("pool few      its limits leave no room: cpu 1 left, the smallest type it may buy, small, has cpu 2");
    ran.prints(NOT_ITS_POOL);
}

/// T08: minimum values.
#[test]
fn a_minimum_of_values_is_told() {
    let choosy = pool(
        "choosy",
        "requirements: [{key: karpenter.k8s.aws/instance-family, operator: Exists, minValues: 3}]",
        "",
    );
    let ran = one_from(choosy, "choosy");
    ran.prints("pool choosy   5 offerings: 5 too few to choose from: the pool wants at least 3 values of karpenter.k8s.aws/instance-family, the pod leaves 2 (minValues)");
}

/// T08: the zone of a volume.
#[test]
fn the_zone_of_a_volume_is_told_with_its_name() {
    let volume = "---\napiVersion: v1\nkind: PersistentVolume\nmetadata: {name: pv-1}\n\
        spec: {claimRef: {namespace: shop, name: data}, csi: {driver: ebs.csi.aws.com, volumeHandle: v}, \
        nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [zone-x]}]}]}}}\n\
        ---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data, namespace: shop, annotations: {pv.kubernetes.io/bind-completed: \"yes\"}}\n\
        spec: {volumeName: pv-1, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n";
    let more = "  volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]\n";
    waits(
        &(volume.to_owned() + &pod("web", "1", "1Gi", more)),
        &["  pool general  4 offerings: 4 not in zone zone-x (volume data lives there)"],
    );
}

#[test]
fn a_pod_that_has_a_place_is_told_where() {
    let ran = explained("pod", "shop/web", &pod("web", "1", "1Gi", "")).ok();
    let name = ran.out.split(' ').find(|word| word.starts_with("general-"));
    let name = name.expect("the NodeClaim has a name");
    assert_eq!(
        ran.out,
        format!(
            "shop/web gets a new node\n\
             NodeClaim {name} of NodePool general: small, on-demand, zone zone-a, $0.0500/h\n  requests cpu 1, memory 1Gi, pods 1\n  \
             priced by list-price: $0.0500/h, \"list price\" (list price 0.05)\n  \
             cheapest other: small zone-b on-demand: $0.0500/h, \"list price\" (list price 0.05)\n  \
             or small zone-b on-demand $0.0500/h\n"
        )
    );
}

#[test]
fn a_claim_is_told_with_its_pods() {
    let objects = (0..8)
        .map(|at| pod(&format!("web-{at}"), "200m", "64Mi", ""))
        .collect::<Vec<_>>()
        .concat();
    let ran = explained("nodeclaim", "0", &objects).ok();
    let name = ran.out.split(' ').nth(1).expect("it has a name");
    assert_eq!(explained("nodeclaim", name, &objects).ok().out, ran.out);
    assert!(
        ran.out.ends_with(
            "  for 8 pods: shop/web-0, shop/web-1, shop/web-2, shop/web-3, shop/web-4 and 3 more\n"
        ),
        "{}",
        ran.out
    );
}

#[test]
fn names_that_do_not_exist_are_refused_with_what_does() {
    let ran = explained("pod", "wib", &pod("web", "1", "1Gi", ""));
    assert_eq!(
        (ran.code, ran.error()),
        (
            1,
            "there is no pod wib in the snapshot; did you mean shop/web?"
        )
    );
    let ran = explained("nodeclaim", "7", &pod("web", "1", "1Gi", ""));
    assert_eq!(
        (ran.code, ran.error()),
        (
            1,
            "there is no NodeClaim 7 in the snapshot, nor in its plan, which has 1, numbered from 0"
        )
    );
}

#[test]
fn a_pod_of_a_daemon_set_is_told_as_bound_to_its_node() {
    let daemon = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: agent, namespace: shop, ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: agent, uid: a, controller: true}]}\n\
        spec:\n  containers: [{name: main, resources: {requests: {cpu: 500m}}}]\n  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: \
        {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [n1]}]}]}}}\n";
    let ran = explained("pod", "agent", daemon).ok();
    assert_eq!(
        ran.out,
        "shop/agent belongs to a DaemonSet and is bound to its node: no other node can take it\n"
    );
}
