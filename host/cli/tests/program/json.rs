//! `-o json` and `-o yaml` as an interface: every document is what its schema says, and NodeClaims are what an API server takes.

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_api::{Interner, Kind, Object};
use serde_json::{Value, json};

use crate::explain_running::{AT_ONCE, cluster, oversized};
use crate::schema::breaches;
use crate::user::{Folder, fed, plimsoll, pod, snapshot};

const README: &str = include_str!("../../README.md");
const EVERYTHING: &str = include_str!("data/everything.yaml");

/// The schema of a command's documents.
fn schema(command: &str) -> Value {
    let arguments: Vec<&str> = std::iter::once("schema")
        .chain(command.split(' '))
        .collect();
    serde_json::from_str(&plimsoll(&arguments).ok().out).expect("a schema is JSON")
}

/// Holds what a command printed against its schema.
pub(crate) fn check(command: &str, text: &str) -> Value {
    let document: Value = serde_json::from_str(text).expect("it is JSON");
    let found = breaches(&schema(command), &document);
    assert!(found.is_empty(), "{command}: {}", found.join("\n"));
    assert_eq!(document["apiVersion"], "plimsoll.dev/v1alpha1");
    document
}

/// Names of fields that a schema gives, wherever in it.
fn fields(schema: &Value, found: &mut BTreeSet<String>) {
    match schema {
        Value::Object(keywords) => {
            if let Some(Value::Object(properties)) = keywords.get("properties") {
                found.extend(properties.keys().cloned());
            }
            keywords.values().for_each(|value| fields(value, found));
        }
        Value::Array(items) => items.iter().for_each(|item| fields(item, found)),
        _ => {}
    }
}

/// `true` for a name such as `planFidelity` or `p50`.
fn is_camel_case(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.chars().all(|letter| letter.is_ascii_alphanumeric())
}

/// Documents have no other fields than those of their schemas, so that their names are the schemas'.
#[test]
fn fields_are_in_camel_case_and_left_out_where_they_have_no_value() {
    for name in ["plan_fidelity", "plan-fidelity", "PlanFidelity"] {
        assert!(!is_camel_case(name), "{name}");
    }
    for command in commands().keys() {
        let schema = schema(command);
        let mut names = BTreeSet::new();
        fields(&schema, &mut names);
        assert!(names.len() > 2, "{command}");
        let others: Vec<&String> = names.iter().filter(|name| !is_camel_case(name)).collect();
        assert_eq!(others, [""; 0], "{command}");
        assert!(!schema.to_string().contains("\"null\""), "{command}");
    }
}

pub(crate) fn planned(objects: &str) -> Value {
    let ran = fed(&["plan", "-", "-o", "json"], snapshot(objects).as_bytes()).ok();
    check("plan", &ran.out)
}

#[test]
fn a_plan_names_pods_and_claims_and_says_why_a_pod_is_unschedulable() {
    let plan = planned(&(pod("web", "1", "1Gi", "") + &pod("huge", "99", "1Gi", "")));
    let name = plan["nodeClaims"][0]["metadata"]["name"].clone();
    assert_eq!(
        plan["placements"],
        json!([{"pod": {"namespace": "shop", "name": "web"}, "nodeClaim": name, "relaxedPreferences": 0}])
    );
    let unschedulable = &plan["unschedulablePods"][0];
    assert_eq!(unschedulable["pod"]["name"], "huge");
    assert_eq!(unschedulable["reason"], "NoOffering");
    assert_eq!(unschedulable["nodePools"][0]["offerings"][0]["count"], 4);
    assert_eq!(plan["cost"]["pricePerHour"], json!(0.05));
    assert_eq!(
        plan["launches"][0]["options"][0]["pricePerHour"],
        json!(0.05)
    );
    assert_eq!(
        plan["unrequested"],
        json!({"cpuPercent": 50.0, "memoryPercent": 75.0})
    );
}

