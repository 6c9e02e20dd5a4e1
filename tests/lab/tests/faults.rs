//! Faults of a lab: programs that are killed and come back, requests that do not arrive, views that are older.

use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::{ConfigMap, Node, Pod};
use kube::api::{Api, DeleteParams, ListParams, PostParams, WatchEvent, WatchParams};
use kube::{Error, ResourceExt};
use plimsoll_lab::{Fault, Lab, Options, Proxy, Rule, Verb, fake_node, pending_pod, until};
use serde_json::json;
use tokio::time::timeout;

const PATIENCE: Duration = Duration::from_mins(2);

async fn lab() -> Lab {
    Lab::start(Options::default()).await.expect("a lab starts")
}

fn map(name: &str) -> ConfigMap {
    serde_json::from_value(json!({"metadata": {"name": name}})).expect("plain data")
}

async fn make(maps: &Api<ConfigMap>, name: &str) -> Result<ConfigMap, Error> {
    maps.create(&PostParams::default(), &map(name)).await
}

fn code(result: Result<ConfigMap, Error>) -> Option<u16> {
    match result {
        Err(Error::Api(status)) => Some(status.code),
        _ => None,
    }
}

#[tokio::test]
async fn a_cluster_survives_the_death_of_its_programs() {
    let mut lab = lab().await;
    let (nodes, pods): (Api<Node>, Api<Pod>) = (
        Api::all(lab.client()),
        Api::namespaced(lab.client(), "default"),
    );
    let node = fake_node("n1", "8", "32Gi");
    nodes
        .create(&PostParams::default(), &node)
        .await
        .expect("a node");
    for program in ["kube-apiserver", "etcd", "kwok"] {
        lab.kill(program).expect("it runs");
        assert!(lab.kill(program).is_err(), "{program} is killed already");
    }
    assert!(nodes.get("n1").await.is_err(), "nobody answers");
    for program in ["etcd", "kube-apiserver", "kwok"] {
        lab.start_again(program).await.expect("it starts again");
    }
    let pod = pending_pod("web", "500m", "1Gi");
    until("the pod to be made", PATIENCE, async || {
        pods.create(&PostParams::default(), &pod).await.map(Some)
    })
    .await
    .expect("the API server answers");
    until("the pod to run on the node", PATIENCE, async || {
        let pod = pods.get("web").await?;
        let phase = pod.status.and_then(|status| status.phase);
        Ok(phase.filter(|phase| phase == "Running"))
    })
    .await
    .expect("scheduler and nodes are at work again");
}

#[tokio::test]
async fn a_program_of_the_callers_is_paused_killed_and_started_again() {
    let mut lab = lab().await;
    let endless = ["-c".to_owned(), "echo here; exec sleep 600".to_owned()];
    lab.run("ours", "/bin/sh".as_ref(), &endless)
        .expect("it starts");
    let heard = |log: String, times| (log.matches("here").count() == times).then_some(());
    until("its first word", PATIENCE, async || {
        Ok(heard(lab.log("ours"), 1))
    })
    .await
    .expect("said");
    lab.pause("ours").expect("it runs");
    lab.resume("ours").expect("it is there");
    assert_eq!(lab.has_ended("ours").expect("it is known"), None);
    lab.kill("ours").expect("it runs");
    lab.start_again("ours").await.expect("it starts again");
    until("its second word", PATIENCE, async || {
        Ok(heard(lab.log("ours"), 2))
    })
    .await
    .expect("said");
    let brief = ["-c".to_owned(), "exit 3".to_owned()];
    lab.run("brief", "/bin/sh".as_ref(), &brief)
        .expect("it starts");
    let status = until("its end", PATIENCE, async || {
        Ok(lab.has_ended("brief").expect("it is known"))
    });
    assert_eq!(status.await.expect("it ended"), "exit status: 3");
}

