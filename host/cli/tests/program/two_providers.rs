//! NodePools of EC2 and of KWOK beside each other: each buys what its own provider sells, in a file and in a cluster.

use serde_json::{Value, json};

use crate::server::{kubeconfig, server};
use crate::user::{Folder, Ran, argument, command, plimsoll, pod};

/// The type of KWOK's own list that a pod of one cpu needs.
const OF_KWOK: &str = "c-2x-amd64-linux";
const TIME: &str = "2026-01-01T00:00:00Z";

fn pool(name: &str, group: &str, kind: &str) -> Value {
    let wants = |key: &str, value: &str| json!({"key": key, "operator": "In", "values": [value]});
    json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodePool",
        "metadata": {"name": name, "uid": name, "creationTimestamp": TIME},
        "spec": {"template": {"spec": {
            "nodeClassRef": {"group": group, "kind": kind, "name": "default"},
            "requirements": [
                wants("kubernetes.io/arch", "amd64"),
                wants("kubernetes.io/os", "linux"),
                wants("karpenter.sh/capacity-type", "on-demand"),
            ],
        }}},
        "status": {"conditions": [{"type": "Ready", "status": "True", "reason": "Ready", "message": "", "lastTransitionTime": TIME}]},
    })
}

fn lab() -> Value {
    pool("lab", "karpenter.kwok.sh", "KWOKNodeClass")
}

fn cloud() -> Value {
    pool("cloud", "karpenter.k8s.aws", "EC2NodeClass")
}

/// A file without a catalogue: these NodePools, and a pod for each.
fn file(folder: &Folder, pools: &[Value]) -> String {
    let mut text = String::from("{apiVersion: plimsoll.dev/v1alpha1, kind: Snapshot}\n");
    for pool in pools {
        let name = pool["metadata"]["name"].as_str().expect("a name");
        let only = format!("  nodeSelector: {{karpenter.sh/nodepool: {name}}}\n");
        text.push_str("---\n");
        text.push_str(&pool.to_string());
        text.push('\n');
        text += &pod(&format!("for-{name}"), "1", "1Gi", &only);
    }
    folder.file("world.yaml", text)
}

/// NodePool and instance type of each planned node.
fn bought(file: &str) -> Vec<(String, String)> {
    let ran = plimsoll(&["plan", file, "-o", "json"]).ok();
    let plan: Value = serde_json::from_str(&ran.out).expect("JSON");
    let claims = plan["nodeClaims"].as_array().expect("claims").iter();
    let launches = plan["launches"].as_array().expect("launches").iter();
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let pair = |(claim, launch): (&Value, &Value)| {
        assert_eq!(claim["metadata"]["name"], launch["nodeClaim"]);
        let pool = &claim["metadata"]["labels"]["karpenter.sh/nodepool"];
        (text(pool), text(&launch["options"][0]["instanceType"]))
    };
    let mut bought: Vec<_> = claims.zip(launches).map(pair).collect();
    bought.sort();
    bought
}

#[test]
fn a_file_without_a_catalogue_plans_kwoks_types_for_its_node_pools() {
    let folder = Folder::new();
    let path = file(&folder, &[lab()]);
    let ran = plimsoll(&["plan", &path]).ok();
    ran.prints(OF_KWOK);
    let words = "no plimsoll.catalogue: taking KWOK's own instance types for NodePools of a KWOKNodeClass (lab)";
    assert!(ran.err.contains(words), "{}", ran.err);
    assert!(!ran.err.contains("taking region"), "{}", ran.err);
    let kwoks = [("lab".to_owned(), OF_KWOK.to_owned())];
    assert_eq!(bought(&path), kwoks);
    let converted = argument(&folder.path("converted.json"));
    plimsoll(&["snapshot", "convert", &path, "-O", &converted]).ok();
    assert_eq!(bought(&converted), kwoks);
}

#[test]
fn beside_them_those_of_ec2_buy_in_the_region_that_is_assumed() {
    let folder = Folder::new();
    let path = file(&folder, &[lab(), cloud()]);
    let ran = plimsoll(&["plan", &path, "--check"]).ok();
    assert!(ran.err.contains("taking region us-east-1"), "{}", ran.err);
    let converted = argument(&folder.path("converted.json"));
    plimsoll(&["snapshot", "convert", &path, "-O", &converted]).ok();
    for path in [path, converted] {
        let [(cloud, on_ec2), (lab, on_kwok)] = &bought(&path)[..] else {
            unreachable!("two nodes");
        };
        assert_eq!((cloud.as_str(), lab.as_str()), ("cloud", "lab"));
        assert_eq!(on_kwok, OF_KWOK);
        assert!(on_ec2.contains('.'), "{on_ec2}");
    }
}

