//! Whatever a file holds, the program tells in one sentence what is wrong with it, and leaves nothing half done.

use std::fs::{self, File};
use std::io::{self, Read};
use std::process::Stdio;

use crate::user::{Folder, Ran, argument, command, fed, plimsoll, pod, snapshot};

/// Commands that read a file.
const READERS: [&[&str]; 4] = [
    &["plan"],
    &["simulate"],
    &["snapshot", "show"],
    &["snapshot", "check"],
];

/// Every command that reads a file refuses it with the same sentence.
fn refused_by_all(content: impl AsRef<[u8]>, sentence: &str) {
    let folder = Folder::new();
    let file = folder.file("cluster.yaml", content);
    for reader in READERS {
        let ran = plimsoll(&[reader, &[file.as_str()]].concat());
        assert_eq!(ran.error(), format!("{file}: {sentence}"), "{reader:?}");
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{reader:?}");
    }
}

fn planned(objects: &str) -> Ran {
    fed(&["plan", "-", "--check"], snapshot(objects).as_bytes())
}

#[test]
fn a_truncated_file_is_told_with_the_place_where_it_ends() {
    refused_by_all(
        "{\"kind\": \"List\", \"items\": [\n{\"kind\": \"Pod\", \"metada",
        "ends at line 2 column 24, in the middle of items; expected the rest of it",
    );
    refused_by_all(
        "",
        "is empty; expected a list of objects as kubectl prints it, in JSON or YAML",
    );
}

#[test]
fn bytes_that_are_no_text_are_told_with_their_place() {
    refused_by_all(
        b"kind: List\nitems: \xff\n",
        "line 2 column 8: the bytes are not UTF-8 text",
    );
}

/// A frame of zstd that begins a list and then says "a block of 128 KiB of spaces" again and again.
fn bomb() -> Vec<u8> {
    const BLOCK: u32 = 128 << 10;
    const REPEATED: u32 = 1 << 1;
    let mut bomb = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58];
    bomb.extend_from_slice(&[1 << 3, 0, 0, b'[']);
    for number in 0..4096_u32 {
        let header = (BLOCK << 3) | REPEATED | u32::from(number == 4095);
        bomb.extend_from_slice(&header.to_le_bytes()[..3]);
        bomb.push(b' ');
    }
    bomb
}

#[test]
fn a_decompression_bomb_is_refused() {
    assert!(bomb().len() < 20_000, "it would unfold to 512 MiB");
    refused_by_all(
        bomb(),
        "grows more than 1000 times when decompressed; refused, since no snapshot does (a decompression bomb does)",
    );
}

#[test]
fn a_line_of_two_gigabytes_is_refused_without_being_held() {
    let begin = &b"{\"items\": [{\"kind\": \""[..];
    let ran = fed(&["plan", "-"], begin.chain(io::repeat(b'a').take(2 << 30)));
    assert_eq!(
        ran.error(),
        "standard input: line 1 column 12: items is longer than 16777216 bytes; expected at most that"
    );
    assert_eq!(ran.code, 1);
    let ran = fed(
        &["plan", "-"],
        (&b"kind: "[..]).chain(io::repeat(b'a').take(2 << 30)),
    );
    assert_eq!(
        ran.error(),
        "standard input: line 1 column 1: a line is longer than 16777216 bytes; expected at most that"
    );
}

#[test]
fn quantities_that_no_machine_counts_are_refused_by_field() {
    let field = "pods[0] shop/api: spec.containers[0].resources.requests.cpu";
    for (cpu, sentence) in [
        ("'-2'", "is \"-2\"; a quantity must not be negative"),
        ("'1e30'", "is \"1e30\", more than can be counted (9.2e18)"),
        (
            "two",
            "\"two\" is not a quantity; expected a number such as 2, 1.5, 250m or 4Gi",
        ),
    ] {
        refused_by_all(
            snapshot(&pod("api", cpu, "1Gi", "")),
            &format!("{field} {sentence}"),
        );
    }
}

#[test]
fn a_name_given_twice_is_refused() {
    refused_by_all(
        snapshot(&(pod("api", "1", "1Gi", "") + &pod("api", "2", "1Gi", ""))),
        "pods[1] shop/api: pods[0] has the same name; expected each name once",
    );
}

