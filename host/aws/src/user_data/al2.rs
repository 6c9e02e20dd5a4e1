//! User data of AL2: an archive whose last part is a script that calls the image's own `bootstrap.sh`, with settings of kubelet as its arguments.
//!
//! Arguments and the entries of each are in one order, since templates are named after their content.

use std::net::Ipv4Addr;

use plimsoll_api::duration;
use serde_json::{Map, Value};

use super::mime::{Part, SCRIPT, parts_of, serialize};
use super::{ClusterAccess, NodeSetup, UserDataError, labels};

/// Output of the script is kept on the instance and shown on its console, where a node that does not join is looked into.
const HEAD: &str = "#!/bin/bash -xe\n\
    exec > >(tee /var/log/user-data.log|logger -t user-data -s 2>/dev/console) 2>&1\n";

/// Kubelet's settings that are one value, in order, with their arguments.
const COUNTS: [(&str, &str); 2] = [("maxPods", "max-pods"), ("podsPerCore", "pods-per-core")];
/// Those that are values by name, with their arguments and the sign between a name and its value.
const TABLES: [(&str, &str, char); 5] = [
    ("systemReserved", "system-reserved", '='),
    ("kubeReserved", "kube-reserved", '='),
    ("evictionHard", "eviction-hard", '<'),
    ("evictionSoft", "eviction-soft", '<'),
    ("evictionSoftGracePeriod", "eviction-soft-grace-period", '='),
];
/// Those behind them that are one value.
const OTHERS: [(&str, &str); 4] = [
    ("evictionMaxPodGracePeriod", "eviction-max-pod-grace-period"),
    ("imageGCHighThresholdPercent", "image-gc-high-threshold"),
    ("imageGCLowThresholdPercent", "image-gc-low-threshold"),
    ("cpuCFSQuota", "cpu-cfs-quota"),
];

/// The archive: the class's own parts first.
pub(super) fn text(cluster: &ClusterAccess, node: &NodeSetup) -> Result<String, UserDataError> {
    let mut parts = parts_of(node.custom.as_deref(), |_| SCRIPT)?;
    parts.push(Part::of_type(SCRIPT, script(cluster, node)));
    Ok(serialize(&parts))
}

fn script(cluster: &ClusterAccess, node: &NodeSetup) -> String {
    let (name, endpoint) = (quoted(&cluster.name), quoted(&cluster.endpoint));
    let mut lines = vec![format!(
        "/etc/eks/bootstrap.sh {name} --apiserver-endpoint {endpoint}"
    )];
    if !cluster.ca_bundle.is_empty() {
        let bundle = quoted(&cluster.ca_bundle);
        lines.push(format!("--b64-cluster-ca {bundle}"));
    }
    let addresses = node.kubelet.get("clusterDNS").and_then(Value::as_array);
    let dns = addresses.and_then(|all| all.first()?.as_str());
    if dns.is_some_and(|dns| dns.parse::<Ipv4Addr>().is_err()) {
        lines.push("--ip-family ipv6".to_owned());
    }
    if let Some(dns) = dns {
        lines.push(format!("--dns-cluster-ip {}", quoted(dns)));
    }
    if value(node, "maxPods").is_some() {
        lines.push("--use-max-pods false".to_owned());
    }
    let arguments = kubelet_arguments(node).join(" ");
    lines.push(format!("--kubelet-extra-args {}", quoted(&arguments)));
    if node.joins_local_disks {
        lines.push("--local-disks raid0".to_owned());
    }
    format!("{HEAD}{}", lines.join(" \\\n"))
}

