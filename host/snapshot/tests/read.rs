//! Files become snapshots of what they say.

use std::sync::Arc;

use plimsoll_base::resources::ResourceName;
use plimsoll_base::time::Span;
use plimsoll_base::units::PricePerHour;
use plimsoll_model::catalogue::{CapacityType, PriceSource};
use plimsoll_model::snapshot::{ChurnGuards, Guards, RunawayGuards};
use plimsoll_model::{Ceilings, PackingMode};
use plimsoll_snapshot::write::{CatalogueText, Format, write};
use plimsoll_snapshot::{Limits, Loaded, Note, read};

const SHOP: &str = include_str!("data/shop.yaml");

fn load(text: &str) -> Loaded {
    read(text.as_bytes(), &Limits::default()).expect("the text is a snapshot")
}

#[test]
fn a_yaml_list_becomes_a_snapshot() {
    let loaded = load(SHOP);
    let snapshot = &loaded.snapshot;
    assert_eq!(loaded.notes, []);
    assert_eq!(
        (snapshot.seed, snapshot.now.millis()),
        (7, 1_795_253_400_000)
    );
    assert_eq!(snapshot.settings.batch_idle, Span::from_secs(2));
    assert!(!snapshot.settings.guards.enabled);
    let churn = ChurnGuards {
        saving_percent: 8,
        reversal_cooldown: Span::from_secs(5400),
        spot_to_spot: true,
        ..ChurnGuards::default()
    };
    assert_eq!(snapshot.settings.churn, churn);
    assert_eq!(snapshot.pools[0].packing, PackingMode::Compatible);
    let ceilings = Ceilings {
        nodes_in_flight: Some(20),
        nodes_per_minute: None,
        dollars_per_hour: Some(PricePerHour::from_nanos(2_500_000_000)),
    };
    assert_eq!(snapshot.pools[0].ceilings, ceilings);
    assert_eq!(snapshot.pools[0].weight, 10);
    assert_eq!(snapshot.nodes.len(), 1);
    let names: Vec<String> = snapshot
        .pods
        .iter()
        .map(|pod| pod.name.to_string())
        .collect();
    assert_eq!(names, ["shop/web-1", "shop/web-2", "shop/web-3"]);
    assert_eq!(snapshot.disruption_budgets[0].name.to_string(), "shop/web");
    assert_eq!(
        snapshot.daemon_sets[0].pod.requests.get(&ResourceName::Cpu),
        100
    );
}

#[test]
fn waiting_pods_are_seen_whether_a_server_or_a_person_wrote_them() {
    let snapshot = load(SHOP).snapshot;
    let waiting: Vec<bool> = snapshot.pods.iter().map(|pod| pod.unschedulable).collect();
    assert_eq!(waiting, [false, true, true]);
}

#[test]
fn equal_specifications_are_held_once() {
    let snapshot = load(SHOP).snapshot;
    assert!(Arc::ptr_eq(&snapshot.pods[0].spec, &snapshot.pods[1].spec));
    assert!(Arc::ptr_eq(&snapshot.pods[1].spec, &snapshot.pods[2].spec));
    assert!(Arc::ptr_eq(
        &snapshot.pods[0].labels,
        &snapshot.pods[2].labels
    ));
}

#[test]
fn written_types_are_the_catalogue_and_quotes_replace_their_prices() {
    let snapshot = load(SHOP).snapshot;
    let small = snapshot.catalogues.of_others().get("small").unwrap();
    let spot = &small.offerings[1];
    assert_eq!(spot.capacity_type, CapacityType::Spot);
    assert_eq!(Some(spot.price), PricePerHour::from_dollars(0.015));
    assert_eq!(
        (spot.price_source, spot.price_age_s),
        (PriceSource::Quote, 60)
    );
    let architectures = small.requirements.get("kubernetes.io/arch").unwrap();
    assert_eq!(architectures.named().len(), 2);
    let gpus = small
        .requirements
        .get("karpenter.k8s.aws/instance-gpu-name")
        .unwrap();
    assert!(
        gpus.listed().unwrap().is_empty(),
        "absent labels are said to be absent"
    );
    let large = snapshot.catalogues.of_others().get("large").unwrap();
    assert_eq!(
        large.offerings[0].reservation.as_ref().unwrap().remaining,
        2
    );
    assert_eq!(large.capacity.get(&ResourceName::Pods), 200);
    assert_eq!(small.capacity.get(&ResourceName::Pods), 110);
}