#[test]
fn a_pod_that_fits_on_a_node_is_placed_on_it_by_name() {
    let node = "---\napiVersion: v1\nkind: Node\nmetadata: {name: n1, labels: {kubernetes.io/hostname: n1, kubernetes.io/os: linux}}\n\
                status: {allocatable: {cpu: \"8\", memory: 32Gi, pods: \"50\"}, capacity: {cpu: \"8\", memory: 32Gi, pods: \"50\"}, \
                conditions: [{type: Ready, status: \"True\"}]}\n";
    let plan = planned(&(node.to_owned() + &pod("web", "1", "1Gi", "")));
    assert_eq!(plan["placements"][0]["node"], "n1");
    assert_eq!(plan["nodeClaims"], json!([]));
    assert_eq!(plan["unrequested"], Value::Null);
}

/// Every NodeClaim is taken by the API's schema and rules without a word, and read as what was planned.
#[test]
fn planned_claims_are_node_claims_that_an_api_server_takes() {
    let many: Vec<String> = (0..30)
        .map(|at| pod(&format!("web-{at}"), "900m", "1500Mi", ""))
        .collect();
    let plan = planned(&many.concat());
    let claims = plan["nodeClaims"].as_array().expect("a list");
    let launches = plan["launches"].as_array().expect("a list");
    assert!(claims.len() > 1 && claims.len() == launches.len(), "{plan}");
    let mut names = BTreeSet::new();
    let mut requested = BTreeMap::new();
    for placement in plan["placements"].as_array().expect("a list") {
        let claim = placement["nodeClaim"].as_str().expect("a new node");
        *requested.entry(claim).or_insert(0) += 900;
    }
    for (claim, launch) in claims.iter().zip(launches) {
        let found = plimsoll_api::validate("karpenter.sh/v1", "NodeClaim", claim);
        assert!(found.is_empty(), "{found:?}\n{claim}");
        let mut unknown = Vec::new();
        let read = plimsoll_api::read(
            Kind::NodeClaim,
            claim,
            &mut Interner::default(),
            &mut |path| unknown.push(path.to_owned()),
        );
        let (_, Object::Whole(plimsoll_model::Object::Claim(read))) = read.expect("it is read")
        else {
            panic!("it is no NodeClaim: {claim}");
        };
        assert_eq!(unknown, [""; 0]);
        assert_eq!(read.pool.as_str(), "general");
        assert_eq!(launch["nodeClaim"], read.name.as_str());
        assert!(
            names.insert(read.name.clone()),
            "{} is there twice",
            read.name
        );
        let cpu = read
            .requests
            .get(&plimsoll_base::resources::ResourceName::Cpu);
        assert_eq!(requested.get(read.name.as_str()), Some(&cpu));
        let types = read.requirements.get("node.kubernetes.io/instance-type");
        let types = types
            .and_then(|types| types.listed())
            .expect("types are listed");
        for option in launch["options"].as_array().expect("a list") {
            let name = option["instanceType"].as_str().expect("a name");
            assert!(types.contains(name), "{name} is not among {types:?}");
        }
    }
}

/// Every part that a plan has is there, and what its schema says.
#[test]
fn a_plan_with_every_part_is_what_its_schema_says() {
    let small = "  nodeSelector: {node.kubernetes.io/instance-type: m5.large}\n";
    let pods: Vec<String> = (0..3)
        .map(|at| pod(&format!("web-{at}"), "1500m", "1Gi", small))
        .collect();
    let large = pod("large", "50", "1Gi", "") + &pod("huge", "99", "1Gi", "");
    let text = EVERYTHING.to_owned() + &pods.concat() + &large;
    let plan = check(
        "plan",
        &fed(&["plan", "-", "-o", "json"], text.as_bytes()).ok().out,
    );
    for part in [
        "capacityBuffers",
        "staticNodePools",
        "notes",
        "unschedulablePods",
    ] {
        let rows = plan[part].as_array().expect("a list");
        assert!(!rows.is_empty(), "{part} is empty: {plan}");
    }
    let launches = plan["launches"].as_array().expect("a list").iter();
    let options = launches.flat_map(|launch| launch["options"].as_array().expect("a list"));
    let kinds: BTreeSet<&str> = options
        .filter_map(|option| option["capacityType"].as_str())
        .collect();
    assert_eq!(
        kinds,
        BTreeSet::from(["on-demand", "reserved", "spot"]),
        "{plan}"
    );
}

