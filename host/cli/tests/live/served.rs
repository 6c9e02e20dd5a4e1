//! One process of the program in a lab, reached by a proxy; what it wrote down plays the same offline when it has ended.

use std::collections::BTreeSet;
use std::io;
use std::net::Ipv4Addr;
use std::path::Path;

use k8s_openapi::api::core::v1::{Node, Pod};
use k8s_openapi::api::events::v1::Event;
use kube::api::{Api, DeleteParams, ListParams, PostParams};
use kube::{Client, ResourceExt};
use plimsoll_api::crd;
use plimsoll_controller::Planner;
use plimsoll_controller::replay::{Played, replay};
use plimsoll_lab::{
    Call, Lab, Options, Proxy, Rule, Verb, apply, example_class, example_pool, pending_pod, until,
};
use plimsoll_policy::Policies;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::PATIENCE;

/// The name of the process in the lab.
pub(super) const NAME: &str = "plimsoll";
/// Writes that begin to take a node away.
const DISRUPTS: [(Verb, &str); 3] = [
    (Verb::Patch, "nodes"),
    (Verb::Delete, "nodeclaims"),
    (Verb::Create, "pods/eviction"),
];
/// Kinds that must be seen as they are before a node is taken away.
const SEEN: [&str; 3] = ["nodes", "nodeclaims", "pods"];

/// Flags of a process that serves alone, so that another takes its place at once.
pub(super) const ALONE: &str = "--disable-leader-election";

/// A lab with a class and a pool whose empty nodes go soon, and the program serving it.
pub(super) struct Served {
    pub(super) lab: Lab,
    pub(super) client: Client,
    pub(super) proxy: Proxy,
}

/// Settings of a lab and of the program in it.
pub(super) struct Asked {
    /// Definitions of custom resources.
    pub(super) definitions: Vec<Value>,
    /// Class and pool.
    pub(super) objects: Vec<Value>,
    /// Flags beside those that every process has.
    pub(super) flags: Vec<String>,
    /// Faults from the beginning.
    pub(super) rules: Vec<Rule>,
}

impl Default for Asked {
    /// Our definitions, a pool whose empty nodes go after a second, no more flags, no faults.
    fn default() -> Self {
        let mut pool = example_pool();
        pool["spec"]["disruption"]["consolidateAfter"] = "1s".into();
        Self {
            definitions: definitions(),
            objects: vec![example_class(), pool],
            flags: Vec::new(),
            rules: Vec::new(),
        }
    }
}

/// Definitions of all that the program reads.
pub(super) fn definitions() -> Vec<Value> {
    crd::definitions(crd::Provider::Kwok)
}

impl Served {
    pub(super) async fn start(asked: Asked) -> Self {
        let options = Options {
            definitions: asked.definitions,
            ..Options::default()
        };
        let mut lab = Lab::start(options).await.expect("a lab starts");
        let client = lab.client();
        for object in asked.objects {
            apply(&client, &object).await.expect("applied");
        }
        let proxy = lab.proxy().await.expect("a proxy");
        for rule in asked.rules {
            proxy.add(rule);
        }
        run(&mut lab, NAME, &proxy, &asked.flags);
        Self { lab, client, proxy }
    }

    pub(super) fn pods(&self) -> Api<Pod> {
        Api::namespaced(self.client.clone(), "default")
    }

    /// Makes pods of which a small node holds one each, and waits until all there are are bound.
    pub(super) async fn run_pods(&self, name: &str, count: usize) {
        let pod = |number: usize| pending_pod(&format!("{name}-{number}"), "3", "1Gi");
        run_pods(&self.pods(), (0..count).map(pod).collect()).await;
    }

    pub(super) async fn end_pods(&self) {
        end(&self.pods()).await;
    }

    pub(super) async fn nodes(&self) -> Vec<Node> {
        let nodes: Api<Node> = Api::all(self.client.clone());
        let nodes = nodes.list(&ListParams::default()).await;
        nodes.expect("nodes").items
    }

