//! One process of the program, reached by a proxy that shows it an older view, takes rights from it, and cuts its watches.

use std::time::Duration;

use kube::ResourceExt;
use plimsoll_lab::{Call, Fault, Rule, Verb};

use super::PATIENCE;
use super::served::{Asked, Served};

fn with(rules: Vec<Rule>) -> Asked {
    Asked {
        rules,
        ..Asked::default()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_node_goes_on_an_older_view_which_is_told_and_all_go_once_it_is_present() {
    let mut served = Served::start(Asked::default()).await;
    served.run_pods("web", 3).await;
    served.proxy.show_older_view().await.expect("an older view");
    let before = served.nodes().await.len();
    served.end_pods().await;
    let words = served.told("DisruptionBlocked", "general").await;
    assert!(
        words.contains("older than a minute") && words.contains("pods"),
        "{words}"
    );
    let metrics = served.get("metrics-port", "/metrics").await;
    for line in [
        "karpenter_cluster_state_synced 0",
        "plimsoll_watch_stale{kind=\"Pod\"} 1",
    ] {
        assert!(metrics.contains(line), "{line} in {metrics}");
    }
    assert_eq!(served.nodes().await.len(), before, "nothing was ended");
    served.proxy.show_present_view();
    served.until_no_nodes().await;
    assert!(served.end().decisions > 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_missing_right_is_told_by_the_probe_and_nothing_is_decided_without_it() {
    let kind = "poddisruptionbudgets";
    let forbidden = Fault::Refuse {
        code: 403,
        retry_after: None,
    };
    let rule = Rule::new(&[Verb::List, Verb::Watch], &[kind], forbidden);
    let mut served = Served::start(with(vec![rule])).await;
    let asked = |calls: &[Call]| {
        let lists = calls.iter().filter(|call| call.verb == Verb::List);
        lists.filter(|call| call.resource == kind).count() > 1
    };
    served
        .proxy
        .until("the list to be asked for twice", PATIENCE, asked)
        .await
        .expect("asked");
    let words = served.told("Forbidden", "general").await;
    assert!(
        words.starts_with("no right to list poddisruptionbudgets; "),
        "{words}"
    );
    let unready = served.get("health-probe-port", "/readyz").await;
    assert!(unready.starts_with("HTTP/1.1 503 "), "{unready}");
    assert!(unready.contains("verbs [\"list\", \"watch\"]"), "{unready}");
    served.proxy.clear();
    served.run_pods("web", 1).await;
    let ready = served.get("health-probe-port", "/readyz").await;
    assert!(ready.starts_with("HTTP/1.1 200 "), "{ready}");
    assert_eq!(served.end().plans, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn watches_that_are_cut_and_writes_that_fail_end_in_the_same_cluster() {
    let cut = Fault::CutAfter(Duration::from_secs(1));
    let refuse = |code, every| Rule {
        every,
        ..Rule::new(
            &Verb::WRITES,
            &["nodeclaims", "nodeclaims/status", "nodes", "pods/status"],
            Fault::Refuse {
                code,
                retry_after: None,
            },
        )
    };
    let rules = vec![
        Rule::new(&[Verb::Watch], &[], cut),
        refuse(409, 10),
        refuse(500, 9),
    ];
    let served = Served::start(with(rules)).await;
    served.run_pods("web", 6).await;
    let nodes = served.nodes().await;
    let claims = nodes.iter().flat_map(ResourceExt::owner_references);
    let claims: std::collections::BTreeSet<&str> = claims.map(|owner| owner.uid.as_str()).collect();
    assert_eq!(claims.len(), nodes.len(), "no claim has two nodes");
    served.end_pods().await;
    served.until_no_nodes().await;
    assert!(served.end().decisions > 0);
}
