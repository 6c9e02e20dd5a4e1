//! Files shown, checked and converted: `plimsoll snapshot show`, `check` and `convert`.

use crate::user::{Folder, argument, fed, plimsoll, pod, snapshot};

/// Output of kubectl: a list with status, managed fields and kinds that do not matter.
const PRINTED: &str = r#"{"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": ""}, "items": [
  {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1", "uid": "1", "creationTimestamp": "2026-11-21T09:00:00Z",
    "labels": {"topology.kubernetes.io/region": "us-gov-west-1", "topology.kubernetes.io/zone": "us-gov-west-1a"},
    "managedFields": [{"manager": "kubelet", "operation": "Update"}]},
   "spec": {"providerID": "aws:///us-gov-west-1a/i-1"},
   "status": {"allocatable": {"cpu": "1930m", "memory": "3114Mi", "pods": "29"}, "capacity": {"cpu": "2", "memory": "4Gi", "pods": "29"}}},
  {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "shop", "uid": "2", "creationTimestamp": "2026-11-21T09:10:00Z"},
   "spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "500m", "memory": "512Mi"}}}]},
   "status": {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]}},
  {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e"}}
]}"#;

#[test]
fn what_kubectl_prints_is_taken_as_it_is() {
    let ran = fed(&["snapshot", "check", "-"], PRINTED.as_bytes()).ok();
    assert_eq!(ran.out, "standard input: valid\n");
    assert_eq!(
        ran.err,
        "warning: standard input: v1 Event: 1 ignored, decisions do not read this kind\n\
         warning: standard input: no plimsoll.time: taking 2026-11-21T09:10:00Z, the newest instant in the file\n\
         warning: standard input: no NodePool: taking one named default (linux, amd64, on-demand, no limits)\n\
         warning: standard input: no plimsoll.catalogue: taking us-gov-west-1, the region of the nodes\n"
    );
}

#[test]
fn a_region_without_prices_is_told() {
    let elsewhere = PRINTED.replace("us-gov-west-1", "eu-west-1");
    let ran = fed(&["snapshot", "show", "-"], elsewhere.as_bytes()).ok();
    let told =
        "taking region us-east-1; no prices of eu-west-1, the region of the nodes, are known";
    assert!(ran.err.contains(told), "{}", ran.err);
}

/// K21.
#[test]
fn pools_that_overlap_without_weights_are_told() {
    let pool = |name: &str, more: &str| {
        format!(
            "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {{name: {name}}}\nspec:\n{more}  template:\n    spec:\n      \
             nodeClassRef: {{group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}}\n      requirements: []\n"
        )
    };
    let told = |other: &str| {
        let file = snapshot(&format!("{}{other}", pool("batch", "")));
        let ran = fed(&["snapshot", "check", "-"], file.as_bytes());
        ran.err
            .contains("NodePools batch and web match the same pods")
    };
    assert!(told(&pool("web", "")));
    assert!(!told(&pool("web", "  weight: 10\n")));
}

#[test]
fn what_is_not_understood_fails_the_check() {
    let odd = snapshot(&pod("web", "1", "1Gi", "  nodeSelectr: {a: b}\n"));
    let ran = fed(&["snapshot", "check", "-"], odd.as_bytes());
    assert_eq!(ran.code, 1);
    assert!(
        ran.err
            .contains("Pod shop/web: spec.nodeSelectr is not a known field"),
        "{ran:?}"
    );
    assert_eq!(
        ran.error(),
        "standard input: 1 error: invalid or unknown objects, settings or fields"
    );
}

/// Output of a command, line by line, less the digest of its input.
fn undigested(arguments: &[&str]) -> Vec<String> {
    let text = plimsoll(arguments).ok().out;
    let lines = text.lines().filter(|line| !line.contains("inputSha256"));
    lines.map(str::to_owned).collect()
}

/// Every way there and back gives the same plan.
#[test]
fn a_file_says_the_same_in_every_format() {
    let folder = Folder::new();
    let first = folder.file("cluster.yaml", snapshot(&pod("web", "1", "1Gi", "")));
    let plan = |file: &str| undigested(&["plan", file, "-o", "json"]);
    let wanted = plan(&first);
    for name in ["a.json", "a.yaml", "a.json.zst", "a.yaml.zst"] {
        let to = argument(&folder.path(name));
        plimsoll(&["snapshot", "convert", &first, "--to", &to]).ok();
        assert_eq!(plan(&to), wanted, "{name}");
        let again = plimsoll(&["snapshot", "convert", &to, "-o", "yaml"])
            .ok()
            .out;
        assert!(
            again.starts_with("apiVersion: plimsoll.dev/v1alpha1\n"),
            "{again}"
        );
    }
    let is_zstd = std::fs::read(folder.path("a.json.zst")).expect("it is there");
    assert_eq!(&is_zstd[..4], [0x28, 0xb5, 0x2f, 0xfd]);
}

#[test]
fn a_printed_list_becomes_a_snapshot_that_assumes_nothing() {
    let folder = Folder::new();
    let printed = folder.file("printed.json", PRINTED);
    let to = argument(&folder.path("cluster.yaml"));
    plimsoll(&["snapshot", "convert", &printed, "--to", &to]).ok();
    let ran = plimsoll(&["snapshot", "check", &to]).ok();
    assert_eq!(ran.err, "", "time, pool and region are written down");
    let text = std::fs::read_to_string(&to).expect("it is there");
    assert!(text.contains("region: us-gov-west-1"), "{text}");
    assert!(!text.contains("managedFields"), "{text}");
    assert!(
        text.len() < 5_000,
        "a region is not written out type by type"
    );
}

#[test]
fn a_trace_becomes_a_recording() {
    let folder = Folder::new();
    let table = folder.file(
        "trace.csv",
        "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n\
         one,2000,4096,0,0,,LS,Succeeded,10,70,12\ntwo,6000,12288,1,460,T4,LS,Running,30,90,31\n",
    );
    let to = argument(&folder.path("recording.yaml"));
    plimsoll(&["snapshot", "convert", &table, "--to", &to]).ok();
    let shown = plimsoll(&["snapshot", "show", &to]).ok();
    assert!(
        shown
            .out
            .lines()
            .any(|line| line.starts_with("recorded changes ") && line.ends_with(" 2")),
        "{}",
        shown.out
    );
    let of = |input: &str| undigested(&["simulate", input, "-o", "json"]);
    assert_eq!(of(&table), of(&to), "the recording plays as the trace does");
}
