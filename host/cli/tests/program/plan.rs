//! `plimsoll plan`: what is told beside the nodes to buy.

use std::fs;
use std::process::Command;

use crate::json::check;
use crate::user::{Folder, SHOP, fed, plimsoll, pod};

#[test]
fn new_nodes_that_a_ceiling_would_hold_back_are_told() {
    let pods: String = ["a", "b"].map(|name| pod(name, "7", "1Gi", "")).concat();
    let planned = |ceiling: &str| {
        let annotated = format!("name: general, annotations: {{{ceiling}}}");
        let text = SHOP.replacen("name: general", &annotated, 1) + &pods;
        fed(&["plan", "-"], text.as_bytes()).ok().out
    };
    let free = planned("");
    assert!(free.starts_with("2 pods on 2 new nodes"), "{free}");
    assert!(!free.contains("held back"), "{free}");
    let held = planned("plimsoll.dev/nodes-in-flight: \"1\"");
    let expected = "note: 1 new node held back: ceiling on nodes in flight of pool general: 1 of 1 are on their way";
    assert!(held.contains(expected), "{held}");
}

/// What the program prints when it may run on one processor alone.
fn on_one_processor(arguments: &[&str]) -> String {
    let status = fs::read_to_string("/proc/self/status").expect("Linux tells it");
    let allowed = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    let first = allowed.and_then(|list| list.trim().split([',', '-']).next());
    let ran = Command::new("taskset")
        .args(["--cpu-list", first.expect("there is one")])
        .arg(env!("CARGO_BIN_EXE_plimsoll"))
        .args(arguments)
        .output();
    let ran = ran.expect("util-linux is there");
    assert!(ran.status.success(), "{ran:?}");
    String::from_utf8(ran.stdout).expect("it prints text")
}

#[test]
fn pools_that_share_nothing_are_planned_the_same_on_any_number_of_processors() {
    let team = |number: usize| {
        let name = format!("team-{number}");
        let taint = format!("taints: [{{key: team, value: {name}, effect: NoSchedule}}]\n      ");
        let own = SHOP.split("---\n").nth(1).expect("the pool");
        let own = own.replace("name: general", &format!("name: {name}"));
        let own = own.replace("nodeClassRef:", &format!("{taint}nodeClassRef:"));
        let tolerates = format!(
            "  nodeSelector: {{karpenter.sh/nodepool: {name}}}\n  \
             tolerations: [{{key: team, value: {name}, effect: NoSchedule}}]\n"
        );
        let pods = (0..5 + number).map(|at| {
            let cpu = format!("{}m", 300 + 170 * (at * number % 7));
            pod(&format!("{name}-{at}"), &cpu, "700Mi", &tolerates)
        });
        format!("---\n{own}{}", pods.collect::<String>())
    };
    let teams: String = (1..9).map(team).collect();
    let folder = Folder::new();
    let file = folder.file("teams.yaml", format!("{SHOP}{teams}"));
    let arguments = ["plan", &file, "-o", "json"];
    let all = plimsoll(&arguments).ok().out;
    let bought = check("plan", &all)["nodeClaims"].as_array().map(Vec::len);
    assert!(
        bought >= Some(8),
        "a node for each team at least: {bought:?}"
    );
    assert!(all == on_one_processor(&arguments), "the same bytes");
}
