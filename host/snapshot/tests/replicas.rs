//! Workloads of a manifest whose pods are not in the file are planned as the pods that their controllers would make.

use std::sync::Arc;

use plimsoll_base::resources::ResourceName;
use plimsoll_model::{OwnerKind, Pod, WorkloadKind};
use plimsoll_snapshot::write::{CatalogueText, Format, write};
use plimsoll_snapshot::{Limits, Loaded, read};

/// Settings and a catalogue, which are no sign of a capture.
const SECTION: &str = "
apiVersion: plimsoll.dev/v1alpha1
kind: Snapshot
time: 2026-11-21T09:30:00Z
catalogue: {instanceTypes: [{name: m, capacity: {cpu: 8, memory: 8Gi}, offerings: [{zone: a, price: 1}]}]}
---
";

/// A workload with a template of pods that are labelled `app: NAME` and request half a processor.
fn workload(kind: &str, name: &str, more: &str) -> String {
    let version = match kind {
        "Job" | "CronJob" => "batch/v1",
        "ReplicationController" => "v1",
        _ => "apps/v1",
    };
    let selector = match kind {
        "Job" | "CronJob" => String::new(),
        "ReplicationController" => format!("  selector: {{app: {name}}}\n"),
        _ => format!("  selector: {{matchLabels: {{app: {name}}}}}\n"),
    };
    format!(
        "---\napiVersion: {version}\nkind: {kind}\nmetadata: {{name: {name}, namespace: shop}}\nspec:\n{selector}{more}  template:\n    \
         metadata: {{labels: {{app: {name}}}}}\n    spec:\n      \
         containers: [{{name: main, resources: {{requests: {{cpu: 500m}}}}}}]\n"
    )
}

fn load(objects: &str) -> Loaded {
    let text = format!("{SECTION}{objects}");
    read(text.as_bytes(), &Limits::default()).expect("the manifest is read")
}

fn refused(objects: &str) -> String {
    let text = format!("{SECTION}{objects}");
    let refused = read(text.as_bytes(), &Limits::default());
    refused
        .map(|_| ())
        .expect_err("the manifest is refused")
        .to_string()
}

/// Names of the pods, and notes but for the one of a pool that is assumed.
fn planned(objects: &str) -> (Vec<String>, Vec<String>) {
    let loaded = load(objects);
    let pods = loaded.snapshot.pods.iter().map(|pod| pod.name.to_string());
    let notes = loaded.notes.iter().map(ToString::to_string);
    let notes = notes.filter(|note| !note.starts_with("no NodePool"));
    (pods.collect(), notes.collect())
}

fn owner(pod: &Pod) -> (OwnerKind, String, String) {
    let owner = pod.owner.as_ref().expect("it has an owner");
    (owner.kind, owner.name.to_string(), owner.uid.to_string())
}

fn label<'p>(pod: &'p Arc<Pod>, key: &str) -> Option<&'p str> {
    pod.labels.get(key).map(|value| &**value)
}

#[test]
fn each_kind_is_planned_as_the_pods_that_it_has_at_once() {
    for (kind, more, pods, note) in [
        (
            "Deployment",
            "  replicas: 3\n",
            3,
            "planned as its 3 replicas",
        ),
        ("Deployment", "", 1, "planned as its 1 replica"),
        (
            "StatefulSet",
            "  replicas: 2\n",
            2,
            "planned as its 2 replicas",
        ),
        (
            "ReplicaSet",
            "  replicas: 2\n",
            2,
            "planned as its 2 replicas",
        ),
        (
            "ReplicationController",
            "  replicas: 2\n",
            2,
            "planned as its 2 replicas",
        ),
        ("Job", "", 1, "planned as its 1 pod"),
        ("Job", "  parallelism: 4\n", 4, "planned as its 4 pods"),
        (
            "Job",
            "  parallelism: 4\n  completions: 2\n",
            2,
            "planned as its 2 pods",
        ),
        ("Job", "  completions: 9\n", 1, "planned as its 1 pod"),
    ] {
        let (names, notes) = planned(&workload(kind, "web", more));
        let expected: Vec<String> = (0..pods).map(|at| format!("shop/web-{at}")).collect();
        assert_eq!(names, expected, "{kind} {more}");
        assert_eq!(
            notes,
            [format!("{kind} shop/web has no pods in this file: {note}")]
        );
    }
}