/// A name stands for a claim of these pods: `kubectl apply` of another plan does not meet it.
#[test]
fn other_machines_have_other_names_at_the_same_instant() {
    let name = |cpu: &str| {
        let plan = planned(&pod("web", cpu, "1Gi", ""));
        let name = &plan["nodeClaims"][0]["metadata"]["name"];
        name.as_str().expect("it has a name").to_owned()
    };
    assert_eq!(name("1"), name("1"));
    assert_ne!(name("1"), name("900m"));
}

#[test]
fn an_explanation_is_what_its_schema_says() {
    let objects = pod("web", "1", "1Gi", "") + &pod("huge", "99", "1Gi", "");
    let text = snapshot(&objects);
    let explained = |subject: &str, name: &str| {
        let arguments = ["explain", subject, name, "-", "-o", "json"];
        check("explain", &fed(&arguments, text.as_bytes()).ok().out)
    };
    let web = explained("pod", "web");
    assert_eq!(
        (&web["kind"], &web["state"]),
        (&json!("PodExplanation"), &json!("NeedsNewNode"))
    );
    let planned = &web["plannedNodeClaim"];
    assert_eq!(planned["options"][0]["instanceType"], "small");
    assert_eq!(planned["ranking"]["policy"], "list-price");
    assert_eq!(
        planned["ranking"]["explained"][0]["terms"],
        json!([{"name": "list price", "value": 0.05}])
    );
    let huge = explained("pod", "huge");
    assert_eq!(huge["state"], "Unschedulable");
    assert_eq!(huge["refusal"]["nodePools"][0]["offerings"][0]["count"], 4);
    let claim = explained("nodeclaim", "0");
    assert_eq!(claim["kind"], "NodeClaimExplanation");
    assert_eq!(claim["name"], planned["name"]);
    assert_eq!(claim["options"], planned["options"]);
    assert_eq!(claim["pods"], json!([{"namespace": "shop", "name": "web"}]));
}

#[test]
fn explanations_of_what_runs_are_what_their_schema_says() {
    let text = cluster(AT_ONCE, &oversized("", ""));
    let explained = |subject: &str, name: &str| {
        let arguments = ["explain", subject, name, "-", "-o", "json"];
        check("explain", &fed(&arguments, text.as_bytes()).ok().out)
    };
    let node = explained("node", "n1");
    assert_eq!(
        (&node["kind"], &node["nodeClaim"], &node["nodePool"]),
        (&json!("NodeExplanation"), &json!("c-n1"), &json!("general"))
    );
    assert_eq!(node["offering"]["pricePerHour"], 0.25);
    assert_eq!(node["ranking"]["policy"], "list-price");
    assert_eq!(
        node["pods"],
        json!([{"namespace": "shop", "name": "web-1"}])
    );
    let disruption = &node["disruption"];
    assert_eq!(
        (&disruption["state"], &disruption["reason"]),
        (&json!("Now"), &json!("Underutilized"))
    );
    assert_eq!(disruption["savingPerHour"], 0.2);
    assert_eq!(disruption["replacements"][0]["instanceType"], "small");
    let claim = explained("nodeclaim", "c-n1");
    assert_eq!(
        (&claim["kind"], &claim["phase"], &claim["node"]),
        (
            &json!("NodeClaimProgress"),
            &json!("Initialized"),
            &json!("n1")
        )
    );
    assert_eq!(claim["conditions"].as_array().map(Vec::len), Some(3));
    assert_eq!(claim["disruption"], *disruption);
    let pool = explained("nodepool", "general");
    assert_eq!(
        (&pool["kind"], &pool["ready"], &pool["offerings"]["allowed"]),
        (&json!("NodePoolExplanation"), &json!(true), &json!(4))
    );
    assert_eq!(pool["budgets"][0]["left"], 1);
}

#[test]
fn the_contents_of_a_file_are_what_their_schema_says() {
    let waiting = "status: {phase: Pending, conditions: [{type: PodScheduled, status: \"False\", reason: Unschedulable}]}\n";
    let text = snapshot(&(pod("web", "1", "1Gi", "") + waiting));
    let ran = fed(&["snapshot", "show", "-", "-o", "json"], text.as_bytes()).ok();
    let summary = check("snapshot show", &ran.out);
    assert_eq!(summary["time"], "2026-11-21T09:30:00Z");
    let counts = ["nodePools", "pods", "unschedulablePods", "instanceTypes"];
    assert_eq!(
        counts.map(|field| summary[field].as_u64()),
        [1, 1, 1, 2].map(Some)
    );
}

