//! The document for a node, held against what Karpenter writes, and against what a class's own settings may not lose.

use std::sync::Arc;

use plimsoll_model::{Effect, Taint};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::super::release::Release;
use super::*;
use crate::sample::cluster;

fn node(custom: &str) -> NodeSetup {
    let taint = |key: &str, value: &str, effect| Taint {
        key: Arc::from(key),
        value: Arc::from(value),
        effect,
    };
    NodeSetup {
        labels: [("karpenter.sh/nodepool", "p"), ("kubernetes.io/x", "y")]
            .map(|(key, value)| (Arc::from(key), Arc::from(value)))
            .into(),
        taints: vec![
            taint("a", "", Effect::NoSchedule),
            taint("s", "1", Effect::NoExecute),
            taint("a", "2", Effect::NoExecute),
            taint("karpenter.sh/unregistered", "", Effect::NoExecute),
        ],
        kubelet: map(&json!({"maxPods": 29, "clusterDNS": ["fd00::a"]})),
        custom: Some(custom.to_owned()),
        ..NodeSetup::default()
    }
}

/// A node whose class has these settings of kubelet, and that has these beside them.
fn with(custom: &str, class: &Json, more: &Json) -> NodeSetup {
    let mut kubelet = map(class);
    kubelet.extend(map(more));
    NodeSetup {
        kubelet,
        class_kubelet: map(class),
        ..node(custom)
    }
}

fn map(fields: &Json) -> std::collections::BTreeMap<String, Json> {
    serde_json::from_value(fields.clone()).expect("a map")
}

/// The document of a node, read back.
fn document(node: &NodeSetup) -> Json {
    let text = text(&cluster(), node).expect("user data");
    let read: Table = text.parse().expect("TOML");
    serde_json::to_value(read).expect("plain values")
}

fn kubernetes(node: &NodeSetup) -> Json {
    document(node)["settings"]["kubernetes"].take()
}

/// The sentence by which user data is refused.
fn refusal(node: &NodeSetup) -> String {
    let refused = text(&cluster(), node).expect_err("a refusal").to_string();
    let words = refused.strip_prefix("spec.userData");
    let words = words.expect("the field").trim_start_matches(':');
    words.trim_start().to_owned()
}

#[test]
fn a_node_has_its_cluster_its_room_its_labels_and_its_taints() {
    let expected = json!({"settings": {"kubernetes": {
        "api-server": "https://demo.example", "cluster-certificate": "Y2E=", "cluster-name": "demo",
        "cluster-dns-ip": "fd00::a", "max-pods": 29,
        "node-labels": {"karpenter.sh/nodepool": "p"},
        "node-taints": {
            "a": [":NoSchedule", "2:NoExecute"], "karpenter.sh/unregistered": [":NoExecute"], "s": ["1:NoExecute"],
        },
    }}});
    for nothing in [
        "",
        " \n",
        "#!/bin/bash\n# nothing",
        "[settings]",
        "[settings.kubernetes]\n",
    ] {
        assert_eq!(document(&node(nothing)), expected, "{nothing}");
    }
    let without = NodeSetup {
        custom: None,
        ..node("")
    };
    assert_eq!(document(&without), expected);
}

