//! Rules of the real scheduler that are easily played otherwise, each on a cluster of a few nodes.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_base::ids::{NodeName, ObjectName, Uid};
use plimsoll_base::labels::{HOSTNAME, LabelKey, Labels, ZONE};
use plimsoll_base::resources::Resources;
use plimsoll_base::time::Timestamp;
use plimsoll_model::snapshot::Objects;
use plimsoll_model::{
    AffinityTerm, BindingMode, CsiNode, Effect, LabelExpression, LabelSelector, Namespace,
    NamespaceScope, Node, NodeConditions, NodeInclusion, PersistentVolume, Pod, PodPhase, PodSpec,
    PodVolume, Readiness, SelectorOperator, SpreadConstraint, StorageClass, Taint,
    VolumeAttachment, VolumeClaim, VolumeKind, Volumes, WhenUnsatisfiable,
};

use super::{Answer, NotPlayed, fits};

const DRIVER: &str = "disk.example.com";

fn labels(pairs: &[(&str, &str)]) -> Labels {
    let pairs = pairs.iter();
    pairs
        .map(|(key, value)| (Arc::from(*key), Arc::from(*value)))
        .collect()
}

/// A node of a zone; without one where it is empty.
fn node(name: &str, zone: &str) -> Node {
    let mut own = labels(&[(HOSTNAME, name)]);
    if !zone.is_empty() {
        own.extend(labels(&[(ZONE, zone)]));
    }
    Node {
        name: NodeName::from(name),
        uid: Uid::from(name),
        provider_id: None,
        labels: own,
        annotations: Labels::new(),
        taints: Vec::new(),
        capacity: Resources::default(),
        allocatable: Resources::default(),
        features: Vec::new(),
        conditions: NodeConditions::of(Readiness::Ready, Timestamp::default()),
        created: Timestamp::default(),
        deleting: None,
        held: false,
    }
}

fn pod(name: &str, app: &str, spec: PodSpec) -> Pod {
    let object = ObjectName::new("shop", name);
    Pod {
        labels: Arc::new(labels(&[("app", app)])),
        spec: Arc::new(spec),
        ..Pod::pending(Uid::from(name), object, Timestamp::default())
    }
}

fn plain(name: &str, app: &str) -> Pod {
    pod(name, app, PodSpec::default())
}

fn on(node: &str, pod: Pod) -> Pod {
    Pod {
        node: Some(NodeName::from(node)),
        phase: PodPhase::Running,
        ..pod
    }
}

fn leaving(pod: Pod) -> Pod {
    Pod {
        deleting: Some(Timestamp::from_millis(1)),
        ..pod
    }
}

fn selector(pairs: &[(&str, &str)]) -> LabelSelector {
    LabelSelector::match_labels(&labels(pairs))
}

fn spread(key: &str, selector: LabelSelector) -> SpreadConstraint {
    SpreadConstraint {
        max_skew: 1,
        topology_key: LabelKey::from(key),
        when_unsatisfiable: WhenUnsatisfiable::DoNotSchedule,
        selector,
        match_label_keys: Vec::new(),
        min_domains: None,
        node_affinity: NodeInclusion::Honor,
        node_taints: NodeInclusion::Ignore,
    }
}

fn term(key: &str, selector: LabelSelector) -> AffinityTerm {
    AffinityTerm {
        topology_key: LabelKey::from(key),
        selector,
        namespaces: NamespaceScope::Own,
        match_label_keys: Vec::new(),
        mismatch_label_keys: Vec::new(),
    }
}

/// Nodes that take the one pod that waits.
fn takers(nodes: Vec<Node>, pods: Vec<Pod>) -> Vec<String> {
    takers_among(&Objects {
        nodes: nodes.into_iter().map(Arc::new).collect(),
        pods: pods.into_iter().map(Arc::new).collect(),
        ..Objects::default()
    })
}

fn takers_among(objects: &Objects) -> Vec<String> {
    let taken = fits(objects).into_iter();
    taken
        .filter(|fit| fit.answer == Answer::Taken)
        .map(|fit| fit.node.to_string())
        .collect()
}

#[test]
fn a_spread_constraint_with_an_empty_selector_counts_no_pod() {
    let everything = LabelSelector::All(Vec::new());
    let spec = PodSpec {
        spread: vec![spread(HOSTNAME, everything)],
        ..PodSpec::default()
    };
    let nodes = vec![node("n1", "a"), node("n2", "a")];
    let there = on("n1", plain("old", "web"));
    assert_eq!(
        takers(nodes, vec![there, pod("new", "web", spec)]),
        ["n1", "n2"]
    );
}