#[test]
fn workloads_that_make_no_pods_are_told_with_the_reason() {
    for (kind, more, reason) in [
        (
            "Deployment",
            "  replicas: 0\n",
            "no replicas are asked for, so no pods are planned",
        ),
        (
            "Deployment",
            "  paused: true\n",
            "paused, so no pods are planned",
        ),
        (
            "Job",
            "  suspend: true\n",
            "suspended, so no pods are planned",
        ),
        (
            "Job",
            "  parallelism: 0\n",
            "no replicas are asked for, so no pods are planned",
        ),
        (
            "CronJob",
            "  schedule: '0 * * * *'\n",
            "its pods exist only while it runs, so none are planned",
        ),
    ] {
        let (names, notes) = planned(&workload(kind, "web", more));
        assert_eq!(names, [""; 0], "{kind} {more}");
        assert_eq!(notes, [format!("{kind} shop/web: {reason}")]);
    }
}

#[test]
fn many_workloads_are_one_note() {
    let names = ["a", "b", "c", "d", "e", "f", "g"];
    let objects = names.map(|name| workload("Deployment", name, "  replicas: 2\n"));
    let (pods, notes) = planned(&objects.concat());
    assert_eq!(pods.len(), 14);
    assert_eq!(
        notes,
        [
            "Deployment shop/a (2), Deployment shop/b (2), Deployment shop/c (2), Deployment shop/d (2), Deployment shop/e (2) and 2 more \
             have no pods in this file: planned as their 14 replicas"
        ]
    );
}

#[test]
fn pods_in_the_file_are_all_there_are() {
    let pod = |labels: &str, namespace: &str| {
        format!(
            "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: one, namespace: {namespace}, labels: {{{labels}}}}}\nspec: {{containers: []}}\n"
        )
    };
    for kind in [
        "Deployment",
        "StatefulSet",
        "ReplicaSet",
        "ReplicationController",
    ] {
        let objects = workload(kind, "web", "  replicas: 3\n");
        let own = planned(&(objects.clone() + &pod("app: web, more: x", "shop")));
        assert_eq!(own, (vec!["shop/one".to_owned()], vec![]), "{kind}");
        let elsewhere = planned(&(objects.clone() + &pod("app: web", "other")));
        assert_eq!(elsewhere.0.len(), 4, "{kind}");
        let others = planned(&(objects + &pod("app: api", "shop")));
        assert_eq!(others.0.len(), 4, "{kind}");
    }
    let job = workload("Job", "web", "  parallelism: 3\n");
    let own = planned(&(job.clone() + &pod("job-name: web", "shop")));
    assert_eq!(own.0, ["shop/one"]);
    assert_eq!(planned(&(job + &pod("app: web", "shop"))).0.len(), 4);
}

/// Else a capture of a cluster, in which a Deployment is without pods for a moment, would decide what the cluster does not.
#[test]
fn what_a_server_has_seen_is_not_planned() {
    let seen = |kind: &str| {
        let object = workload(kind, "web", "  replicas: 3\n");
        object.replace("namespace: shop}", "namespace: shop, uid: 4d6e}")
    };
    for kind in [
        "Deployment",
        "StatefulSet",
        "ReplicaSet",
        "ReplicationController",
        "Job",
    ] {
        let (pods, notes) = planned(&seen(kind));
        assert_eq!(pods, [""; 0], "{kind}");
        let passed = notes.iter().filter(|note| note.contains("ignored")).count();
        assert_eq!(
            (notes.len(), passed),
            if kind == "Job" { (1, 1) } else { (0, 0) },
            "{notes:?}"
        );
    }
    let printed = read(seen("Deployment").as_bytes(), &Limits::default()).expect("it is read");
    assert_eq!(printed.snapshot.pods.len(), 0);
    let note = printed
        .notes
        .iter()
        .map(ToString::to_string)
        .find(|note| note.contains("shop/web"));
    assert_eq!(
        note.as_deref(),
        Some(
            "Deployment shop/web: read from a server and without pods in this file, so none are planned; add the pods, or remove \
             metadata.uid and metadata.resourceVersion to plan its replicas"
        )
    );
}