#[test]
fn settings_of_kubelet_have_bottlerockets_names_and_forms() {
    let class = json!({
        "maxPods": 42, "clusterDNS": ["10.0.0.10"], "systemReserved": {"cpu": "100m", "pid": "100"},
        "evictionHard": {"memory.available": "5%"}, "evictionSoft": {"memory.available": "500Mi"},
        "evictionSoftGracePeriod": {"memory.available": "90s"}, "evictionMaxPodGracePeriod": 60,
        "imageGCHighThresholdPercent": 80, "imageGCLowThresholdPercent": 70, "cpuCFSQuota": false, "podsPerCore": null,
    });
    let computed = json!({"kubeReserved": {"cpu": "70m", "memory": "574Mi"}});
    let mut own = kubernetes(&with("", &class, &computed));
    for key in [
        "api-server",
        "cluster-certificate",
        "cluster-name",
        "node-labels",
        "node-taints",
    ] {
        own.as_object_mut().expect("a table").remove(key);
    }
    let expected = json!({
        "max-pods": 42, "cluster-dns-ip": "10.0.0.10", "system-reserved": {"cpu": "100m", "pid": "100"},
        "kube-reserved": {"cpu": "70m", "memory": "574Mi"},
        "eviction-hard": {"memory.available": "5%"}, "eviction-soft": {"memory.available": "500Mi"},
        "eviction-soft-grace-period": {"memory.available": "1m30s"}, "eviction-max-pod-grace-period": 60,
        "image-gc-high-threshold-percent": "80", "image-gc-low-threshold-percent": "70", "cpu-cfs-quota-enforced": false,
    });
    assert_eq!(own, expected);
}

#[test]
fn the_classs_own_settings_stay_as_they_are_written() {
    let custom = r#"
[settings.ntp]
time-servers = ["169.254.169.123"]
[settings.kubernetes]
allowed-unsafe-sysctls = ["net.core.somaxconn"]
log-level = 3
cluster-dns-ip = "169.254.20.10"
[settings.kubernetes.node-labels]
team = "shop"
"karpenter.sh/nodepool" = "mine"
[settings.kubernetes.kube-reserved]
memory = "1Gi"
[settings.kubernetes.credential-providers.ecr]
enabled = true
of-tomorrow = "x"
[settings.bootstrap-commands.own]
commands = [["echo"]]
"#;
    let computed = json!({
        "maxPods": 29, "clusterDNS": ["10.100.0.10"], "kubeReserved": {"cpu": "70m", "memory": "574Mi"},
    });
    let own = document(&with(custom, &json!({}), &computed));
    let settings = &own["settings"];
    assert_eq!(
        settings["ntp"],
        json!({"time-servers": ["169.254.169.123"]})
    );
    // Karpenter adds a mode that is empty text.
    assert_eq!(
        settings["bootstrap-commands"],
        json!({"own": {"commands": [["echo"]]}})
    );
    let own = &settings["kubernetes"];
    assert_eq!(own["allowed-unsafe-sysctls"], json!(["net.core.somaxconn"]));
    assert_eq!(own["log-level"], 3);
    assert_eq!(
        own["credential-providers"]["ecr"],
        json!({"enabled": true, "of-tomorrow": "x"})
    );
    assert_eq!(
        own["node-labels"],
        json!({"team": "shop", "karpenter.sh/nodepool": "p"})
    );
    // The class's before what was computed, and before the cluster's.
    assert_eq!(own["kube-reserved"], json!({"cpu": "70m", "memory": "1Gi"}));
    assert_eq!(own["cluster-dns-ip"], "169.254.20.10");
    assert_eq!(own["max-pods"], 29);
}

#[test]
fn a_table_in_both_places_is_merged_unless_they_contradict_each_other() {
    let class = json!({"maxPods": 7, "evictionHard": {"memory.available": "5%"}});
    let custom = |memory: &str| {
        format!(
            "settings.kubernetes.max-pods = 7\n[settings.kubernetes.eviction-hard]\n'memory.available' = '{memory}'\n'nodefs.available' = '9%'"
        )
    };
    let own = kubernetes(&with(&custom("5%"), &class, &json!({})));
    let both = json!({"memory.available": "5%", "nodefs.available": "9%"});
    assert_eq!(
        (&own["eviction-hard"], &own["max-pods"]),
        (&both, &json!(7))
    );
    assert_eq!(
        refusal(&with(&custom("20%"), &class, &json!({}))),
        "settings.kubernetes.eviction-hard.memory.available is \"20%\" and spec.kubelet.evictionHard.memory.available is \"5%\"; expected the same value, or only one of them"
    );
}