#[test]
fn prices_that_are_none_and_facts_without_zones_are_refused() {
    let of = |offerings: &str| {
        format!(
            "plimsoll: {{time: 2026-11-21T09:30:00Z, catalogue: {{instanceTypes: [{{name: small, capacity: {{cpu: 1, memory: 1Gi}}, offerings: {offerings}}}]}}}}"
        )
    };
    let place = "plimsoll.catalogue.instanceTypes[0] small: offerings";
    let price = "expected dollars per hour above 0 and at most 100000";
    refused_by_all(
        of("[{zone: a, price: 0}]"),
        &format!("{place}[0].price is 0; {price}"),
    );
    refused_by_all(
        of("[{zone: a, price: -1}]"),
        &format!("{place}[0].price is -1; {price}"),
    );
    refused_by_all(
        of("[]"),
        &format!("{place} is empty; expected at least one zone"),
    );
    refused_by_all(
        of("[{price: 1}]"),
        &format!("{place}[0].zone is missing; expected the name of a zone"),
    );
    let folder = Folder::new();
    for text in [".nan", ".inf", "1e400"] {
        let ran = plimsoll(&[
            "plan",
            &folder.file("a.yaml", of(&format!("[{{zone: a, price: {text}}}]"))),
        ]);
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(
            ran.error().contains("non-finite") || ran.error().contains(price),
            "{ran:?}"
        );
    }
    refused_by_all(
        "plimsoll: {catalogue: {region: us-east-1, zones: []}}",
        "plimsoll.catalogue: region us-east-1: the list of zones is empty; expected at least one, or no list to assume zones a, b and c",
    );
}

#[test]
fn a_pod_larger_than_any_machine_waits_with_the_reason() {
    let ran = planned(&pod("huge", "9999", "1Gi", "")).ok();
    ran.prints("shop/huge is unschedulable");
    ran.prints("too little cpu");
    assert!(
        ran.out.contains("large"),
        "the nearest type is named: {}",
        ran.out
    );
}

#[test]
fn a_pool_without_a_matching_type_buys_nothing_and_says_so() {
    let pool = "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: odd}\nspec: {template: {spec: {\
        nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}, \
        requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [x9.huge]}]}}}\n";
    let selector = "  nodeSelector: {karpenter.sh/nodepool: odd}\n";
    let ran = planned(&format!("{pool}{}", pod("api", "1", "1Gi", selector))).ok();
    ran.prints("shop/api is unschedulable");
    ran.prints("pool odd");
    assert!(
        ran.out
            .contains("no available instance type meets its requirements"),
        "{}",
        ran.out
    );
}

#[test]
fn a_cycle_of_affinity_that_nothing_meets_leaves_its_pods_waiting() {
    let after = |other: &str| {
        format!(
            "  affinity: {{podAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: [\
             {{topologyKey: kubernetes.io/hostname, labelSelector: {{matchLabels: {{app: {other}}}}}}}]}}}}\n"
        )
    };
    let cycle = pod("first", "100m", "64Mi", &after("second"))
        + &pod("second", "100m", "64Mi", &after("third"))
        + &pod("third", "100m", "64Mi", &after("first"));
    let ran = planned(&cycle).ok();
    for name in ["first", "second", "third"] {
        ran.prints(&format!("shop/{name} is unschedulable"));
    }
    ran.prints("affinity");
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let ran = plimsoll(&["plan", "no-such-file.yaml"]);
    assert_eq!(ran.code, 1);
    assert_eq!(
        ran.error(),
        "no-such-file.yaml: cannot be read: No such file or directory (os error 2)"
    );
}

#[test]
fn a_full_disk_is_a_failure_of_the_environment() {
    let full = File::options()
        .write(true)
        .open("/dev/full")
        .expect("Linux has it");
    let ran: Ran = command(&["catalogue", "m5.large"])
        .stdout(Stdio::from(full))
        .output()
        .expect("the program starts")
        .into();
    assert_eq!(ran.code, 3);
    assert_eq!(
        ran.error(),
        "standard output cannot be written: No space left on device (os error 28)"
    );
    let ran = plimsoll(&[
        "generate",
        "--scale",
        "1",
        "--hours",
        "1",
        "--to",
        "/dev/full",
    ]);
    assert_eq!(ran.code, 3);
    assert_eq!(
        ran.error(),
        "/dev/full cannot be written: No space left on device (os error 28)"
    );
}