#[test]
fn yaml_says_what_json_says() {
    let text = snapshot(&(pod("web", "1", "1Gi", "") + &pod("huge", "99", "1Gi", "")));
    let shown = |format| fed(&["plan", "-", "-o", format], text.as_bytes()).ok().out;
    let yaml: Value = serde_saphyr::from_str(&shown("yaml")).expect("it is YAML");
    let json: Value = serde_json::from_str(&shown("json")).expect("it is JSON");
    assert_eq!(yaml, json);
}

#[test]
fn a_simulation_is_what_its_schema_says() {
    let folder = Folder::new();
    let file = folder.file("cluster.yaml", snapshot(&pod("web", "1", "1Gi", "")));
    let ran = plimsoll(&["simulate", &file, "--compare", "compatible", "-o", "json"]).ok();
    let document = check("simulate", &ran.out);
    let run = &document["runs"][0];
    assert_eq!(run["policy"], "list-price");
    assert_eq!(run["start"], "2026-11-21T09:30:00Z");
    assert_eq!(run["planFidelity"]["pendingPods"]["bound"], 1);
    let sum: f64 = run["nodeHours"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|row| row["dollars"].as_f64())
        .sum();
    let cost = run["cost"]["dollars"].as_f64().expect("a number");
    assert!((sum - cost).abs() < 1e-8, "{sum} {cost}");
}

/// A deployment that shrinks, whose use is known, under a policy that fails: ended commands, use and faults are told.
#[test]
fn a_simulation_with_every_part_is_what_its_schema_says() {
    let changes = "changes:\n\
        - {at: +1m, deploy: {namespace: shop, name: web, replicas: 11, template: {metadata: {labels: {app: web}}, \
          spec: {containers: [{name: main, resources: {requests: {cpu: 900m, memory: 1Gi}}}]}}, uses: {cpu: 100m, memory: 64Mi}}}\n\
        - {at: +30m, scale: {namespace: shop, name: web, amount: 5}}\n\
        - {at: +6h, scale: {namespace: shop, name: web, amount: 3}}\n";
    let folder = Folder::new();
    let input = snapshot(&pod("huge", "99", "1Gi", ""));
    let input = folder.file(
        "recording.yaml",
        input.replacen("---\n", &format!("{changes}---\n"), 1),
    );
    let module = folder.file("hostile.wasm", plimsoll_guests::HOSTILE);
    let policy = format!("rank={module},behaviour=nan");
    let other = ["--compare", "fixed:large", "-o", "json"];
    let ran = plimsoll(&[&["simulate", &input, "--policy", &policy][..], &other].concat()).ok();
    let document = check("simulate", &ran.out);
    let run = &document["runs"][0];
    let pod = &run["unschedulablePods"][0]["pod"];
    assert_eq!(pod, &json!({"namespace": "shop", "name": "huge"}));
    for rows in [
        &run["disruption"]["commands"],
        &run["policyFaults"]["messages"],
        &run["usage"]["overrequested"],
    ] {
        assert!(
            rows.as_array().is_some_and(|rows| !rows.is_empty()),
            "{run}"
        );
    }
    let bounds = |run: &Value| {
        let (whole, series) = (&run["cost"], &run["series"]);
        let whole = whole.get("lpBoundDollars").is_some();
        (whole, series.get("lpBoundDollarsPerHour").is_some())
    };
    assert_eq!(bounds(run), (true, true));
    let other = bounds(&document["runs"][1]);
    assert_eq!(other.0, other.1, "{document}");
}

#[test]
fn the_catalogue_is_what_its_schema_says() {
    let ran = plimsoll(&[
        "catalogue",
        "--where",
        "instance-family In m5,t3",
        "-o",
        "json",
    ])
    .ok();
    let list = check("catalogue", &ran.out);
    assert_eq!(list["kind"], "InstanceTypeList");
    let ran = plimsoll(&["catalogue", "m5.large", "-o", "json"]).ok();
    let one = check("catalogue", &ran.out);
    assert_eq!(one["kind"], "InstanceType");
    let known = list["items"].as_array().expect("a list");
    let known = known.iter().find(|item| item["name"] == "m5.large");
    assert_eq!(
        known.map(|item| &item["offerings"]),
        Some(&one["offerings"])
    );
    let offerings = one["offerings"].as_array().expect("a list");
    let on_demand = offerings
        .iter()
        .find(|own| own["capacityType"] == "on-demand");
    assert_eq!(
        on_demand.map(|own| &own["pricePerHour"]),
        Some(&json!(0.096))
    );
}