#[test]
fn one_amount_in_two_spellings_is_no_contradiction() {
    let class = json!({"kubeReserved": {"memory": "1024Mi"}});
    let node = NodeSetup {
        kubelet: map(&json!({"kubeReserved": {"cpu": "70m", "memory": "1Gi"}})),
        class_kubelet: map(&class),
        ..node("settings.kubernetes.kube-reserved.memory = '1024Mi'")
    };
    let both = json!({"cpu": "70m", "memory": "1024Mi"});
    assert_eq!(kubernetes(&node)["kube-reserved"], both);
}

#[test]
fn settings_that_would_be_lost_are_refused_by_name() {
    let class = json!({"maxPods": 7, "clusterDNS": ["10.0.0.10"]});
    for (line, words) in [
        (
            "max-pods = 8",
            "max-pods is 8 and spec.kubelet.maxPods is 7; expected the same value, or only one of them",
        ),
        (
            "cluster-dns-ip = '10.0.0.11'",
            "cluster-dns-ip is \"10.0.0.11\" and spec.kubelet.clusterDNS is \"10.0.0.10\"; expected the same value, or only one of them",
        ),
        (
            "cluster-name = 'other'",
            "cluster-name is \"other\"; expected none, or that of the cluster, \"demo\"",
        ),
        (
            "node-taints.mine = [':NoSchedule']",
            "node-taints has \"mine\"; expected it in taints or startupTaints of the NodePool, by which pods are scheduled",
        ),
        (
            "max-pod = 8",
            "max-pod is not a setting that is passed on; did you mean max-pods?",
        ),
        (
            "standalone-mode = true",
            "standalone-mode is not a setting that is passed on; expected none of this name",
        ),
        (
            "max-pods = '7'",
            "max-pods is \"7\"; expected a whole number",
        ),
        (
            "cluster-dns-ip = ['10.0.0.10']",
            "cluster-dns-ip is [\"10.0.0.10\"]; expected text in quotes",
        ),
        (
            "node-labels.a = 1",
            "node-labels is { a = 1 }; expected a table of texts",
        ),
        (
            "node-taints.a = 'b:NoExecute'",
            "node-taints is { a = \"b:NoExecute\" }; expected a table of lists of texts",
        ),
    ] {
        let custom = format!("[settings.kubernetes]\n{line}\n");
        let told = refusal(&with(&custom, &class, &json!({})));
        assert_eq!(told, format!("settings.kubernetes.{words}"), "{line}");
    }
    // Nodes are planned by a number that the class does not say.
    assert_eq!(
        refusal(&node("settings.kubernetes.max-pods = 29")),
        "settings.kubernetes.max-pods is 29; expected it in spec.kubelet.maxPods, by which nodes are planned"
    );
    for same in ["cluster-name = 'demo'", "max-pods = 7", "node-taints = {}"] {
        let custom = format!("[settings.kubernetes]\n{same}\n");
        let own = kubernetes(&with(&custom, &class, &json!({})));
        assert_eq!(own["max-pods"], 7, "{same}");
    }
}

#[test]
fn all_that_is_wrong_beside_each_other_is_named_at_once() {
    let custom = "settings.kubernetes.standalone-mode = true\nsettings.kubernetes.log-level = true\nsettings.bootstrap-commands = 1\n[packages]\n";
    let expected = [
        "packages is outside of the table settings; expected it inside",
        "settings.bootstrap-commands is 1; expected a table",
        "settings.kubernetes.log-level is true; expected a whole number",
        "settings.kubernetes.standalone-mode is not a setting that is passed on; expected none of this name",
    ];
    let told = refusal(&node(custom));
    let mut told: Vec<&str> = told.split("; ").collect();
    let mut expected: Vec<&str> = expected.iter().flat_map(|one| one.split("; ")).collect();
    told.sort_unstable();
    expected.sort_unstable();
    assert_eq!(told, expected);
}