#[test]
fn a_node_that_lacks_the_key_of_one_constraint_is_no_domain_of_the_other() {
    let web = || selector(&[("app", "web")]);
    let spec = |spread| PodSpec {
        spread,
        ..PodSpec::default()
    };
    let nodes = || {
        let mut racked = node("n1", "a");
        racked.labels.extend(labels(&[("rack", "1")]));
        vec![racked, node("n2", "b")]
    };
    let there = || on("n1", plain("old", "web"));
    let both = spec(vec![spread(ZONE, web()), spread("rack", web())]);
    assert_eq!(
        takers(nodes(), vec![there(), pod("new", "web", both)]),
        ["n1"]
    );
    let one = spec(vec![spread(ZONE, web())]);
    assert_eq!(
        takers(nodes(), vec![there(), pod("new", "web", one)]),
        ["n2"]
    );
}

#[test]
fn only_taints_that_keep_pods_out_take_a_node_out_of_the_count() {
    let mut constraint = spread(HOSTNAME, selector(&[("app", "web")]));
    constraint.node_taints = NodeInclusion::Honor;
    let spec = PodSpec {
        spread: vec![constraint],
        ..PodSpec::default()
    };
    let tainted = |effect| {
        let key = Arc::from("example.com/busy");
        let value = Arc::from("");
        let mut other = node("n2", "a");
        other.taints = vec![Taint { key, value, effect }];
        vec![node("n1", "a"), other]
    };
    let pods = || {
        let there = on("n1", plain("old", "web"));
        vec![there, pod("new", "web", spec.clone())]
    };
    assert_eq!(takers(tainted(Effect::NoSchedule), pods()), ["n1"]);
    assert_eq!(takers(tainted(Effect::PreferNoSchedule), pods()), ["n2"]);
}

#[test]
fn one_pod_must_meet_all_terms_of_affinity() {
    let (web, cache) = (selector(&[("app", "web")]), selector(&[("tier", "cache")]));
    let spec = PodSpec {
        affinity: vec![term(ZONE, web), term(ZONE, cache)],
        ..PodSpec::default()
    };
    let nodes = || vec![node("n1", "a"), node("n2", "b")];
    let with = |name, app, tier| {
        let own = Arc::new(labels(&[("app", app), ("tier", tier)]));
        Pod {
            labels: own,
            ..on("n1", plain(name, app))
        }
    };
    let halves = vec![with("one", "web", "front"), with("two", "api", "cache")];
    let new = pod("new", "api", spec);
    let none: [&str; 0] = [];
    assert_eq!(takers(nodes(), [halves, vec![new.clone()]].concat()), none);
    assert_eq!(
        takers(nodes(), vec![with("both", "web", "cache"), new]),
        ["n1"]
    );
}

#[test]
fn a_pod_on_its_way_out_attracts_and_repels_and_is_not_counted() {
    let web = || selector(&[("app", "web")]);
    let nodes = || vec![node("n1", "a"), node("n2", "b")];
    let going = || leaving(on("n1", plain("old", "web")));
    let cases: [(PodSpec, &[&str]); 3] = [
        (
            PodSpec {
                affinity: vec![term(ZONE, web())],
                ..PodSpec::default()
            },
            &["n1"],
        ),
        (
            PodSpec {
                anti_affinity: vec![term(ZONE, web())],
                ..PodSpec::default()
            },
            &["n2"],
        ),
        (
            PodSpec {
                spread: vec![spread(ZONE, web())],
                ..PodSpec::default()
            },
            &["n1", "n2"],
        ),
    ];
    for (spec, expected) in cases {
        assert_eq!(
            takers(nodes(), vec![going(), pod("new", "api", spec)]),
            expected
        );
    }
    let shy = PodSpec {
        anti_affinity: vec![term(ZONE, web())],
        ..PodSpec::default()
    };
    let there = leaving(on("n1", pod("shy", "db", shy)));
    assert_eq!(takers(nodes(), vec![there, plain("new", "web")]), ["n2"]);
}

#[test]
fn namespaces_of_a_term_are_found_by_their_labels() {
    let mut asked = term(ZONE, selector(&[("app", "web")]));
    asked.namespaces = NamespaceScope::Named {
        names: Vec::new(),
        selector: selector(&[("team", "red")]),
    };
    let spec = PodSpec {
        anti_affinity: vec![asked],
        ..PodSpec::default()
    };
    for (team, expected) in [("red", &["n2"][..]), ("blue", &["n1", "n2"])] {
        let namespace = Namespace {
            name: Arc::from("shop"),
            labels: labels(&[("team", team)]),
        };
        let objects = Objects {
            nodes: vec![Arc::new(node("n1", "a")), Arc::new(node("n2", "b"))],
            namespaces: vec![Arc::new(namespace)],
            pods: vec![
                Arc::new(on("n1", plain("old", "web"))),
                Arc::new(pod("new", "api", spec.clone())),
            ],
            ..Objects::default()
        };
        assert_eq!(takers_among(&objects), expected);
    }
}

