//! A file that is no snapshot is refused with a sentence, whatever it is.

use std::io::{self, Read};

use plimsoll_snapshot::{Limits, read};
use proptest::prelude::*;

fn refused(text: &[u8]) -> String {
    match read(text, &Limits::default()) {
        Ok(_) => "accepted".to_owned(),
        Err(error) => error.to_string(),
    }
}

/// A list of one pod whose container asks for `cpu`.
fn pod_asking(cpu: &str) -> String {
    format!(
        r#"{{"kind":"List","items":[{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"api-5c","namespace":"shop"}},
        "spec":{{"containers":[{{"name":"c","resources":{{"requests":{{"cpu":{cpu}}}}}}}]}}}}]}}"#
    )
}

#[test]
fn each_broken_frame_has_its_sentence() {
    for (text, sentence) in [
        (
            "",
            "is empty; expected a list of objects as kubectl prints it, in JSON or YAML",
        ),
        (
            "\n\n",
            "holds no object that is read; expected nodes, pods or pools as kubectl prints them",
        ),
        (
            "{\"items\": [\n{\"kind\": \"Pod\", \"metada",
            "ends at line 2 column 24, in the middle of items; expected the rest of it",
        ),
        (
            "{\"items\": [\n{\"kind\": }]}",
            "line 2 column 10: expected value",
        ),
        (
            "{\"items\" []}",
            "line 1 column 10: expected : in an object",
        ),
        (
            "{\"a\": 3, 4: 5}",
            "line 1 column 10: expected a key in double quotes in an object",
        ),
        (
            "[3]",
            "items[0] is no object; expected one with apiVersion, kind and metadata",
        ),
        (
            "[{\"kind\": \"Pod\"}]",
            "items[0]: apiVersion is missing; expected what kind of object it is",
        ),
        (
            "{kind: Pod}",
            "document 1 (line 1): apiVersion is missing; expected what kind of object it is",
        ),
        (
            "{\"plimsoll\": {\"seed\": 1}, \"plimsoll\": {}}",
            "the plimsoll section is given twice; expected it once",
        ),
    ] {
        assert_eq!(refused(text.as_bytes()), sentence, "{text}");
    }
}

#[test]
fn bytes_that_are_no_text_are_named_with_their_place() {
    let sentence = "line 2 column 2: the bytes are not UTF-8 text";
    assert_eq!(refused(b"[\n\"\xff\"]"), sentence);
    assert_eq!(refused(b"a: 1\nb\xff: 2\n"), sentence);
}

#[test]
fn quantities_are_refused_by_object_and_field() {
    let field = "pods[0] shop/api-5c: spec.containers[0].resources.requests.cpu";
    for (cpu, sentence) in [
        ("\"-2\"", "is \"-2\"; a quantity must not be negative"),
        ("-2", "is \"-2\"; a quantity must not be negative"),
        ("\"1e30\"", "is \"1e30\", more than can be counted"),
        (
            "\"two\"",
            "\"two\" is not a quantity; expected a number such as 2, 1.5, 250m or 4Gi",
        ),
        ("[]", "is a list; expected "),
    ] {
        let told = refused(pod_asking(cpu).as_bytes());
        assert!(told.starts_with(&format!("{field} {sentence}")), "{told}");
    }
}