#[test]
fn a_file_is_written_whole_or_not_at_all() {
    let folder = Folder::new();
    let kept = folder.file("recording.json", "what was there before");
    // A limit on the size of files stands in for a disk that fills up.
    let program = env!("CARGO_BIN_EXE_plimsoll");
    let script = format!(
        "trap '' XFSZ; ulimit -f 1; exec {program} generate --scale 10 --hours 2 --to {kept}"
    );
    let ran: Ran = std::process::Command::new("bash")
        .args(["-c", &script])
        .output()
        .expect("a shell starts")
        .into();
    assert_eq!(ran.code, 3, "{ran:?}");
    assert_eq!(
        fs::read_to_string(&kept).expect("it is there"),
        "what was there before"
    );
    assert_eq!(
        folder.names(),
        ["recording.json"],
        "no partial file is left"
    );
    let missing = argument(&folder.path("no/such/folder.json"));
    let ran = plimsoll(&["generate", "--scale", "1", "--hours", "1", "--to", &missing]);
    assert_eq!(ran.code, 3);
    assert!(
        ran.error()
            .starts_with(&format!("{missing} cannot be written: ")),
        "{ran:?}"
    );
}

#[test]
fn values_of_a_newer_version_are_told_with_object_field_and_value() {
    let pool = |requirement: &str, budget: &str| {
        format!(
            "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {{name: general}}\nspec:\n  disruption: {{consolidateAfter: 0s, budgets: [{budget}]}}\n  \
             template: {{spec: {{nodeClassRef: {{group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}}, requirements: [{requirement}]}}}}\n"
        )
    };
    let near = pool(
        "{key: kubernetes.io/arch, operator: Near, values: [amd64]}",
        "",
    );
    let repacked = pool("", "{nodes: \"1\", reasons: [Drifted, Repacked]}");
    for (text, field) in [
        (
            near,
            "general: spec.template.spec.requirements[0].operator is \"Near\"; expected ",
        ),
        (
            repacked,
            "general: spec.disruption.budgets[0].reasons[1] is \"Repacked\"; expected ",
        ),
    ] {
        for reader in [
            &["snapshot", "check", "-"][..],
            &["plan", "-"],
            &["explain", "nodepool", "general", "-"],
        ] {
            let ran = fed(reader, text.as_bytes());
            assert!(ran.error().contains(field), "{reader:?}: {ran:?}");
        }
    }
    let known = pool("", "{nodes: \"1\", reasons: [Unhealthy]}");
    fed(&["snapshot", "check", "-"], known.as_bytes()).ok();
}

#[test]
fn karpenter_is_compared_with_by_its_packing() {
    let text = snapshot("");
    for arguments in [
        ["simulate", "-", "--compare", "karpenter"],
        ["simulate", "-", "--policy", "Karpenter"],
        ["plan", "-", "--policy", "karpenter"],
    ] {
        let ran = fed(&arguments, text.as_bytes());
        let meant = "; did you mean compatible (Karpenter's packing)?";
        assert!(ran.code == 1 && ran.error().ends_with(meant), "{ran:?}");
    }
}

#[test]
fn a_what_if_without_a_value_is_told_as_the_help_has_it() {
    let ran = fed(
        &["simulate", "-", "--what-if", "foo"],
        snapshot("").as_bytes(),
    );
    let words =
        "--what-if foo has no value; expected RULE=VALUE, such as guards=off or budgets=100%";
    assert_eq!((ran.code, ran.error()), (1, words));
}

/// The command of a hint can be run as it stands, wherever that is.
#[test]
fn a_hint_about_settings_names_the_module_that_was_asked_for() {
    let hint = "hint: `plimsoll policy inspect spot-diversified` lists the settings with defaults and limits\n";
    let text = snapshot("");
    let wrong = "rank=spot-diversified,lost_hour=2";
    for arguments in [
        &["plan", "-", "--policy", wrong][..],
        &["simulate", "-", "--compare", wrong],
        &[
            "policy",
            "diff",
            "list-price",
            "spot-diversified,lost_hour=2",
            "--on",
            "-",
        ],
        &["policy", "check", "spot-diversified", "lost_hour=2"],
        &["policy", "bench", "spot-diversified", "lost_hour=2"],
    ] {
        let ran = fed(arguments, text.as_bytes());
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.err.ends_with(hint), "{arguments:?}: {ran:?}");
    }
    let inspect = ["policy", "inspect", "spot-diversified"];
    fed(&inspect, text.as_bytes()).ok().prints("lost_hours");
}
