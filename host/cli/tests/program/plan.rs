//! `plimsoll plan`: what is told beside the nodes to buy.

use crate::user::{SHOP, fed, pod};

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