/// Arguments of kubelet. Taints are there even where there are none, as labels are not.
fn kubelet_arguments(node: &NodeSetup) -> Vec<String> {
    let taints = node.taints.iter().map(|taint| match &*taint.value {
        "" => format!("{}:{}", taint.key, taint.effect),
        value => format!("{}={value}:{}", taint.key, taint.effect),
    });
    let taints = taints.collect::<Vec<_>>().join(",");
    let mut arguments: Vec<String> = labels::argument(&node.labels).into_iter().collect();
    arguments.push(format!("--register-with-taints=\"{taints}\""));
    let one = |(field, argument): (&str, &str)| {
        let value = value(node, field)?;
        Some(format!("--{argument}={value}"))
    };
    arguments.extend(COUNTS.into_iter().filter_map(one));
    let table = |(field, argument, sign): (&str, &str, char)| {
        let entries = value(node, field)?.as_object()?;
        let entries = sorted(entries).into_iter().map(|(name, entry)| {
            let text = entry.as_str().unwrap_or_default();
            match duration::parse(text).filter(|_| field == "evictionSoftGracePeriod") {
                Some(span) => format!("{name}{sign}{}", duration::write_whole(span)),
                None => format!("{name}{sign}{text}"),
            }
        });
        let entries = entries.collect::<Vec<_>>().join(",");
        (!entries.is_empty()).then(|| format!("--{argument}=\"{entries}\""))
    };
    arguments.extend(TABLES.into_iter().filter_map(table));
    arguments.extend(OTHERS.into_iter().filter_map(one));
    arguments
}

/// A setting of the node's kubelet; `None` where it is not said, or as nothing (`null`).
fn value<'n>(node: &'n NodeSetup, field: &str) -> Option<&'n Value> {
    node.kubelet.get(field).filter(|value| !value.is_null())
}

fn sorted(entries: &Map<String, Value>) -> Vec<(&String, &Value)> {
    let mut all: Vec<_> = entries.iter().collect();
    all.sort_by_key(|(name, _)| *name);
    all
}