#[test]
fn what_kubectl_prints_is_a_snapshot_with_what_was_assumed_said() {
    let loaded = load(
        r#"{"apiVersion": "v1", "items": [
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "creationTimestamp": "2026-01-02T03:04:05Z"},
             "spec": {"containers": []}, "status": {"phase": "Pending"}},
            {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e"}},
            {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "f"}},
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "b"}, "spec": {"containers": [], "nodeSelectr": {}}}
        ], "kind": "List", "metadata": {"resourceVersion": ""}}"#,
    );
    let told: Vec<String> = loaded.notes.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "v1 Event: 2 ignored, decisions do not read this kind",
            "Pod b: spec.nodeSelectr is not a known field",
            "no plimsoll.time: taking 2026-01-02T03:04:05Z, the newest instant in the file",
            "no NodePool: taking one named default (linux, amd64, on-demand, no limits)",
            "no plimsoll.catalogue: taking region us-east-1",
        ]
    );
    assert_eq!(loaded.snapshot.pods.len(), 2);
    assert_eq!(loaded.snapshot.pools[0].name.as_str(), "default");
    assert!(loaded.snapshot.catalogues.of_others().types().len() > 1000);
}

#[test]
fn unknown_fields_of_objects_in_changes_are_told() {
    let loaded = load(
        r"
plimsoll:
  time: 2026-01-01T00:00:00Z
  catalogue: {region: us-east-1}
  changes:
  - {at: +1s, upsert: {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [], nodeSelectr: {}}}}
  - {at: +2s, deploy: {name: web, replicas: 2, template: {metadata: {annotations: {a: b}, creationTimestamp: null}, spec: {tolerations: [], nodeSelectr: {}}}}}
",
    );
    let told: Vec<String> = loaded
        .notes
        .iter()
        .filter(|note| note.is_wrong())
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        told,
        [
            "Deployment changes[1]: template.metadata.annotations is not a known field",
            "Pod changes[0], changes[1]: spec.nodeSelectr is not a known field",
        ]
    );
}

#[test]
fn an_unknown_field_of_the_section_is_told_with_the_one_meant() {
    let loaded = load(
        "plimsoll:\n  sed: 3\n  time: 2026-01-01T00:00:00Z\n  catalogue: {region: us-gov-west-1, zone: [a]}\n",
    );
    let unknown: Vec<String> = loaded
        .notes
        .iter()
        .filter(|note| matches!(note, Note::UnknownSectionField { .. }))
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        unknown,
        [
            "plimsoll.catalogue.zone is not a known field; did you mean zones?",
            "plimsoll.sed is not a known field; did you mean seed?"
        ]
    );
}

/// Output of `kubectl get nodepools,overlays -o yaml`, with the setting that applies overlays.
const OVERLAID: &str = r#"
apiVersion: v1
kind: List
plimsoll:
  time: "2026-11-22T00:00:00Z"
  settings: {nodeOverlays: true}
  catalogue: {region: us-east-1}
items:
- apiVersion: karpenter.sh/v1
  kind: NodePool
  metadata: {name: general}
  spec:
    template:
      spec:
        nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
        requirements: []
- apiVersion: karpenter.sh/v1alpha1
  kind: NodeOverlay
  metadata: {name: savings-plan, uid: 5e1c, resourceVersion: "7", creationTimestamp: "2026-01-01T00:00:00Z"}
  spec:
    weight: 50
    requirements:
    - {key: karpenter.k8s.aws/instance-family, operator: In, values: [m7i]}
    - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
    priceAdjustment: "-37.5%"
    capacity: {example.com/slot: "2"}
  status:
    conditions:
    - {type: Ready, status: "True", reason: Ready, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}
