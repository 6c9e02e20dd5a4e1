//! Instance types and offerings on sale: `plimsoll catalogue`.

#![expect(
    clippy::panic,
    reason = "helpers of tests may fail loudly, as tests may"
)]

use plimsoll_base::resources::ResourceName;
use serde_json::Value;

use crate::user::{Folder, plimsoll};

fn types(arguments: &[&str]) -> Vec<Value> {
    let ran = plimsoll(&[&["catalogue", "-o", "json"], arguments].concat()).ok();
    let mut list: Value = serde_json::from_str(&ran.out).expect("it is JSON");
    match list["items"].take() {
        Value::Array(items) => items,
        other => panic!("{other} is no list"),
    }
}

/// The only value that a type has for a label.
fn label(one: &Value, key: &str) -> Option<String> {
    let requirements = one["requirements"].as_array().expect("a list");
    let mut own = requirements.iter().filter(|own| own["key"] == key);
    let values = own.find(|own| own["operator"] == "In")?["values"].as_array()?;
    match values.as_slice() {
        [value] => value.as_str().map(str::to_owned),
        _ => None,
    }
}

/// Amount that pods may use, in whole units: milli-cores, bytes, pods, devices.
fn amount(room: &Value, resource: &str) -> i64 {
    let text = room[resource].as_str().expect("it is text");
    let amount = ResourceName::from(resource).parse_amount(text);
    amount.expect("it is a quantity")
}

/// K26: the figures that users were shown.
#[test]
fn known_types_have_the_room_that_users_were_shown() {
    for (name, cpu, memory_mib, pods, interfaces) in [
        ("c7i.2xlarge", 7910, 14162, 58, 38),
        ("c5a.large", 1930, 3114, 29, 9),
        ("c6gd.large", 1930, 3055, 29, 9),
        ("c6gd.2xlarge", 7910, 14103, 58, 38),
        ("m7i-flex.2xlarge", 7910, 29317, 58, 18),
    ] {
        let ran = plimsoll(&["catalogue", name, "-o", "json"]).ok();
        let shown: Value = serde_json::from_str(&ran.out).expect("it is an object");
        let of = |resource: &str| amount(&shown["allocatable"], resource);
        let got = (
            of("cpu"),
            of("memory") >> 20,
            of("pods"),
            of("vpc.amazonaws.com/pod-eni"),
        );
        assert_eq!(got, (cpu, memory_mib, pods, interfaces), "{name}");
        assert_eq!(of("ephemeral-storage") >> 30, 17, "{name}");
    }
}

/// How a person reads an expression: whether a type is meant.
type Reading<'a> = &'a dyn Fn(&Value) -> bool;