/// Two nodes of two zones that attach one volume each, claims bound to volumes of zone a, and one claim that waits for its pod.
fn stored() -> Objects {
    let mut volumes = Volumes::default();
    for name in ["one", "two"] {
        let zone = plimsoll_base::requirement::Requirement::one_of(LabelKey::from(ZONE), ["a"]);
        let found = PersistentVolume {
            kind: VolumeKind::Csi(Arc::from(DRIVER)),
            zone_labels: std::iter::once(zone).collect(),
            ..PersistentVolume::default()
        };
        let claim = VolumeClaim {
            volume: Some(Arc::from(name)),
            bound: true,
            ..VolumeClaim::default()
        };
        volumes.volumes.insert(Arc::from(name), found);
        volumes.claims.insert(ObjectName::new("shop", name), claim);
    }
    let class = StorageClass {
        driver: Arc::from(DRIVER),
        binding: BindingMode::WaitForFirstConsumer,
        allowed_topologies: Vec::new(),
        default_since: None,
    };
    volumes.classes.insert(Arc::from("disk"), class);
    let waits = VolumeClaim {
        class: Some(Arc::from("disk")),
        ..VolumeClaim::default()
    };
    volumes.claims.insert(ObjectName::new("shop", "new"), waits);
    for name in ["n1", "n2"] {
        let there = CsiNode {
            limits: BTreeMap::from([(Arc::from(DRIVER), 1)]),
            ..CsiNode::default()
        };
        volumes.nodes.insert(NodeName::from(name), there);
    }
    Objects {
        nodes: vec![Arc::new(node("n1", "a")), Arc::new(node("n2", "b"))],
        volumes: Arc::new(volumes),
        ..Objects::default()
    }
}

fn using(name: &str, claim: &str) -> Pod {
    let spec = PodSpec {
        volumes: vec![PodVolume::Claim(Arc::from(claim))],
        ..PodSpec::default()
    };
    pod(name, "db", spec)
}

#[test]
fn a_volume_with_a_label_of_its_zone_keeps_its_pod_there() {
    let mut objects = stored();
    objects.pods = vec![Arc::new(using("new", "one"))];
    assert_eq!(takers_among(&objects), ["n1"]);
    objects.nodes[1] = Arc::new(node("n2", ""));
    assert_eq!(takers_among(&objects), ["n1", "n2"]);
}

#[test]
fn a_node_attaches_no_more_volumes_than_its_driver_says() {
    let mut objects = stored();
    objects.pods = vec![
        Arc::new(on("n1", using("old", "one"))),
        Arc::new(using("waits", "new")),
    ];
    assert_eq!(takers_among(&objects), ["n2"]);
    // A volume that lingers takes a slot as well, though no pod of the node uses it.
    objects.attachments = vec![Arc::new(VolumeAttachment {
        name: Arc::from("lingers"),
        attacher: Arc::from(DRIVER),
        node: NodeName::from("n2"),
        volume: Some(Arc::from("two")),
    })];
    assert_eq!(takers_among(&objects), [""; 0]);
}

#[test]
fn a_claim_of_one_pod_at_a_time_is_had_until_that_pod_is_gone() {
    let mut objects = stored();
    let mut volumes = Volumes::clone(&objects.volumes);
    if let Some(claim) = volumes.claims.get_mut(&ObjectName::new("shop", "one")) {
        claim.single_pod = true;
    }
    objects.volumes = Arc::new(volumes);
    let old = leaving(on("n2", using("old", "one")));
    objects.pods = vec![Arc::new(old), Arc::new(using("new", "one"))];
    assert_eq!(takers_among(&objects), [""; 0]);
    objects.pods.remove(0);
    assert_eq!(takers_among(&objects), ["n1"]);
}

#[test]
fn what_is_not_played_is_told_and_not_answered() {
    let mut asked = term(ZONE, selector(&[("app", "web")]));
    asked.namespaces = NamespaceScope::Named {
        names: Vec::new(),
        selector: LabelSelector::all(vec![LabelExpression {
            key: Arc::from("team"),
            operator: SelectorOperator::NotIn,
            values: vec![Arc::from("red")],
        }]),
    };
    let excludes = PodSpec {
        anti_affinity: vec![asked],
        ..PodSpec::default()
    };
    let devices = PodSpec {
        dynamic_resources: true,
        ..PodSpec::default()
    };
    let cases = [
        (pod("new", "api", excludes), NotPlayed::ExcludedNamespaces),
        (pod("new", "api", devices), NotPlayed::DynamicResources),
        (using("new", "nowhere"), NotPlayed::MissingClaim),
    ];
    for (waits, rule) in cases {
        let objects = Objects {
            nodes: vec![Arc::new(node("n1", "a"))],
            pods: vec![Arc::new(waits)],
            ..Objects::default()
        };
        let answers: Vec<Answer> = fits(&objects).iter().map(|fit| fit.answer).collect();
        assert_eq!(answers, [Answer::NotPlayed(rule)]);
    }
}