"#;

#[test]
fn overlays_of_a_kubectl_list_are_read_and_applied() {
    let loaded = load(OVERLAID);
    assert_eq!(loaded.notes, []);
    let snapshot = loaded.snapshot;
    let overlaid = snapshot.overlaid();
    let terms = |catalogue: &Arc<plimsoll_model::catalogue::Catalogue>, terms| {
        let sold = catalogue.get("m7i.large").expect("the type is sold");
        let offering = sold.offerings.iter().find(|o| o.capacity_type == terms);
        offering.expect("it is sold so").clone()
    };
    let own = overlaid.of(&snapshot.pools[0].name);
    let listed = terms(snapshot.catalogues.of_others(), CapacityType::OnDemand);
    let changed = terms(own, CapacityType::OnDemand);
    assert_eq!(changed.price.nanos() * 8, listed.price.nanos() * 5);
    assert_eq!(changed.price_source, PriceSource::Overlay);
    assert_eq!(
        terms(own, CapacityType::Spot),
        terms(snapshot.catalogues.of_others(), CapacityType::Spot)
    );
    let slots = |name: &str| {
        let sold = own.get(name).expect("the type is sold");
        sold.capacity.get(&ResourceName::from("example.com/slot"))
    };
    assert_eq!((slots("m7i.large"), slots("m6i.large")), (2, 0));
}

#[test]
fn volumes_that_a_class_boots_its_nodes_with_take_attach_slots() {
    let with_class = |devices: &str| {
        let text = format!(
            r#"
apiVersion: v1
kind: List
plimsoll:
  time: "2026-11-22T00:00:00Z"
  catalogue: {{region: us-east-1}}
items:
- apiVersion: karpenter.sh/v1
  kind: NodePool
  metadata: {{name: general}}
  spec: {{template: {{spec: {{nodeClassRef: {{group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}}, requirements: []}}}}}}
- apiVersion: karpenter.k8s.aws/v1
  kind: EC2NodeClass
  metadata: {{name: default}}
  spec: {{role: node, amiSelectorTerms: [{{alias: al2023@latest}}], subnetSelectorTerms: [{{id: subnet-0a1b2c3d}}], securityGroupSelectorTerms: [{{id: sg-0a1b2c3d}}]{devices}}}
"#
        );
        let snapshot = load(&text).snapshot;
        let listed = snapshot.catalogues.of(&snapshot.pools[0].class);
        let sold = listed.get("m7i.large").expect("it is sold");
        sold.attach_limits.get("ebs.csi.aws.com").copied()
    };
    assert_eq!(with_class(""), Some(31), "32 less the root volume");
    let three = [
        "{deviceName: /dev/xvda, ebs: {volumeSize: 20Gi}}",
        "{deviceName: /dev/xvdb, ebs: {volumeSize: 50Gi}}",
        "{deviceName: /dev/xvdc, ebs: {volumeSize: 50Gi}}",
    ];
    let three = format!(", blockDeviceMappings: [{}]", three.join(", "));
    assert_eq!(with_class(&three), Some(29));
}

/// A file with a pool of each class, and what the classes say of their kubelets.
fn two_classes(few: &str, many: &str) -> String {
    let pool = |name: &str| {
        format!(
            "- apiVersion: karpenter.sh/v1\n  kind: NodePool\n  metadata: {{name: {name}}}\n  spec: {{template: {{spec: \
             {{nodeClassRef: {{group: karpenter.k8s.aws, kind: EC2NodeClass, name: {name}}}, requirements: []}}}}}}\n"
        )
    };
    let class = |name: &str, kubelet: &str| {
        format!(
            "- apiVersion: karpenter.k8s.aws/v1\n  kind: EC2NodeClass\n  metadata: {{name: {name}}}\n  spec: {{role: node, \
             amiSelectorTerms: [{{alias: al2023@latest}}], subnetSelectorTerms: [{{id: subnet-0a1b2c3d}}], \
             securityGroupSelectorTerms: [{{id: sg-0a1b2c3d}}], kubelet: {{{kubelet}}}}}\n"
        )
    };
    let objects = [
        pool("few"),
        pool("many"),
        class("few", few),
        class("many", many),
    ];
    let section = "apiVersion: v1\nkind: List\nplimsoll: {time: \"2026-11-22T00:00:00Z\", catalogue: {region: us-east-1}}\n";
    format!("{section}items:\n{}", objects.concat())
}

