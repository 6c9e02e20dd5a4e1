//! Capacity buffers in files: read with what they refer to, made into room, and refused where they make no sense.

use std::collections::BTreeMap;

use plimsoll_snapshot::{Limits, Loaded, read};

const BUFFERS: &str = include_str!("data/buffers.yaml");

fn load(text: &str) -> Loaded {
    read(text.as_bytes(), &Limits::default()).expect("the text is a snapshot")
}

fn refused(text: &str) -> String {
    match read(text.as_bytes(), &Limits::default()) {
        Ok(_) => "accepted".to_owned(),
        Err(error) => error.to_string(),
    }
}

fn units(loaded: &Loaded) -> BTreeMap<String, usize> {
    let mut units = BTreeMap::new();
    for pod in loaded.snapshot.pods.iter().filter(|pod| pod.is_spare()) {
        let buffer = pod.owner.as_ref().expect("spare room is of a buffer");
        *units.entry(buffer.name.to_string()).or_default() += 1;
    }
    units
}

#[test]
fn buffers_of_a_file_become_room_of_the_shape_they_refer_to() {
    let expected = [
        ("by-limits", 10),
        ("combined", 4),
        ("evening", 2),
        ("fixed", 5),
    ];
    let expected = expected.map(|(name, count)| (name.to_owned(), count));
    assert_eq!(units(&load(BUFFERS)), BTreeMap::from(expected));
    let later = BUFFERS.replace("2026-11-22T21:00:00Z", "2026-11-22T23:15:00Z");
    assert!(
        !units(&load(&later)).contains_key("evening"),
        "its window is over"
    );
    let off = BUFFERS.replace("capacityBuffers: true", "capacityBuffers: false");
    assert!(units(&load(&off)).is_empty());
}

/// A template that no pod could be made from matters only to a buffer that refers to it.
#[test]
fn a_workload_with_a_broken_template_is_read_and_only_its_buffer_suffers() {
    let of_odd = BUFFERS.replace(
        "{kind: Deployment, name: api}",
        "{kind: StatefulSet, name: odd}",
    );
    let loaded = load(&of_odd);
    let pods = loaded.snapshot.pods.iter();
    let combined = pods.filter(|pod| pod.name.name.starts_with("capacity-buffer-combined-"));
    let problems: Vec<_> = combined
        .filter_map(|pod| pod.spec.problem.clone())
        .collect();
    assert!(
        !problems.is_empty() && problems.iter().all(|problem| problem.contains("-2")),
        "{problems:?}"
    );
}

#[test]
fn buffers_that_make_no_sense_are_refused_with_what_was_expected() {
    let schedule = "plimsoll.dev/spare-schedule: \"45 20 * * *\"";
    let duration = "plimsoll.dev/spare-duration: 2h30m";
    for (from, to, sentence) in [
        (
            schedule,
            "plimsoll.dev/spare-schedule: \"45 24 * * *\"",
            "capacitybuffers[2] shop/evening: metadata.annotations[plimsoll.dev/spare-schedule] is \"45 24 * * *\", \
             of which the hour is \"24\"; expected 0 to 23",
        ),
        (
            schedule,
            "plimsoll.dev/spare-schedule: \"0 0 30 2 *\"",
            "capacitybuffers[2] shop/evening: metadata.annotations[plimsoll.dev/spare-schedule] is \"0 0 30 2 *\"; \
             expected a schedule that comes at least once in five years",
        ),
        (
            schedule,
            "other: text",
            "capacitybuffers[2] shop/evening: metadata.annotations[plimsoll.dev/spare-schedule] is missing; \
             expected a schedule beside the duration",
        ),
        (
            duration,
            "plimsoll.dev/spare-duration: soon",
            "capacitybuffers[2] shop/evening: metadata.annotations[plimsoll.dev/spare-duration] is \"soon\"; \
             expected a duration such as 30s, 15m or 1h30m",
        ),
        (
            "    replicas: 5\n  status",
            "    replicas: -1\n  status",
            "capacitybuffers[0] shop/fixed: spec.replicas is -1; expected at least 0",
        ),
        (
            "v1beta1\n  kind: CapacityBuffer\n  metadata: {name: fixed",
            "v1alpha1\n  kind: CapacityBuffer\n  metadata: {name: fixed",
            "capacitybuffers[0] shop/fixed: apiVersion is \"autoscaling.x-k8s.io/v1alpha1\", which is not served; \
             expected autoscaling.x-k8s.io/v1beta1",
        ),
    ] {
        assert!(BUFFERS.contains(from), "{from}");
        assert_eq!(refused(&BUFFERS.replacen(from, to, 1)), sentence);
    }
}