#[test]
fn a_script_is_refused_with_the_line_that_is_no_toml() {
    let told = refusal(&node("#!/bin/bash\necho hi\n"));
    assert!(told.starts_with("line 2 is \"echo hi\": "), "{told}");
    assert!(
        told.ends_with("; expected settings of Bottlerocket in TOML"),
        "{told}"
    );
    for text in ["settings = 1", "settings.kubernetes = 'x'"] {
        assert!(refusal(&node(text)).ends_with("expected a table"), "{text}");
    }
    let archive = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"x\"\n\n--x--";
    assert!(refusal(&node(archive)).starts_with("line 1 is \"MIME-Version: 1.0\": "));
}

#[test]
fn without_a_certificate_of_the_cluster_the_classs_own_stays() {
    let alone = ClusterAccess {
        ca_bundle: String::new(),
        ..cluster()
    };
    let certificate = |custom: &str| {
        let text = text(&alone, &node(custom)).expect("user data");
        let read: Table = text.parse().expect("TOML");
        let read = serde_json::to_value(read).expect("plain values");
        read["settings"]["kubernetes"]
            .get("cluster-certificate")
            .cloned()
    };
    assert_eq!(certificate(""), None);
    let own = "settings.kubernetes.cluster-certificate = 'b3du'";
    assert_eq!(certificate(own), Some("b3du".into()));
}

#[test]
fn local_disks_are_joined_at_every_boot_with_folders_where_the_release_needs_them() {
    let joined = |release: Release, custom: &str| NodeSetup {
        joins_local_disks: true,
        release,
        ..node(custom)
    };
    let command = |node: &NodeSetup| document(node)["settings"]["bootstrap-commands"].take();
    let init = json!(["apiclient", "ephemeral-storage", "init"]);
    let of = |bind: Json| json!({"commands": [init, bind], "mode": "always", "essential": true});
    let plain = of(json!(["apiclient", "ephemeral-storage", "bind"]));
    let folders = of(json!([
        "apiclient",
        "ephemeral-storage",
        "bind",
        "--dirs",
        "/var/lib/containerd",
        "/var/lib/kubelet",
        "/var/log/pods"
    ]));
    let own = "[settings.bootstrap-commands.own]\ncommands = [['echo']]\n";
    for (release, expected) in [
        (Release::Latest, &plain),
        (Release::Numbered([1, 46, 0]), &plain),
        (Release::Numbered([1, 45, 9]), &folders),
        (Release::Unknown, &folders),
    ] {
        let all = command(&joined(release, own));
        assert_eq!(all[LOCAL_DISKS], *expected, "{release:?}");
        assert_eq!(all["own"], json!({"commands": [["echo"]]}));
    }
    let other = format!("[settings.bootstrap-commands.{LOCAL_DISKS}]\ncommands = [['echo']]\n");
    let told = refusal(&joined(Release::Latest, &other));
    assert!(
        told.contains("RAID0 writes; expected only one of them"),
        "{told}"
    );
    let kept = command(&node(&other));
    assert_eq!(kept, json!({LOCAL_DISKS: {"commands": [["echo"]]}}));
}

#[test]
fn the_same_settings_in_another_order_are_the_same_text() {
    let one = "[settings.b]\ny = 1\nx = 2\n[settings.a]\nz = 3\n";
    let other = "[settings.a]\nz = 3\n[settings.b]\nx = 2\ny = 1\n";
    assert_eq!(text(&cluster(), &node(one)), text(&cluster(), &node(other)));
}

proptest! {
    #[test]
    fn no_user_data_makes_it_panic(
        custom in "\\PC{0,80}|(settings|kubernetes|node-taints|max-pods|\\.|=|\\[|\\]|\n|'|\"|1|\\{|\\}| ){0,20}",
    ) {
        let _ = text(&cluster(), &node(&custom));
    }
}