/// A recording of one change.
fn refused_change(change: &str) -> String {
    let section =
        format!(r#"{{"time":"2026-11-21T09:30:00Z","changes":[{{"at":"+1s",{change}}}]}}"#);
    let text = format!(r#"{{"apiVersion":"v1","kind":"List","items":[],"plimsoll":{section}}}"#);
    refused(text.as_bytes())
}

#[test]
fn changes_with_fields_that_they_do_not_have_are_refused() {
    for (change, expected) in [
        (
            r#""price":{"instanceType":"m5.large","zon":"a","price":1}"#,
            "plimsoll.changes[0].price has a field zon; expected one of",
        ),
        (
            r#""availability":{"instanceType":"m5.large","capacity":"spot","available":true}"#,
            "plimsoll.changes[0].availability has a field capacity; expected one of",
        ),
        (
            r#""delete":{"kind":"Pod","name":"web","namespce":"shop"}"#,
            "plimsoll.changes[0].delete has a field namespce; expected one of",
        ),
    ] {
        let sentence = refused_change(change);
        assert!(sentence.starts_with(expected), "{sentence}");
    }
}

#[test]
fn an_object_of_a_change_is_refused_as_in_a_list() {
    let pool = r#""upsert":{"apiVersion":"karpenter.sh/v1","kind":"NodePool","metadata":{"name":"general"},"spec":{"weight":0}}"#;
    let sentence = refused_change(pool);
    let expected = "plimsoll.changes[0].upsert general: spec.";
    assert!(sentence.starts_with(expected), "{sentence}");
}

#[test]
fn how_long_something_runs_is_said_of_pods_alone() {
    let expected = "expected it beside the upsert of a pod";
    let sentence = refused_change(r#""runsFor":"1h","delete":{"kind":"Pod","name":"web"}"#);
    assert_eq!(
        sentence,
        format!("plimsoll.changes[0].runsFor stands alone; {expected}")
    );
    let namespace = r#"{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"shop"}}"#;
    let sentence = refused_change(&format!(r#""runsFor":"1h","upsert":{namespace}"#));
    assert_eq!(
        sentence,
        format!("plimsoll.changes[0].runsFor stands beside a Namespace; {expected}")
    );
}

#[test]
fn deployments_that_make_no_sense_are_refused() {
    let deploy = |rest: &str| format!(r#""deploy":{{"name":"web","replicas":2,{rest}}}"#);
    for (change, expected) in [
        (
            deploy(r#""template":{"spec":{}},"follows":{"target":0,"most":3}"#),
            "changes[0].deploy.follows.target is 0; expected a load above 0",
        ),
        (
            deploy(r#""template":{"spec":{}},"follows":{"target":5,"least":4,"most":3}"#),
            "changes[0].deploy.follows.most is 3; expected at least 4, the fewest replicas",
        ),
        (
            r#""scale":{"name":"web","amount":5000000000}"#.to_owned(),
            "changes[0].scale.amount is 5000000000; expected a number of replicas",
        ),
        (
            r#""scale":{"name":"web","amount":5}"#.to_owned(),
            "changes[0].scale names default/web; expected a deployment that an earlier change deploys",
        ),
        (
            r#""load":{"name":"web","amount":5}"#.to_owned(),
            "changes[0].load names default/web; expected a deployment that an earlier change deploys",
        ),
        (
            r#""uses":{"name":"web","cpu":1,"memory":"1Gi"}"#.to_owned(),
            "changes[0].uses names default/web; expected a deployment that an earlier change deploys",
        ),
        (
            deploy(r#""template":{"spec":{}},"uses":{"cpu":"-1","memory":"1Gi"}"#),
            "changes[0].deploy.uses.cpu is \"-1\"; a quantity must not be negative",
        ),
    ] {
        let sentence = refused_change(&change);
        assert!(sentence.contains(expected), "{sentence}");
    }
}

#[test]
fn names_are_given_once() {
    let pod =
        r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"containers":[]}}"#;
    assert_eq!(
        refused(format!("[{pod},{pod}]").as_bytes()),
        "pods[1] default/a: pods[0] has the same name; expected each name once"
    );
}

#[test]
fn yaml_keys_given_twice_are_refused() {
    let told = refused(b"kind: List\nitems: []\nkind: List\n");
    assert!(told.starts_with("line 3 column 1: "), "{told}");
}

#[test]
fn subnets_that_make_no_sense_are_refused() {
    let free = "expected a whole number from 0 to 4294967295";
    for (subnets, sentence) in [
        (
            "{zone: a, freeAddresses: 1}",
            "subnets[0].id is missing; expected an id such as subnet-0a1b2c3d".to_owned(),
        ),
        (
            "{id: s1, zone: c, freeAddresses: 1}",
            "subnets[0] s1: zone is \"c\"; expected a zone of the catalogue (a, b)".to_owned(),
        ),
        (
            "{id: s1, zone: a, freeAddresses: -1}",
            format!("subnets[0] s1: freeAddresses is -1; {free}"),
        ),
        (
            "{id: s1, zone: a}",
            format!("subnets[0] s1: freeAddresses is missing; {free}"),
        ),
        (
            "{id: s1, zone: a, freeAddresses: 1}, {id: s1, zone: b, freeAddresses: 1}",
            "subnets[1].id is \"s1\", like that of an earlier one; expected every subnet once"
                .to_owned(),
        ),
    ] {
        let text = format!(
            "plimsoll: {{subnets: [{subnets}], catalogue: {{instanceTypes: [{{name: m, capacity: {{cpu: 1, memory: 1}}, offerings: [{{zone: a, price: 1}}, {{zone: b, price: 1}}]}}]}}}}"
        );
        assert_eq!(refused(text.as_bytes()), format!("plimsoll.{sentence}"));
    }
}

#[test]
fn prices_and_zones_that_make_no_sense_are_refused() {
    let path = "plimsoll.catalogue.instanceTypes[0] a: offerings[0].";
    let expected = "expected dollars per hour above 0 and at most 100000";
    for (offering, sentence) in [
        (
            "{zone: a, price: 0}",
            format!("{path}price is 0; {expected}"),
        ),
        (
            "{zone: a, price: -0.1}",
            format!("{path}price is -0.1; {expected}"),
        ),
        (
            "{zone: a}",
            format!("{path}price is missing or no number; {expected}"),
        ),
        (
            "{price: 1}",
            format!("{path}zone is missing; expected the name of a zone"),
        ),
        (
            "{zone: a, price: 1, capacityType: sport}",
            format!("{path}capacityType is \"sport\"; expected on-demand, spot or reserved"),
        ),
    ] {
        let text = format!(
            "plimsoll: {{catalogue: {{instanceTypes: [{{name: a, capacity: {{cpu: 1, memory: 1}}, offerings: [{offering}]}}]}}}}"
        );
        assert_eq!(refused(text.as_bytes()), sentence);
    }
    let told = refused(b"plimsoll: {nodeCost: .nan}");
    assert!(
        told.starts_with("line 1 column 22: non-finite float"),
        "{told}"
    );
    assert_eq!(
        refused(
            b"plimsoll: {catalogue: {instanceTypes: [{name: a, capacity: {cpu: 1, memory: 1}}]}}"
        ),
        "plimsoll.catalogue.instanceTypes[0] a: offerings is empty; expected at least one zone"
    );
    assert_eq!(
        refused(b"plimsoll: {settings: {churn: {saving: -1}}}"),
        "plimsoll.settings.churn.saving is -1; expected dollars per hour of at least 0"
    );
    assert_eq!(
        refused(b"plimsoll: {catalogue: {region: us-east-1, zones: []}}"),
        "plimsoll.catalogue: region us-east-1: the list of zones is empty; expected at least one, or no list to assume zones a, b and c"
    );
    assert_eq!(
        refused(b"plimsoll: {catalogue: {region: us-east-1}, prices: [{instanceType: m5.lage, price: 1}]}"),
        "plimsoll.prices[0].instanceType is \"m5.lage\"; expected a type of the catalogue; did you mean m5.large?"
    );
}

#[test]
fn dynamic_resources_cannot_be_allowed() {
    assert_eq!(
        refused(b"plimsoll: {settings: {ignoreDynamicResources: false}}"),
        "plimsoll.settings.ignoreDynamicResources is false; expected true or nothing: pods that use dynamic resource allocation \
         are declined"
    );
}

#[test]
fn shares_outside_0_to_100_percent_are_refused() {
    for field in [
        "guards.nodeSharePercent",
        "guards.spotSharePercent",
        "churn.savingPercent",
    ] {
        let (group, name) = field.split_once('.').unwrap();
        let told = |value: &str| {
            let text = format!("plimsoll: {{settings: {{{group}: {{{name}: {value}}}}}}}");
            refused(text.as_bytes())
        };
        for (value, shown) in [
            ("-1", "-1"),
            ("101", "101"),
            ("4294967297", "4294967297"),
            ("2.5", "2.5"),
            ("\"5\"", "\"5\""),
            ("5%", "\"5%\""),
            ("[5]", "a list"),
        ] {
            assert_eq!(
                told(value),
                format!(
                    "plimsoll.settings.{field} is {shown}; expected a whole number of percent from 0 to 100"
                )
            );
        }
    }
}

/// Fails unless each field of the guards is refused with its sentence.
#[track_caller]
fn refused_in_guards(fields: &[(&str, &str)]) {
    for (field, expected) in fields {
        let text = format!("plimsoll: {{settings: {{guards: {{{field}}}}}}}");
        assert_eq!(
            refused(text.as_bytes()),
            format!("plimsoll.settings.guards.{expected}")
        );
    }
}

#[test]
fn parts_of_guards_that_make_no_sense_are_refused() {
    refused_in_guards(&[
        (
            "nodeShareFromCpuMilli: -1",
            "nodeShareFromCpuMilli is -1; expected milli-cores of at least 0",
        ),
        (
            "replicasApartDivisor: 0",
            "replicasApartDivisor is 0; expected a number of at least 1",
        ),
    ]);
}

#[test]
fn old_names_of_settings_are_refused_with_the_new_ones() {
    refused_in_guards(&[
        (
            "largestNodeCpuMilli: 48000",
            "largestNodeCpuMilli is an old name; expected nodeShareFromCpuMilli and nodeSharePercent",
        ),
        (
            "replicasApart: 3",
            "replicasApart is an old name; expected replicasApartFrom and replicasApartDivisor",
        ),
        (
            "unaskedSpot: true",
            "unaskedSpot is an old name; expected unrequestedSpot",
        ),
    ]);
    assert_eq!(
        refused(b"plimsoll: {settings: {churn: {noWayBack: 1h}}}"),
        "plimsoll.settings.churn.noWayBack is an old name; expected reversalCooldown"
    );
}

/// The same bytes, again and again.
struct Endless(&'static [u8], usize);

impl Read for Endless {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        for byte in into.iter_mut() {
            *byte = self.0[self.1 % self.0.len()];
            self.1 += 1;
        }
        Ok(into.len())
    }
}

#[test]
fn a_line_without_end_is_refused_in_bounded_memory() {
    let of = |begin: &'static [u8], rest| {
        let endless = begin.chain(Endless(rest, 0)).take(2 << 30);
        read(endless, &Limits::default()).map_or_else(|error| error.to_string(), |_| String::new())
    };
    assert_eq!(
        of(b"[\"", b"a"),
        "line 1 column 2: the list of objects is longer than 16777216 bytes; expected at most that"
    );
    assert_eq!(
        of(b"a: ", b"b"),
        "line 1 column 1: a line is longer than 16777216 bytes; expected at most that"
    );
}

#[test]
fn a_decompression_bomb_is_refused() {
    let mut bomb = Vec::new();
    let limits = Limits {
        ratio_from: 1 << 20,
        ..Limits::default()
    };
    let spaces = Endless(b" ", 0).take(64 << 20);
    plimsoll_snapshot::write::compress(spaces, &mut bomb).expect("memory takes it");
    let told = read(bomb.as_slice(), &limits)
        .expect_err("it is a bomb")
        .to_string();
    assert_eq!(
        told,
        "grows more than 1000 times when decompressed; refused, since no snapshot does (a decompression bomb does)"
    );
    let mut whole = Vec::new();
    let shop = include_bytes!("data/shop.yaml");
    plimsoll_snapshot::write::compress(shop.as_slice(), &mut whole).expect("memory takes it");
    let told = refused(&whole[..whole.len() / 2]);
    assert!(told.starts_with("is not whole zstd data: "), "{told}");
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = read(bytes.as_slice(), &Limits::default());
    }

    #[test]
    fn a_snapshot_cut_or_changed_anywhere_never_panics(at in 0_usize..4000, byte in any::<u8>(), cut in any::<bool>()) {
        let mut text = include_bytes!("data/everything.yaml").to_vec();
        let at = at % text.len();
        if cut { text.truncate(at) } else { text[at] = byte }
        let _ = read(text.as_slice(), &Limits::default());
    }

    #[test]
    fn json_made_of_its_own_marks_never_panics(text in "[\\[\\]{}:,\"\\\\ a1\n]{0,60}") {
        let _ = read(text.as_bytes(), &Limits::default());
    }
}

#[test]
fn classes_of_a_catalogue_have_names_each_once() {
    let with = |classes: &str| {
        let text = format!(
            "plimsoll: {{catalogue: {{instanceTypes: [{{name: m, capacity: {{cpu: 1, memory: 1}}, offerings: [{{zone: a, price: 1}}]}}], classes: [{classes}]}}}}"
        );
        refused(text.as_bytes())
    };
    assert_eq!(
        with("{instanceTypes: []}"),
        "plimsoll.catalogue.classes[0].name is missing; expected the name of a node class"
    );
    assert_eq!(
        with("{name: few}, {name: few}"),
        "plimsoll.catalogue.classes[1].name is \"few\", like that of an earlier one; expected every class once"
    );
    assert_eq!(
        with("{name: few, instanceTypes: [{name: o, capacity: {cpu: 1}}]}"),
        "plimsoll.catalogue.classes[0].instanceTypes[0] o: capacity.memory is missing or 0; expected an amount"
    );
}