#[test]
fn what_others_control_they_make() {
    let set = workload("ReplicaSet", "web", "  replicas: 3\n").replace(
        "namespace: shop}",
        "namespace: shop, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: '', controller: true}]}",
    );
    assert_eq!(planned(&set).0, [""; 0]);
    let both = workload("Deployment", "web", "  replicas: 2\n") + &set;
    assert_eq!(planned(&both).0, ["shop/web-0", "shop/web-1"]);
}

#[test]
fn replicas_of_a_workload_are_one_group_and_those_of_another_are_not() {
    let objects = workload("Deployment", "web", "  replicas: 2\n")
        + &workload("StatefulSet", "web", "  replicas: 2\n")
        + &workload("Job", "web", "  parallelism: 2\n");
    let loaded = load(&objects);
    let pods = &loaded.snapshot.pods;
    let names: Vec<&str> = pods.iter().map(|pod| &*pod.name.name).collect();
    let expected = [
        "web-0",
        "web-1",
        "web-job-0",
        "web-job-1",
        "web-statefulset-0",
        "web-statefulset-1",
    ];
    assert_eq!(names, expected, "names do not clash");
    let owners: Vec<_> = pods.iter().map(|pod| owner(pod)).collect();
    for pair in owners.chunks(2) {
        assert_eq!(pair[0], pair[1]);
    }
    let kinds = [0, 2, 4].map(|at| owners[at].0);
    assert_eq!(
        kinds,
        [
            OwnerKind::ReplicaSet,
            OwnerKind::Job,
            OwnerKind::StatefulSet
        ]
    );
    let uids = [0, 2, 4].map(|at| owners[at].2.as_str());
    assert!(
        uids[0] != uids[1] && uids[1] != uids[2] && uids[0] != uids[2],
        "{uids:?}"
    );
    assert_eq!(label(&pods[2], "batch.kubernetes.io/job-name"), Some("web"));
    assert_eq!(label(&pods[5], "apps.kubernetes.io/pod-index"), Some("1"));
    assert!(
        Arc::ptr_eq(&pods[0].spec, &pods[1].spec),
        "specifications are held once"
    );
}

#[test]
fn a_deployment_has_a_replica_set_that_selects_its_pods() {
    let loaded = load(&workload("Deployment", "web", "  replicas: 2\n"));
    let pod = &loaded.snapshot.pods[0];
    let (kind, name, _) = owner(pod);
    assert_eq!(kind, OwnerKind::ReplicaSet);
    let mut workloads = loaded.snapshot.workloads.iter();
    let set = workloads
        .find(|own| own.kind == WorkloadKind::ReplicaSet)
        .expect("there is a ReplicaSet");
    assert_eq!((&*set.name.name, set.replicas), (&*name, 2));
    assert!(set.selector.matches(&pod.labels));
    assert!(label(pod, "pod-template-hash").is_some_and(|hash| name.ends_with(hash)));
    let other = load(&workload("Deployment", "web", "  replicas: 2\n").replace("500m", "600m"));
    assert_ne!(
        owner(&other.snapshot.pods[0]).1,
        name,
        "another template, another ReplicaSet"
    );
}

