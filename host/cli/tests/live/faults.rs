//! One process of the program, reached by a proxy that shows it an older view, takes rights from it, and cuts its watches.

use std::net::Ipv4Addr;
use std::time::Duration;

use k8s_openapi::api::core::v1::{Node, Pod};
use k8s_openapi::api::events::v1::Event;
use kube::api::{Api, DeleteParams, ListParams, PostParams};
use kube::{Client, ResourceExt};
use plimsoll_api::crd;
use plimsoll_lab::{
    Fault, Lab, Options, Proxy, Rule, Verb, apply, example_class, example_pool, pending_pod, until,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{PATIENCE, run};

/// A lab with a pool whose empty nodes go soon, and the program serving it.
pub(super) struct Served {
    lab: Lab,
    pub(super) client: Client,
    proxy: Proxy,
}

impl Served {
    pub(super) async fn start(rules: Vec<Rule>) -> Self {
        let mut definitions = crd::karpenter();
        definitions.push(crd::kwok());
        let options = Options {
            definitions,
            ..Options::default()
        };
        let mut lab = Lab::start(options).await.expect("a lab starts");
        let client = lab.client();
        let mut pool = example_pool();
        pool["spec"]["disruption"]["consolidateAfter"] = "1s".into();
        for object in [example_class(), pool] {
            apply(&client, &object).await.expect("applied");
        }
        let proxy = lab.proxy().await.expect("a proxy");
        for rule in rules {
            proxy.add(rule);
        }
        run(&mut lab, "plimsoll", &proxy);
        Self { lab, client, proxy }
    }

    pub(super) async fn run_pods(&self, count: usize) {
        let pods: Api<Pod> = Api::namespaced(self.client.clone(), "default");
        for number in 0..count {
            let pod = pending_pod(&format!("web-{number}"), "3", "1Gi");
            let made = pods.create(&PostParams::default(), &pod).await;
            made.expect("a pod");
        }
        let bound = until("the pods to be bound", PATIENCE, async || {
            let pods = pods.list(&ListParams::default()).await?.items;
            let is_bound = |pod: &Pod| pod.spec.as_ref().is_some_and(|it| it.node_name.is_some());
            Ok(pods.iter().all(is_bound).then_some(()))
        });
        bound.await.expect("bound");
    }

    pub(super) async fn end_pods(&self) {
        let pods: Api<Pod> = Api::namespaced(self.client.clone(), "default");
        let now = DeleteParams::default().grace_period(0);
        let ended = pods.delete_collection(&now, &ListParams::default()).await;
        ended.expect("deleted");
    }

    pub(super) async fn nodes(&self) -> Vec<Node> {
        let nodes: Api<Node> = Api::all(self.client.clone());
        let nodes = nodes.list(&ListParams::default()).await;
        nodes.expect("nodes").items
    }

    pub(super) async fn until_no_nodes(&self) {
        let gone = until("the nodes to go", PATIENCE, async || {
            Ok(self.nodes().await.is_empty().then_some(()))
        });
        gone.await.expect("gone");
    }

    /// Waits for an event of a reason on the pool; its words.
    async fn told(&self, reason: &str) -> String {
        let events: Api<Event> = Api::namespaced(self.client.clone(), "default");
        let told = until("the event", PATIENCE, async || {
            let events = events.list(&ListParams::default()).await?.items;
            let mut events = events.into_iter();
            let found = events.find(|event| {
                let about = event
                    .regarding
                    .as_ref()
                    .and_then(|about| about.name.as_deref());
                event.reason.as_deref() == Some(reason) && about == Some("general")
            });
            Ok(found.map(|event| event.note.unwrap_or_default()))
        });
        told.await.expect("told")
    }

    /// The answer to a request to one of the program's own ports.
    async fn get(&mut self, flag: &str, path: &str) -> String {
        let log = self.lab.log("plimsoll");
        let line = log
            .lines()
            .find(|line| line.contains(&format!("listening for --{flag}")));
        let port = line
            .and_then(|line| line.split_once("port="))
            .map(|(_, rest)| {
                let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
                digits.parse::<u16>().expect("a port")
            });
        let address = (Ipv4Addr::LOCALHOST, port.expect("it listens"));
        let mut stream = TcpStream::connect(address).await.expect("it listens");
        let request = format!("GET {path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.expect("sent");
        let mut text = String::new();
        stream.read_to_string(&mut text).await.expect("answered");
        text
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_node_goes_on_an_older_view_which_is_told_and_all_go_once_it_is_present() {
    let mut served = Served::start(Vec::new()).await;
    served.run_pods(3).await;
    served.proxy.show_older_view().await.expect("an older view");
    let before = served.nodes().await.len();
    served.end_pods().await;
    let words = served.told("DisruptionBlocked").await;
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
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_missing_right_is_told_by_the_probe_and_nothing_is_decided_without_it() {
    let kind = "poddisruptionbudgets";
    let forbidden = Fault::Refuse {
        code: 403,
        retry_after: None,
    };
    let rule = Rule::new(&[Verb::List, Verb::Watch], &[kind], forbidden);
    let mut served = Served::start(vec![rule]).await;
    let asked = |calls: &[plimsoll_lab::Call]| {
        let lists = calls.iter().filter(|call| call.verb == Verb::List);
        lists.filter(|call| call.resource == kind).count() > 1
    };
    served
        .proxy
        .until("the list to be asked for twice", PATIENCE, asked)
        .await
        .expect("asked");
    let words = served.told("Forbidden").await;
    assert!(
        words.starts_with("no right to list poddisruptionbudgets; "),
        "{words}"
    );
    let unready = served.get("health-probe-port", "/readyz").await;
    assert!(unready.starts_with("HTTP/1.1 503 "), "{unready}");
    assert!(unready.contains("verbs [\"list\", \"watch\"]"), "{unready}");
    served.proxy.clear();
    served.run_pods(1).await;
    let ready = served.get("health-probe-port", "/readyz").await;
    assert!(ready.starts_with("HTTP/1.1 200 "), "{ready}");
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
    let served = Served::start(rules).await;
    served.run_pods(6).await;
    let nodes = served.nodes().await;
    let claims = nodes.iter().flat_map(ResourceExt::owner_references);
    let claims: std::collections::BTreeSet<&str> = claims.map(|owner| owner.uid.as_str()).collect();
    assert_eq!(claims.len(), nodes.len(), "no claim has two nodes");
    served.end_pods().await;
    served.until_no_nodes().await;
}