/// K17: every operator narrows to what a plain reading of the whole list gives.
#[test]
fn each_operator_narrows_the_list_as_it_reads() {
    let all = types(&[]);
    let label = |one: &Value, key: &str| label(one, &format!("karpenter.k8s.aws/{key}"));
    let count = |keep: &dyn Fn(&Value) -> bool| all.iter().filter(|one| keep(one)).count();
    let number = |one: &Value, key: &str| label(one, key).and_then(|text| text.parse::<i64>().ok());
    let is = |one: &Value, key: &str, values: &[&str]| {
        label(one, key).is_some_and(|own| values.contains(&own.as_str()))
    };
    let cases: [(&str, Reading<'_>); 8] = [
        ("instance-family In m5,c5", &|one| {
            is(one, "instance-family", &["m5", "c5"])
        }),
        ("instance-category NotIn c,m,r", &|one| {
            !is(one, "instance-category", &["c", "m", "r"])
        }),
        ("instance-gpu-count Exists", &|one| {
            label(one, "instance-gpu-count").is_some()
        }),
        ("instance-gpu-count DoesNotExist", &|one| {
            label(one, "instance-gpu-count").is_none()
        }),
        ("instance-cpu Gt 96", &|one| {
            number(one, "instance-cpu").is_some_and(|cpu| cpu > 96)
        }),
        ("instance-cpu Lt 4", &|one| {
            number(one, "instance-cpu").is_some_and(|cpu| cpu < 4)
        }),
        ("instance-cpu Gte 96", &|one| {
            number(one, "instance-cpu").is_some_and(|cpu| cpu >= 96)
        }),
        ("instance-cpu Lte 4", &|one| {
            number(one, "instance-cpu").is_some_and(|cpu| cpu <= 4)
        }),
    ];
    for (expression, reading) in cases {
        let wanted = count(reading);
        assert!(
            wanted > 0 && wanted < all.len(),
            "{expression} tells types apart"
        );
        assert_eq!(
            types(&["--where", expression]).len(),
            wanted,
            "{expression}"
        );
    }
}

/// K17: zone, type, architecture and capacity type narrow the offerings.
#[test]
fn zone_type_architecture_and_terms_narrow_the_offerings() {
    let offerings = |expression: &[&str]| -> Vec<(String, String)> {
        let arguments: Vec<&str> = expression
            .iter()
            .flat_map(|text| ["--where", text])
            .collect();
        let found = types(
            &[
                &["--where", "instance-type In m5.large,m6g.large"],
                &arguments[..],
            ]
            .concat(),
        );
        found
            .iter()
            .flat_map(|one| one["offerings"].as_array().expect("a list"))
            .map(|one| {
                (
                    one["zone"].as_str().expect("text").to_owned(),
                    one["capacityType"].to_string(),
                )
            })
            .collect()
    };
    assert_eq!(
        offerings(&[]).len(),
        12,
        "two types, three zones, two capacity types"
    );
    assert_eq!(offerings(&["arch In arm64"]).len(), 6);
    assert_eq!(offerings(&["zone In us-east-1b"]).len(), 4);
    assert_eq!(
        offerings(&["capacity-type NotIn spot", "zone NotIn us-east-1b"]).len(),
        4
    );
    assert_eq!(offerings(&["os In windows"]).len(), 0);
}

#[test]
fn a_label_that_no_type_has_is_refused_with_the_one_meant() {
    let ran = plimsoll(&["catalogue", "--where", "instance-famliy In m5"]);
    assert_eq!(
        (ran.code, ran.error()),
        (
            1,
            "no instance type has a label karpenter.k8s.aws/instance-famliy; did you mean karpenter.k8s.aws/instance-family?"
        )
    );
    for (typed, told) in [
        ("zon", "karpenter.k8s.aws/zon; did you mean zone?"),
        ("arc", "karpenter.k8s.aws/arc; did you mean arch?"),
        (
            "instance-typ",
            "karpenter.k8s.aws/instance-typ; did you mean instance-type?",
        ),
        (
            "cpu",
            "karpenter.k8s.aws/cpu; did you mean karpenter.k8s.aws/instance-cpu?",
        ),
        (
            "kubernetes.io/famliy",
            "kubernetes.io/famliy; did you mean karpenter.k8s.aws/instance-family?",
        ),
        ("team", "karpenter.k8s.aws/team"),
    ] {
        let ran = plimsoll(&["catalogue", "--where", &format!("{typed} Exists")]);
        assert_eq!(ran.error(), format!("no instance type has a label {told}"));
    }
    let ran = plimsoll(&["catalogue", "m5.lage"]);
    assert_eq!(
        ran.error(),
        "there is no instance type m5.lage in us-east-1; did you mean m5.large?"
    );
    let ran = plimsoll(&["catalogue", "--where", "instance-cpu Gt many"]);
    assert_eq!(ran.code, 1, "{ran:?}");
}

fn class(kubelet: &str, more: &str) -> String {
    format!(
        "plimsoll: {{time: 2026-11-21T09:30:00Z, catalogue: {{region: us-east-1}}}}\n---\n\
         apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {{name: default}}\nspec:\n  role: nodes\n  \
         amiSelectorTerms: [{{alias: al2023@v20250403}}]\n  subnetSelectorTerms: [{{id: subnet-1}}]\n  \
         securityGroupSelectorTerms: [{{id: sg-1}}]\n  kubelet: {{{kubelet}}}\n{more}"
    )
}

/// The room on a node of a type under a class.
fn room(class: &str, name: &str) -> Value {
    let folder = Folder::new();
    let file = folder.file("class.yaml", class);
    let ran = plimsoll(&["catalogue", name, "--from", &file, "-o", "json"]).ok();
    let shown: Value = serde_json::from_str(&ran.out).expect("it is an object");
    shown["allocatable"].clone()
}

#[test]
fn kubelet_settings_of_a_class_change_the_room_on_its_nodes() {
    let default = room(&class("", ""), "m5.large");
    let mib = |room: &Value| amount(room, "memory") >> 20;
    assert_eq!(
        amount(&room(&class("maxPods: 10", ""), "m5.large"), "pods"),
        10
    );
    assert_eq!(
        amount(&room(&class("podsPerCore: 4", ""), "m5.large"), "pods"),
        8
    );
    let kept = room(
        &class(
            "kubeReserved: {cpu: 200m}, systemReserved: {cpu: 100m, memory: 512Mi}",
            "",
        ),
        "m5.large",
    );
    assert_eq!(amount(&kept, "cpu"), 1700);
    assert_eq!(mib(&default) - mib(&kept), 512);
    let evicting = room(
        &class("evictionHard: {memory.available: 612Mi}", ""),
        "m5.large",
    );
    assert_eq!(
        mib(&default) - mib(&evicting),
        512,
        "100Mi are kept without it"
    );
    let disk = "  blockDeviceMappings: [{deviceName: /dev/xvda, ebs: {volumeSize: 100Gi}}]\n";
    let large = room(&class("", disk), "m5.large");
    assert_eq!(amount(&large, "ephemeral-storage") >> 30, 89);
}

#[test]
fn a_kubelet_setting_that_cannot_be_read_is_no_default() {
    let folder = Folder::new();
    let file = folder.file("class.yaml", class("maxPods: \"vcpus * 10\"", ""));
    let ran = plimsoll(&["catalogue", "--from", &file]);
    assert_eq!(ran.code, 1);
    assert!(
        ran.error().ends_with("ec2nodeclasses[0] default: spec.kubelet.maxPods is \"vcpus * 10\"; expected a whole number of at least 0"),
        "{ran:?}"
    );
}

#[test]
fn each_class_of_a_file_has_a_catalogue_of_its_own() {
    let pool = |name: &str, class: &str| {
        format!(
            "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {{name: {name}}}\nspec:\n  template: {{spec: {{\
             nodeClassRef: {{group: karpenter.k8s.aws, kind: EC2NodeClass, name: {class}}}, requirements: []}}}}\n"
        )
    };
    let of_pods = |name: &str, most: &str| {
        let (_, class) = class(most, "")
            .split_once("---\n")
            .map(|(section, class)| (section.to_owned(), class.to_owned()))
            .expect("a section and a class");
        format!(
            "---\n{}",
            class.replacen("name: default", &format!("name: {name}"), 1)
        )
    };
    let text = "plimsoll: {time: 2026-11-21T09:30:00Z, catalogue: {region: us-east-1}}\n"
        .to_owned()
        + &of_pods("few", "maxPods: 10")
        + &of_pods("many", "maxPods: 20")
        + &pool("a", "few")
        + &pool("b", "many");
    let folder = Folder::new();
    let file = folder.file("classes.yaml", &text);
    let pods = |class: &str| {
        let ran = plimsoll(&[
            "catalogue",
            "m5.large",
            "--from",
            &file,
            "--class",
            class,
            "-o",
            "json",
        ]);
        let shown: Value = serde_json::from_str(&ran.ok().out).expect("it is an object");
        amount(&shown["allocatable"], "pods")
    };
    assert_eq!((pods("few"), pods("many")), (10, 20));
    let ran = plimsoll(&["catalogue", "m5.large", "--from", &file]);
    assert!(
        ran.error().ends_with(
            "differ in what their nodes hold: few, many; expected one of them with --class"
        ),
        "{ran:?}"
    );
    let ran = plimsoll(&["catalogue", "m5.large", "--from", &file, "--class", "fwe"]);
    assert!(
        ran.error().starts_with("there is no node class fwe in ")
            && ran.error().ends_with("; expected one of few, many"),
        "{ran:?}"
    );
}