#[test]
fn claims_of_stateful_sets_and_ephemeral_volumes_are_made_with_their_pods() {
    let claims =
        "  volumeClaimTemplates: [{metadata: {name: data}, spec: {storageClassName: fast}}]\n";
    let class = "---\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: fast}\nprovisioner: csi.example.com\n\
                 volumeBindingMode: WaitForFirstConsumer\n";
    let set = workload("StatefulSet", "db", &format!("  replicas: 2\n{claims}"));
    let loaded = load(&format!("{set}{class}"));
    let names = |loaded: &Loaded| -> Vec<String> {
        let claims = loaded.snapshot.volumes.claims.iter();
        let named = claims.map(|(name, claim)| format!("{name} of {:?}", claim.class.as_deref()));
        named.collect()
    };
    let of_set = |loaded: &Loaded| {
        let mut notes = loaded.notes.iter().map(ToString::to_string);
        notes.find(|note| note.starts_with("StatefulSet shop/db: "))
    };
    let of_fast = |name: &str| format!("shop/{name} of Some(\"fast\")");
    assert_eq!(names(&loaded), [of_fast("data-db-0"), of_fast("data-db-1")]);
    assert_eq!(loaded.snapshot.pods[1].spec.volumes.len(), 1);
    assert_eq!(loaded.snapshot.volumes.classes.len(), 1);

    let assumed = load(&set);
    assert_eq!(names(&assumed), names(&loaded));
    let told = of_set(&assumed);
    assert_eq!(
        told.as_deref(),
        Some(
            "StatefulSet shop/db: storage class fast is not in this file, taking volumes of ebs.csi.aws.com in the zones of their pods"
        )
    );
    let nameless = load(&set.replace("storageClassName: fast", ""));
    assert_eq!(names(&nameless)[0], "shop/data-db-0 of Some(\"default\")");
    let told = of_set(&nameless);
    assert!(told.is_some_and(|told| told.contains("this file has no default storage class")));

    let ephemeral = workload("Deployment", "web", "  replicas: 1\n").replace(
        "      containers",
        "      volumes: [{name: scratch, ephemeral: {volumeClaimTemplate: {spec: {storageClassName: fast}}}}]\n      containers",
    );
    assert_eq!(
        names(&load(&format!("{ephemeral}{class}"))),
        [of_fast("web-0-scratch")]
    );
}

#[test]
fn what_a_server_would_refuse_is_told_or_refused() {
    let web = workload("Deployment", "web", "");
    for (from, to, problem) in [
        (
            "selector: {matchLabels: {app: web}}",
            "selector: {matchLabels: {app: wbe}}",
            "does not match the labels of spec.template",
        ),
        (
            "selector: {matchLabels: {app: web}}",
            "selector: {}",
            "is empty",
        ),
    ] {
        let loaded = load(&web.replace(from, to));
        let note = loaded.notes.first().expect("it is told");
        assert!(note.is_wrong());
        assert_eq!(
            note.to_string(),
            format!(
                "Deployment shop/web: spec.selector {problem}, which a server refuses: no pods are planned"
            )
        );
        assert_eq!(loaded.snapshot.pods.len(), 0);
    }
    let broken = load(&web.replace("500m", "-1")).notes.remove(0);
    assert!(broken.is_wrong());
    assert_eq!(
        broken.to_string(),
        "Deployment shop/web: spec.template.spec.containers[0].resources.requests.cpu is \"-1\"; a quantity must not be negative: no pods are planned"
    );
    assert_eq!(
        refused(&workload("Job", "web", "  parallelism: two\n")),
        "jobs[0] shop/web: spec.parallelism is \"two\"; expected a number of at least 0"
    );
    let many = workload("Deployment", "a", "  replicas: 60000\n")
        + &workload("Job", "b", "  parallelism: 60000\n");
    assert_eq!(
        refused(&many),
        "jobs[0] shop/b: spec.parallelism asks for 60000 pods; expected at most 100000 for all workloads whose pods are not in the file"
    );
}

#[test]
fn what_was_planned_once_is_not_planned_again() {
    let loaded = load(&workload("Deployment", "web", "  replicas: 2\n"));
    let mut text = Vec::new();
    let catalogue = CatalogueText::Inline;
    write(
        &loaded.snapshot,
        (&[], &[]),
        &catalogue,
        Format::Json,
        &mut text,
    )
    .expect("it is written");
    let again = read(text.as_slice(), &Limits::default()).expect("it is read");
    let json =
        |loaded: &Loaded| plimsoll_snapshot::write::json(&loaded.snapshot).expect("it is written");
    assert_eq!(json(&again), json(&loaded));
    assert_eq!(again.notes, []);
    let requests = &again.snapshot.pods[1].spec.requests;
    assert_eq!(requests.get(&ResourceName::Cpu), 500);
}
