//! A snapshot that is written reads back as the same.

use plimsoll_model::snapshot::Snapshot;
use plimsoll_snapshot::write::{CatalogueText, Format, compress, write};
use plimsoll_snapshot::{Limits, Loaded, TimedChange, read};

fn load(text: &[u8]) -> Loaded {
    read(text, &Limits::default()).expect("the text is a snapshot")
}

fn check_same(left: &Snapshot, right: &Snapshot) {
    assert_eq!((left.now, left.seed), (right.now, right.seed));
    assert_eq!(left.settings, right.settings);
    assert_eq!(left.pools, right.pools);
    assert_eq!(left.overlays, right.overlays);
    assert_eq!(left.buffers, right.buffers);
    assert_eq!(left.templates, right.templates);
    assert_eq!(left.nodes, right.nodes);
    assert_eq!(left.pods, right.pods);
    assert_eq!(left.daemon_sets, right.daemon_sets);
    assert_eq!(left.workloads, right.workloads);
    assert_eq!(left.services, right.services);
    assert_eq!(left.namespaces, right.namespaces);
    assert_eq!(left.disruption_budgets, right.disruption_budgets);
    assert_eq!(left.volumes, right.volumes);
    assert_eq!(left.catalogues, right.catalogues);
}

fn written(snapshot: &Snapshot, changes: &[TimedChange], format: Format) -> Vec<u8> {
    let mut text = Vec::new();
    let changes = (changes, &[][..]);
    write(snapshot, changes, &CatalogueText::Inline, format, &mut text).expect("memory takes it");
    text
}

#[test]
fn node_classes_that_are_not_well_read_back_the_same() {
    let list = serde_json::json!({"apiVersion": "v1", "kind": "List", "items": [
        {"apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": {"name": "default"},
         "spec": {
            "amiSelectorTerms": [{"alias": "al2023@latest"}], "role": "nodes",
            "subnetSelectorTerms": [{"tags": {"a": "b"}}], "securityGroupSelectorTerms": [{"tags": {"a": "b"}}],
         },
         "status": {"conditions": [
            {"type": "SubnetsReady", "status": "True", "reason": "SubnetsReady", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"},
            {"type": "InterruptionQueueReady", "status": "False", "reason": "NoQueue", "message": "no queue", "lastTransitionTime": "2026-01-01T00:00:00Z"},
         ]}},
    ], "plimsoll": {"nodeClasses": [
        {"kind": "EC2NodeClass", "name": "default", "conditions": [{"type": "Ready", "status": "False"}]},
        {"kind": "EC2NodeClass", "name": "spot", "conditions": [{"type": "Ready", "status": "Unknown"}]},
    ]}});
    let first = load(list.to_string().as_bytes());
    let shown = first.node_classes.iter().map(|own| {
        let own_conditions = own.conditions.iter();
        let shown = own_conditions
            .map(|it| format!("{} {} {} {}", it.kind, it.status, it.reason, it.message));
        format!(
            "{} {}: {}",
            own.kind,
            own.name,
            shown.collect::<Vec<_>>().join("; ")
        )
    });
    let expected = [
        "EC2NodeClass default: InterruptionQueueReady False NoQueue no queue",
        "EC2NodeClass spot: Ready Unknown  ",
    ];
    assert_eq!(shown.collect::<Vec<_>>(), expected);
    for format in [Format::Json, Format::Yaml] {
        let mut text = Vec::new();
        let beside = (&[][..], &*first.node_classes);
        write(
            &first.snapshot,
            beside,
            &CatalogueText::Inline,
            format,
            &mut text,
        )
        .expect("memory takes it");
        assert_eq!(load(&text).node_classes, first.node_classes, "{format:?}");
    }
}

#[test]
fn every_kind_of_object_reads_back_the_same_in_both_formats() {
    for text in [
        include_str!("data/shop.yaml"),
        include_str!("data/everything.yaml"),
        include_str!("data/buffers.yaml"),
    ] {
        let first = load(text.as_bytes());
        for format in [Format::Json, Format::Yaml] {
            let again = load(&written(&first.snapshot, &first.changes, format));
            assert_eq!(again.notes, [], "{format:?}");
            check_same(&first.snapshot, &again.snapshot);
            assert_eq!(first.changes, again.changes, "{format:?}");
        }
    }
}

#[test]
fn a_region_written_out_reads_back_as_the_same_catalogue() {
    let first = load(b"{\"plimsoll\": {\"catalogue\": {\"region\": \"us-east-1\"}}}");
    let again = load(&written(&first.snapshot, &[], Format::Json));
    assert_eq!(first.snapshot.catalogues, again.snapshot.catalogues);
}

#[test]
fn classes_of_nodes_read_back_the_same() {
    let text = r#"{"plimsoll": {"catalogue": {
        "instanceTypes": [
            {"name": "m", "capacity": {"cpu": 4, "memory": "16Gi"}, "offerings": [{"zone": "a", "price": 1}]},
            {"name": "n", "capacity": {"cpu": 4, "memory": "16Gi"}, "offerings": [{"zone": "a", "price": 1}]}],
        "classes": [
            {"name": "few", "instanceTypes": [
                {"name": "m", "capacity": {"cpu": 4, "memory": "16Gi", "pods": 8}, "offerings": [{"zone": "a", "price": 1}]}]},
            {"name": "more", "kind": "KWOKNodeClass", "group": "karpenter.kwok.sh", "instanceTypes": [
                {"name": "o", "capacity": {"cpu": 1, "memory": "4Gi"}, "offerings": [{"zone": "b", "price": 1}]}]}]}}}"#;
    let first = load(text.as_bytes());
    assert_eq!(first.snapshot.catalogues.distinct().len(), 3);
    let again = load(&written(&first.snapshot, &[], Format::Yaml));
    assert_eq!(first.snapshot.catalogues, again.snapshot.catalogues);
}

#[test]
fn compressed_text_reads_back_the_same() {
    let first = load(include_bytes!("data/shop.yaml"));
    let text = written(&first.snapshot, &[], Format::Json);
    let mut compressed = Vec::new();
    compress(text.as_slice(), &mut compressed).expect("memory takes it");
    assert!(compressed.len() < text.len());
    check_same(&first.snapshot, &load(&compressed).snapshot);
}