#[test]
fn every_pool_has_the_catalogue_of_its_own_class() {
    let text = two_classes(
        "maxPods: 8, systemReserved: {cpu: 500m, memory: 1Gi}",
        "evictionHard: {memory.available: 612Mi}",
    );
    let snapshot = load(&text).snapshot;
    let sold = |pool: &str, resource| {
        let pool = snapshot.pool(pool).expect("the pool is there");
        let listed = snapshot.catalogues.of(&pool.class);
        let sold = listed.get("m5.large").expect("it is sold");
        sold.allocatable(&sold.offerings[0]).get(&resource)
    };
    assert_eq!(sold("few", ResourceName::Pods), 8);
    assert_eq!(sold("many", ResourceName::Pods), 29);
    let cpu = |pool| sold(pool, ResourceName::Cpu);
    assert!(
        cpu("many") - cpu("few") >= 400,
        "{} and {}",
        cpu("few"),
        cpu("many")
    );
    let memory = |pool| sold(pool, ResourceName::Memory) >> 20;
    let default = snapshot
        .catalogues
        .of_others()
        .get("m5.large")
        .expect("it is sold");
    let default = default.allocatable(&default.offerings[0]);
    let default = default.get(&ResourceName::Memory) >> 20;
    assert_eq!(default - memory("many"), 512, "100Mi are kept without it");
}

#[test]
fn a_class_sells_no_types_that_it_cannot_launch() {
    let nested = "cpuOptions: {nestedVirtualization: enabled}";
    let text = two_classes("", "").replacen("kubelet: {}", nested, 1);
    let loaded = load(&text);
    let mut written = Vec::new();
    let (inline, format) = (CatalogueText::Inline, Format::Json);
    write(&loaded.snapshot, (&[], &[]), &inline, format, &mut written).expect("memory takes it");
    let again = load(std::str::from_utf8(&written).expect("text"));
    for (snapshot, pool, name, expected) in [
        (&loaded.snapshot, "few", "m8i-flex.large", true),
        (&loaded.snapshot, "few", "m7i.large", false),
        (&loaded.snapshot, "many", "m7i.large", true),
        (&loaded.snapshot, "many", "a1.large", false),
        (&again.snapshot, "few", "m7i.large", false),
        (&again.snapshot, "many", "m7i.large", true),
    ] {
        let class = &snapshot.pool(pool).expect("the pool is there").class;
        let listed = snapshot.catalogues.of(class).get(name);
        let mut offerings = listed.iter().flat_map(|listed| &listed.offerings);
        let is_sold = offerings.any(|offering| offering.available);
        assert_eq!(is_sold, expected, "{pool} {name}");
    }
}

#[test]
fn classes_that_say_the_same_share_a_catalogue() {
    let snapshot = load(&two_classes("maxPods: 8", "maxPods: 8")).snapshot;
    let of = |pool: usize| snapshot.catalogues.of(&snapshot.pools[pool].class);
    assert!(Arc::ptr_eq(of(0), of(1)));
    assert_eq!(snapshot.catalogues.distinct().len(), 2);
}

#[test]
fn a_class_that_the_file_does_not_have_is_told() {
    let text = two_classes("maxPods: 8", "maxPods: 8").replacen("name: many", "name: others", 1);
    let text = text.replacen("EC2NodeClass, name: many", "EC2NodeClass, name: absent", 1);
    let notes = load(&text).notes;
    let told: Vec<String> = notes.iter().map(ToString::to_string).collect();
    let expected = "EC2NodeClass absent (NodePool others) is not in the file: taking default kubelet settings and disks";
    assert!(told.iter().any(|note| note == expected), "{told:?}");
}