/// A cluster with these NodePools and a pod for NodePool lab and one for cloud.
fn cluster(folder: &Folder, pools: Vec<Value>) -> String {
    let waits = |name: &str| {
        json!({
            "metadata": {"name": format!("for-{name}"), "namespace": "shop", "uid": name, "creationTimestamp": TIME},
            "spec": {
                "nodeSelector": {"karpenter.sh/nodepool": name},
                "containers": [{"name": "main", "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}],
            },
            "status": {"phase": "Pending", "conditions": [
                {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "lastTransitionTime": TIME},
            ]},
        })
    };
    let pods = vec![waits("lab"), waits("cloud")];
    let list = |items: &[Value]| {
        let list = json!({"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": "1"}, "items": items});
        ("200 OK", list.to_string())
    };
    let port = server(move |path| match path {
        "/version" => {
            let version = json!({
                "major": "1", "minor": "35", "gitVersion": "v1.35.0", "gitCommit": "", "gitTreeState": "", "buildDate": "",
                "goVersion": "", "compiler": "", "platform": "",
            });
            ("200 OK", version.to_string())
        }
        "/apis/karpenter.sh/v1/nodepools" => list(&pools),
        "/api/v1/pods" => list(&pods),
        _ => {
            let none = json!({
                "apiVersion": "v1", "kind": "Status", "status": "Failure", "reason": "NotFound", "message": "not found", "code": 404,
            });
            ("404 Not Found", none.to_string())
        }
    });
    kubeconfig(folder, port)
}

/// Runs a command on the cluster of a kubeconfig, where no variable says a region.
fn asked(arguments: &[&str], kubeconfig: &str) -> Ran {
    let all = [arguments, &["--kubeconfig", kubeconfig]].concat();
    let mut command = command(&all);
    for name in [
        "AWS_REGION",
        "AWS_DEFAULT_REGION",
        "INSTANCE_TYPES_FILE_PATH",
    ] {
        command.env_remove(name);
    }
    command.output().expect("the program starts").into()
}

const LEFT_OUT: &str = "finding: NodePool cloud has an EC2NodeClass, and neither a node nor AWS_REGION says in which region; its offerings are left out\n";
const POLICY: [&str; 2] = ["--policy", "rank=list-price"];

#[test]
fn a_cluster_without_a_region_is_explained_but_for_the_offerings_of_ec2() {
    let folder = Folder::new();
    let config = cluster(&folder, vec![lab(), cloud()]);
    let explain = |subject: &str, name: &str| {
        asked(
            &[&["explain", subject, name][..], &POLICY].concat(),
            &config,
        )
    };
    let lab = explain("pod", "for-lab").ok();
    lab.prints("shop/for-lab gets a new node\n");
    lab.prints(&format!(" of NodePool lab: {OF_KWOK}, on-demand"));
    lab.prints(LEFT_OUT);
    let cloud = explain("pod", "for-cloud").ok();
    cloud.prints("shop/for-cloud is unschedulable");
    cloud.prints(LEFT_OUT);
    explain("nodepool", "cloud").ok().prints(LEFT_OUT);
    let recorded = asked(&["snapshot", "record", "-O", "-"], &config);
    assert_eq!(
        recorded.error(),
        "NodePool cloud has an EC2NodeClass, and no node says in which region; expected --region, or AWS_REGION"
    );
    let missing = explain("pod", "huge");
    assert_eq!(missing.error(), "there is no pod huge in the cluster");
}

#[test]
fn with_a_region_node_pools_of_kwok_are_explained_by_kwoks_types_all_the_same() {
    let folder = Folder::new();
    for pools in [vec![lab()], vec![lab(), cloud()]] {
        let config = cluster(&folder, pools.clone());
        let region = ["--region", "us-east-1"];
        let explain = |name: &str| {
            asked(
                &[&["explain", "pod", name][..], &POLICY, &region].concat(),
                &config,
            )
        };
        let lab = explain("for-lab").ok();
        lab.prints(&format!(" of NodePool lab: {OF_KWOK}, on-demand"));
        assert!(!lab.out.contains("finding"), "{}", lab.out);
        if pools.len() > 1 {
            let cloud = explain("for-cloud").ok();
            cloud.prints(" of NodePool cloud: ");
            assert!(!cloud.out.contains("-amd64-linux"), "{}", cloud.out);
            let to = argument(&folder.path("recorded.json"));
            asked(
                &[&["snapshot", "record", "--names", "-O", &to][..], &region].concat(),
                &config,
            )
            .ok();
            let types: Vec<_> = bought(&to);
            assert_eq!(types[1], ("lab".to_owned(), OF_KWOK.to_owned()));
        }
    }
}