    /// Waits until every node is complete: nothing is left to be written on it but to take it away.
    pub(super) async fn until_initialized(&self) {
        let complete = until("the nodes to be complete", PATIENCE, async || {
            let nodes = self.nodes().await;
            let is_complete = |node: &Node| node.labels().contains_key("karpenter.sh/initialized");
            Ok(nodes.iter().all(is_complete).then_some(()))
        });
        complete.await.expect("complete");
    }

    pub(super) async fn until_no_nodes(&self) {
        let nodes: Api<Node> = Api::all(self.client.clone());
        let gone = until("the nodes to go", PATIENCE, async || {
            let nodes = nodes.list(&ListParams::default()).await?.items;
            Ok(nodes.is_empty().then_some(()))
        });
        gone.await.expect("gone");
    }

    /// Waits for an event of the program's, of a reason and about an object; its words. The scheduler has events of the same reasons.
    pub(super) async fn told(&self, reason: &str, object: &str) -> String {
        let events: Api<Event> = Api::namespaced(self.client.clone(), "default");
        let told = until("the event", PATIENCE, async || {
            let events = events.list(&ListParams::default()).await?.items;
            let own = |event: &Event| event.reporting_controller.as_deref() == Some("plimsoll");
            let mut events = events.into_iter().filter(own);
            let found = events.find(|event| is(event, reason, object));
            Ok(found.map(|event| event.note.unwrap_or_default()))
        });
        told.await.expect("told")
    }

    /// Lines of the program's log; what is none, such as an error at the end, is left out.
    pub(super) fn lines(&mut self) -> Vec<Value> {
        let log = self.lab.log(NAME);
        let read = |line| serde_json::from_str(line).ok();
        log.lines().filter_map(read).collect()
    }

    /// Waits until a line of the log has a message; all lines so far.
    pub(super) async fn until_told(&mut self, message: &str) -> Vec<Value> {
        let told = until("the line of the log", PATIENCE, async || {
            let lines = self.lines();
            let is_told = lines.iter().any(|line| line["message"] == message);
            Ok(is_told.then_some(lines))
        });
        told.await.expect("told")
    }

    /// The answer to a request to one of the program's own ports.
    pub(super) async fn get(&mut self, flag: &str, path: &str) -> String {
        let words = format!("listening for --{flag}");
        let lines = self.lines();
        let mut lines = lines.iter();
        let line = lines.find(|line| line["message"] == words.as_str());
        let port = line.and_then(|line| line["port"].as_u64());
        let port = port.and_then(|port| u16::try_from(port).ok());
        answer(port.expect("it listens"), path)
            .await
            .expect("it answers")
    }

    /// Kills the process and plays what it wrote down.
    pub(super) fn end(mut self) -> Played {
        self.lab.kill(NAME).expect("it runs");
        played(&self.lab, NAME)
    }
}

/// Waits until all pods that there are are bound.
pub(super) async fn until_bound(pods: &Api<Pod>) {
    let bound = until("the pods to be bound", PATIENCE, async || {
        let pods = pods.list(&ListParams::default()).await?.items;
        let is_bound = |pod: &Pod| pod.spec.as_ref().is_some_and(|it| it.node_name.is_some());
        Ok(pods.iter().all(is_bound).then_some(()))
    });
    bound.await.expect("bound");
}

/// Makes pods and waits until all there are are bound. One that is gone is made again: on a slow machine the cluster's taint eviction
/// sees a node without its first taint later than the scheduler does, and deletes pods that were just bound to it.
pub(super) async fn run_pods(pods: &Api<Pod>, asked: Vec<Pod>) {
    let bound = until("the pods to be bound", PATIENCE, async || {
        let there = pods.list(&ListParams::default()).await?.items;
        let is_bound = |pod: &Pod| pod.spec.as_ref().is_some_and(|it| it.node_name.is_some());
        let names: BTreeSet<String> = there.iter().map(ResourceExt::name_any).collect();
        let missing = asked.iter().filter(|pod| !names.contains(&pod.name_any()));
        let mut is_whole = there.iter().all(is_bound);
        for pod in missing {
            is_whole = false;
            pods.create(&PostParams::default(), pod).await?;
        }
        Ok(is_whole.then_some(()))
    });
    bound.await.expect("bound");
}