#[test]
fn a_file_says_what_nodes_of_a_class_are() {
    let text = r"
plimsoll:
  catalogue:
    instanceTypes:
    - {name: m, capacity: {cpu: 4, memory: 16Gi, pods: 58}, offerings: [{zone: a, price: 1}]}
    - {name: o, capacity: {cpu: 8, memory: 32Gi}, offerings: [{zone: a, price: 2}]}
    classes:
    - name: few
      instanceTypes:
      - {name: m, capacity: {cpu: 4, memory: 16Gi, pods: 8}, offerings: [{zone: a, price: 1}]}
      - {name: o, capacity: {cpu: 8, memory: 32Gi}}
";
    let catalogues = load(text).snapshot.catalogues;
    let few = catalogues.classes().next().expect("a class is named");
    let pods = |name| {
        let listed = catalogues.of(few).get(name).expect("it stands there");
        (
            listed.capacity.get(&ResourceName::Pods),
            listed.offerings.len(),
        )
    };
    assert_eq!((pods("m"), pods("o")), ((8, 1), (110, 0)));
    let others = catalogues.of_others().get("m").expect("it is sold");
    assert_eq!(others.capacity.get(&ResourceName::Pods), 58);
}

#[test]
fn shares_and_parts_of_guards_are_settings() {
    let read = |fields: &str| {
        let text = format!("plimsoll: {{settings: {{guards: {{{fields}}}}}}}");
        load(&text).snapshot.settings.guards.clone()
    };
    let ours = read(
        "nodeSharePercent: 100, nodeShareFromCpuMilli: 0, replicasApartFrom: 4, replicasApartDivisor: 1, spotSharePercent: 0",
    );
    let expected = Guards {
        node_share_percent: 100,
        node_share_from_cpu_milli: 0,
        replicas_apart_from: 4,
        replicas_apart_divisor: 1,
        spot_share_percent: 0,
        ..Guards::default()
    };
    assert_eq!(ours, expected);
    let default = read("");
    assert_eq!(
        (
            default.node_share_percent,
            default.node_share_from_cpu_milli,
            default.replicas_apart_from,
            default.replicas_apart_divisor
        ),
        (5, 48_000, 10, 3)
    );
}

#[test]
fn ceilings_on_buying_are_settings() {
    let text = "plimsoll: {settings: {runaway: {nodesInFlight: 7, dollarsPerHour: 2.5, equalRelaunches: 4}}}";
    let runaway = load(text).snapshot.settings.runaway;
    let expected = RunawayGuards {
        nodes_in_flight: 7,
        dollars_per_hour: PricePerHour::from_nanos(2_500_000_000),
        equal_relaunches: 4,
        ..RunawayGuards::default()
    };
    assert_eq!(runaway, expected);
}

#[test]
fn ceilings_of_a_pool_that_are_no_numbers_are_refused_by_name() {
    for (key, value, expected) in [
        ("nodes-in-flight", "many", "a number of nodes of at least 0"),
        ("nodes-per-minute", "-1", "a number of nodes of at least 0"),
        ("nodes-in-flight", "2.5", "a number of nodes of at least 0"),
        ("dollars-per-hour", "-0.5", "dollars per hour of at least 0"),
        ("dollars-per-hour", "NaN", "dollars per hour of at least 0"),
        ("dollars-per-hour", "", "dollars per hour of at least 0"),
    ] {
        let text = format!(
            r#"{{"kind":"List","items":[{{"apiVersion":"karpenter.sh/v1","kind":"NodePool",
            "metadata":{{"name":"general","annotations":{{"plimsoll.dev/{key}":"{value}"}}}},
            "spec":{{"template":{{"spec":{{"requirements":[],
            "nodeClassRef":{{"group":"karpenter.k8s.aws","kind":"EC2NodeClass","name":"default"}}}}}}}}}}]}}"#
        );
        let error = read(text.as_bytes(), &Limits::default()).expect_err("it makes no sense");
        let sentence = error.to_string();
        assert!(
            sentence.contains(&format!("metadata.annotations[plimsoll.dev/{key}]"))
                && sentence.contains(expected),
            "{sentence}"
        );
    }
}