#[tokio::test]
async fn a_proxy_does_to_requests_what_its_rules_say() {
    let lab = lab().await;
    let proxy = lab.proxy().await.expect("a proxy");
    let near: Api<ConfigMap> = Api::default_namespaced(lab.client());
    let far: Api<ConfigMap> = Api::default_namespaced(proxy.client().expect("a client"));

    for (expected, retry_after) in [(429, Some(7)), (500, None)] {
        let fault = Fault::Refuse {
            code: expected,
            retry_after,
        };
        proxy.add(Rule::new(&[Verb::Create], &["configmaps"], fault));
        assert_eq!(code(make(&far, "refused").await), Some(expected));
        assert!(near.get_opt("refused").await.expect("an answer").is_none());
        assert!(far.get_opt("refused").await.expect("an answer").is_none());
        proxy.clear();
    }

    proxy.add(Rule::new(&[Verb::Create], &[], Fault::Cut));
    assert!(matches!(make(&far, "cut").await, Err(Error::Service(_))));
    assert!(near.get_opt("cut").await.expect("an answer").is_none());
    proxy.clear();

    proxy.add(Rule::new(&[Verb::Create], &[], Fault::LoseAnswer));
    assert!(matches!(make(&far, "lost").await, Err(Error::Service(_))));
    assert!(near.get_opt("lost").await.expect("an answer").is_some());
    proxy.clear();

    let late = Fault::Delay(Duration::from_millis(300));
    proxy.add(Rule::new(&[Verb::Delete], &[], late));
    let whole = DeleteParams::default();
    let deletion = far.delete("lost", &whole);
    let given_up = timeout(Duration::from_millis(30), deletion).await;
    assert!(given_up.is_err(), "it is delayed");
    proxy.clear();
    make(&far, "made").await.expect("no rule is left");
    let makings = proxy.calls();
    let makings = makings.iter().filter(|call| call.verb == Verb::Create);
    assert_eq!(makings.count(), 5);
}

#[tokio::test]
async fn a_proxy_breaks_watches_off_and_shows_an_older_view() {
    let lab = lab().await;
    let proxy = lab.proxy().await.expect("a proxy");
    let near: Api<ConfigMap> = Api::default_namespaced(lab.client());
    let far: Api<ConfigMap> = Api::default_namespaced(proxy.client().expect("a client"));
    make(&near, "first").await.expect("made");

    let start = far.list(&ListParams::default()).await.expect("a list");
    let version = start.metadata.resource_version.expect("a version");
    let soon = Fault::CutAfter(Duration::from_millis(200));
    proxy.add(Rule {
        times: Some(1),
        ..Rule::new(&[Verb::Watch], &[], soon)
    });
    // The controller manager puts a ConfigMap of its own into every namespace, when it comes to it.
    let ours = WatchParams::default().fields("metadata.name!=kube-root-ca.crt");
    let events = far.watch(&ours, &version).await.expect("a watch");
    // The client takes a connection that breaks off for the end of the watch.
    let ended = timeout(PATIENCE, events.boxed().try_collect::<Vec<_>>()).await;
    let ended = ended.expect("it ends");
    assert!(
        matches!(&ended, Ok(events) if events.is_empty()),
        "{ended:?}"
    );

    proxy.show_older_view().await.expect("a version");
    let mut events = far.watch(&ours, &version).await.expect("a watch").boxed();
    make(&near, "second").await.expect("made");
    let names = |any_age: bool| names(&far, any_age);
    assert!(names(false).await.contains(&"second".to_owned()));
    assert!(!names(true).await.contains(&"second".to_owned()));
    let early = timeout(Duration::from_millis(300), events.next()).await;
    assert!(early.is_err(), "an older view tells nothing: {early:?}");
    proxy.show_present_view();
    let told = timeout(PATIENCE, events.next()).await.expect("told");
    assert!(
        matches!(&told, Some(Ok(WatchEvent::Added(map))) if map.name_any() == "second"),
        "{told:?}"
    );
    assert!(names(true).await.contains(&"second".to_owned()));
    until_watched(&proxy, 2).await;
}

async fn names(maps: &Api<ConfigMap>, any_age: bool) -> Vec<String> {
    let parameters = if any_age {
        ListParams::default().at("0")
    } else {
        ListParams::default()
    };
    let listed = maps.list(&parameters).await.expect("a list");
    listed.items.iter().map(ResourceExt::name_any).collect()
}

async fn until_watched(proxy: &Proxy, times: usize) {
    let watches = |calls: &[plimsoll_lab::Call]| {
        let watches = calls.iter().filter(|call| call.verb == Verb::Watch);
        watches.count() == times
    };
    let waited = proxy.until("the watches", PATIENCE, watches).await;
    waited.expect("every request is known");
}