#[test]
fn what_is_told_of_a_module_is_what_its_schema_says() {
    let ran = plimsoll(&["policy", "inspect", "spot-diversified", "-o", "json"]).ok();
    check("policy inspect", &ran.out);
    let check_of = ["policy", "check", "spot-diversified", "lost_hours=25"];
    check(
        "policy check",
        &plimsoll(&[&check_of[..], &["-o", "json"]].concat()).out,
    );
    let folder = Folder::new();
    folder.file(
        "suite.yaml",
        "cases:\n- name: c\n  input: { offerings: { a: { price: 1 } } }\n",
    );
    folder.file("goldens.yaml", "c: { general/a: free }\n");
    let suite = folder.path("").display().to_string();
    let test = ["policy", "test", "list-price", "--suite", &suite];
    check(
        "policy test",
        &plimsoll(&[&test[..], &["-o", "json"]].concat()).out,
    );
    let bench = ["policy", "bench", "list-price", "--calls", "1"];
    check(
        "policy bench",
        &plimsoll(&[&bench[..], &["-o", "json"]].concat()).ok().out,
    );
}

/// The commands that `plimsoll schema` lists, with the kinds of their documents.
fn commands() -> BTreeMap<String, String> {
    let listed = plimsoll(&["schema"]).ok().out;
    let rows = listed.lines().skip(1);
    rows.filter_map(|line| line.split_once("  "))
        .map(|(command, kinds)| (command.to_owned(), kinds.trim().to_owned()))
        .collect()
}

/// `plimsoll schema` lists what the README lists, and every command that prints documents.
#[test]
fn schemas_are_listed_with_their_kinds() {
    let listed = commands();
    let section = README
        .split("\n## ")
        .find(|section| section.starts_with("JSON and YAML"));
    let rows = section.expect("the section is there").lines();
    let documented: BTreeMap<String, String> = rows
        .filter_map(|row| row.strip_prefix("| `plimsoll ")?.split_once("` | "))
        .map(|(command, rest)| (command.to_owned(), rest))
        .filter_map(|(command, rest)| Some((command, rest.split_once(" |")?.0.replace('`', ""))))
        .collect();
    assert_eq!(listed, documented);
    for (command, kinds) in &listed {
        let schema = schema(command);
        for kind in kinds.split(", ") {
            let definition = &schema["$defs"][kind]["properties"];
            assert_eq!(definition["kind"]["const"], kind, "{command}");
            assert_eq!(definition["apiVersion"]["const"], "plimsoll.dev/v1alpha1");
        }
    }
    let refused = plimsoll(&["schema", "simulat"]);
    assert_eq!(
        (refused.code, refused.error()),
        (
            1,
            "command \"simulat\" prints no document with a schema; did you mean simulate?; `plimsoll schema` lists those that do"
        )
    );
}

#[test]
fn a_document_that_breaks_its_schema_is_found_out() {
    let plan = planned(&pod("web", "1", "1Gi", ""));
    let broken = |change: &dyn Fn(&mut Value)| {
        let mut document = plan.clone();
        change(&mut document);
        breaches(&schema("plan"), &document)
    };
    assert!(broken(&|_| {}).is_empty());
    let changes: [&dyn Fn(&mut Value); 6] = [
        &|plan| plan["kind"] = "Pln".into(),
        &|plan| plan["cost"]["pricePerHour"] = "0.05".into(),
        &|plan| plan["notes"] = Value::Null,
        &|plan| plan["news"] = 1.into(),
        &|plan| plan["nodeClaims"][0]["spec"]["expireAfter"] = "2592000000".into(),
        &|plan| plan["placements"][0]["pod"] = 3.into(),
    ];
    for (at, change) in changes.iter().enumerate() {
        assert!(!broken(change).is_empty(), "change {at}");
    }
}