/// A word of the shell, whatever is in it.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use plimsoll_base::labels::Labels;
    use plimsoll_model::{Effect, Taint};
    use serde_json::json;

    use super::super::mime::parse;
    use super::*;
    use crate::sample::cluster;

    fn node(kubelet: &Value) -> NodeSetup {
        let taint = |key: &str, value: &str, effect| Taint {
            key: Arc::from(key),
            value: Arc::from(value),
            effect,
        };
        NodeSetup {
            labels: [("team", "shop"), ("empty", ""), ("kubernetes.io/x", "y")]
                .map(|(key, value)| (Arc::from(key), Arc::from(value)))
                .into(),
            taints: vec![
                taint("dedicated", "web", Effect::NoSchedule),
                taint("karpenter.sh/unregistered", "", Effect::NoExecute),
            ],
            kubelet: serde_json::from_value(kubelet.clone()).expect("a map"),
            ..NodeSetup::default()
        }
    }

    #[test]
    fn the_script_joins_the_cluster_with_the_room_that_was_planned() {
        let node = NodeSetup {
            custom: Some("#!/bin/bash\r\necho hi\n".to_owned()),
            ..node(&json!({
                "maxPods": 29, "podsPerCore": 4, "clusterDNS": ["10.100.0.10"], "cpuCFSQuota": false,
                "systemReserved": {"pid": "100", "cpu": "100m"}, "kubeReserved": {"memory": "574Mi", "cpu": "70m"},
                "evictionHard": {"nodefs.available": "10%", "memory.available": "5%"},
                "evictionSoft": {"memory.available": "500Mi"}, "evictionSoftGracePeriod": {"memory.available": "90s"},
                "evictionMaxPodGracePeriod": 60, "imageGCHighThresholdPercent": 80, "imageGCLowThresholdPercent": 70,
            }))
        };
        let expected = r#"MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="//"

--//
Content-Type: text/x-shellscript; charset="us-ascii"

#!/bin/bash
echo hi

--//
Content-Type: text/x-shellscript; charset="us-ascii"

#!/bin/bash -xe
exec > >(tee /var/log/user-data.log|logger -t user-data -s 2>/dev/console) 2>&1
/etc/eks/bootstrap.sh 'demo' --apiserver-endpoint 'https://demo.example' \
--b64-cluster-ca 'Y2E=' \
--dns-cluster-ip '10.100.0.10' \
--use-max-pods false \
--kubelet-extra-args '--node-labels="empty=,team=shop" --register-with-taints="dedicated=web:NoSchedule,karpenter.sh/unregistered:NoExecute" --max-pods=29 --pods-per-core=4 --system-reserved="cpu=100m,pid=100" --kube-reserved="cpu=70m,memory=574Mi" --eviction-hard="memory.available<5%,nodefs.available<10%" --eviction-soft="memory.available<500Mi" --eviction-soft-grace-period="memory.available=1m30s" --eviction-max-pod-grace-period=60 --image-gc-high-threshold=80 --image-gc-low-threshold=70 --cpu-cfs-quota=false'
--//--"#;
        assert_eq!(text(&cluster(), &node).as_deref(), Ok(expected));
    }

    /// The last part of user data: the generated script.
    fn script_of(cluster: &ClusterAccess, node: &NodeSetup) -> String {
        let parts = parse(&text(cluster, node).expect("user data")).expect("an archive");
        parts.last().expect("a part").content.clone()
    }

    #[test]
    fn only_what_is_known_is_an_argument_but_taints_always_are() {
        let bare = NodeSetup {
            labels: Labels::default(),
            taints: Vec::new(),
            ..node(&json!({"podsPerCore": null, "kubeReserved": {}}))
        };
        let alone = ClusterAccess {
            ca_bundle: String::new(),
            ..cluster()
        };
        let expected = "/etc/eks/bootstrap.sh 'demo' --apiserver-endpoint 'https://demo.example' \\\n\
            --kubelet-extra-args '--register-with-taints=\"\"'";
        let script = script_of(&alone, &bare);
        assert_eq!(script.strip_prefix(HEAD), Some(expected));
    }

    #[test]
    fn the_first_dns_address_says_the_family_of_addresses() {
        for (dns, words, is_ipv6) in [
            (json!(["fd00::a"]), "--dns-cluster-ip 'fd00::a'", true),
            (json!(["10.0.0.10"]), "--dns-cluster-ip '10.0.0.10'", false),
            (json!(["it's"]), r"--dns-cluster-ip 'it'\''s'", true),
        ] {
            let script = script_of(&cluster(), &node(&json!({"clusterDNS": dns})));
            assert!(script.contains(words), "{script}");
            assert_eq!(
                script.contains("--ip-family ipv6 \\\n"),
                is_ipv6,
                "{script}"
            );
        }
    }

    #[test]
    fn local_disks_are_joined_by_the_last_argument() {
        let joined = NodeSetup {
            joins_local_disks: true,
            ..node(&json!({}))
        };
        assert!(script_of(&cluster(), &joined).ends_with("' \\\n--local-disks raid0"));
    }

    #[test]
    fn the_classs_own_parts_come_first_and_text_is_a_script() {
        let first = |custom: &str| {
            let node = NodeSetup {
                custom: Some(custom.to_owned()),
                ..node(&json!({}))
            };
            let parts = parse(&text(&cluster(), &node).expect("user data")).expect("an archive");
            assert!(parts[parts.len() - 1].content.contains("bootstrap.sh"));
            let own = parts[..parts.len() - 1].iter();
            own.map(|part| format!("{} | {}", part.headers, part.content))
                .collect::<Vec<_>>()
        };
        let script = |text: &str| vec![format!("Content-Type: {SCRIPT} | {text}")];
        // AL2 has no nodeadm: YAML is no exception.
        for text in ["echo hi", "kind: NodeConfig", "#cloud-config\na: b"] {
            assert_eq!(first(text), script(text));
        }
        assert_eq!(first(" \n"), Vec::<String>::new());
        let archive = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"X\"\n\nbefore\n--X\nContent-Type: text/cloud-config\nX-Own: y\n\nruncmd: []\n--X--\nbehind";
        assert_eq!(
            first(archive),
            ["Content-Type: text/cloud-config\nX-Own: y | runcmd: []"]
        );
        let half = NodeSetup {
            custom: Some("Content-Type: text/plain\n\nx".to_owned()),
            ..node(&json!({}))
        };
        let refused = text(&cluster(), &half).expect_err("no archive");
        assert!(matches!(refused, UserDataError::MalformedMime(_)));
    }
}