/// Deletes all pods at once.
pub(super) async fn end(pods: &Api<Pod>) {
    let now = DeleteParams::default().grace_period(0);
    let ended = pods.delete_collection(&now, &ListParams::default()).await;
    ended.expect("deleted");
}

/// The answer to a request to a port of this machine.
pub(super) async fn answer(port: u16, path: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await?;
    let request = format!("GET {path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut text = String::new();
    stream.read_to_string(&mut text).await?;
    Ok(text)
}

/// The program.
pub(super) fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_plimsoll"))
}

/// `true` if an event tells of this reason, about an object of this name.
pub(super) fn is(event: &Event, reason: &str, object: &str) -> bool {
    let about = event.regarding.as_ref();
    let about = about.and_then(|about| about.name.as_deref());
    event.reason.as_deref() == Some(reason) && about == Some(object)
}

/// Runs the program under a name, by way of a proxy.
pub(super) fn run(lab: &mut Lab, name: &str, proxy: &Proxy, flags: &[String]) {
    let kubeconfig = proxy.kubeconfig().display().to_string();
    let record = recording(lab, name).display().to_string();
    let arguments = [
        "run",
        "--provider=kwok",
        "--kubeconfig",
        &kubeconfig,
        "--leader-election-namespace=kube-system",
        "--bind-address=127.0.0.1",
        "--metrics-port=0",
        "--health-probe-port=0",
        "--record",
        &record,
    ];
    let arguments = arguments.into_iter().map(ToOwned::to_owned);
    let arguments: Vec<String> = arguments.chain(flags.iter().cloned()).collect();
    lab.run(name, program(), &arguments).expect("it starts");
}

/// The file in which a process of this name writes down what happens.
pub(super) fn recording(lab: &Lab, name: &str) -> std::path::PathBuf {
    lab.folder().join(format!("{name}.recording"))
}

/// Plays what a killed process wrote down, as [`played_whole`] does. It may have left the actions of its last input in part; that input
/// is left out.
pub(super) fn played(lab: &Lab, name: &str) -> Played {
    let text = std::fs::read_to_string(recording(lab, name)).expect("a recording");
    let last = text.rfind("\n{\"input\"").map_or(0, |at| at + 1);
    play(name, &text[..last])
}

/// Plays what a process that ended by itself wrote down, offline and without a policy, as it decided: every action, plan and decision on
/// disruption is the same, byte by byte.
pub(super) fn played_whole(lab: &Lab, name: &str) -> Played {
    let text = std::fs::read_to_string(recording(lab, name)).expect("a recording");
    play(name, &text)
}

fn play(name: &str, text: &str) -> Played {
    let planner = Planner::new(Policies::default());
    let played = replay(text.as_bytes(), &planner).expect("it plays the same");
    eprintln!("{name}, offline the same: {played:?}");
    played
}

/// Asserts that the first write after `from` that takes a node away came after each kind was read anew, since `from` and since the last
/// write to it.
pub(super) fn assert_read_before_disruption(calls: &[Call], from: usize) {
    let disrupts = |call: &Call| DISRUPTS.contains(&(call.verb, call.resource.as_str()));
    let first = calls[from..].iter().position(disrupts);
    let first = from + first.expect("a node is taken away");
    for kind in SEEN {
        let is_of = |call: &&Call| call.resource.split('/').next() == Some(kind);
        let since = calls[from..first].iter().rev();
        let since = since.take_while(|call| !(is_of(call) && call.is_write()));
        let mut since = since.filter(is_of);
        assert!(
            since.any(|call| call.verb == Verb::List),
            "{kind} were not read before {:?}: {:?}",
            calls[first],
            &calls[from..first]
        );
    }
}

/// `true` if tests are to take their whole length, as `PLIMSOLL_LIVE=full` asks for; what they assert is the same.
pub(super) fn in_full() -> bool {
    std::env::var_os("PLIMSOLL_LIVE").is_some_and(|value| value == "full")
}
