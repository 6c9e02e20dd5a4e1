//! Writes meet the object that was meant, or none: another that bears its name is left as it is.

use anyhow::{Context, Result};
use k8s_openapi::api::core::v1::Pod;
use kube::api::{Api, PostParams};
use kube::core::DynamicObject;
use kube::{Client, ResourceExt};
use plimsoll_api::{Kind, crd};
use plimsoll_base::ids::{ClaimName, NodeName, ObjectName, ProviderId, Uid};
use plimsoll_base::time::Timestamp;
use plimsoll_kube::apply::{Preconditions, Writer};
use plimsoll_kwok::Kwok;
use plimsoll_lab::{Lab, Options, pending_pod};
use plimsoll_model::action::{
    Answer, ClaimChange, CloudCall, Finalizer, NodeChange, Outcome, Reason, Write,
};
use plimsoll_model::catalogue::Catalogues;
use serde_json::{Value, json};

async fn lab() -> Result<Lab> {
    let lab = Lab::start(Options {
        definitions: crd::karpenter(),
        ..Options::default()
    });
    lab.await.context("the lab")
}

/// Makes an object and gives its uid.
async fn make(client: &Client, kind: Kind, manifest: Value) -> Result<Uid> {
    let api: Api<DynamicObject> = plimsoll_kube::api(client, kind);
    let object = serde_json::from_value(manifest)?;
    let made = api.create(&PostParams::default(), &object).await?;
    Ok(Uid::from(made.uid().context("a uid")?))
}

async fn read(client: &Client, kind: Kind, name: &str) -> Result<Option<DynamicObject>> {
    Ok(plimsoll_kube::api(client, kind).get_opt(name).await?)
}

fn claim() -> Value {
    json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
        "metadata": {"name": "general-a", "finalizers": ["karpenter.sh/termination"]},
        "spec": {
            "nodeClassRef": {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"},
            "requirements": [{"key": "kubernetes.io/os", "operator": "In", "values": ["linux"]}],
        },
    })
}

fn node(provider_id: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": "n1", "finalizers": ["karpenter.sh/termination"]},
        "spec": {"providerID": provider_id},
    })
}

/// Writes that change, release and delete the claim and the node of this lab.
fn writes() -> Vec<Write> {
    let note = || [("plimsoll.dev/note".into(), "x".into())].into();
    let of_claim = |finalizer| {
        let change = ClaimChange {
            annotations: note(),
            finalizer,
            ..ClaimChange::default()
        };
        Write::ChangeClaim(ClaimName::from("general-a"), Box::new(change))
    };
    let of_node = |finalizer| {
        let change = NodeChange {
            annotations: note(),
            finalizer,
            ..NodeChange::default()
        };
        Write::ChangeNode(NodeName::from("n1"), Box::new(change))
    };
    vec![
        of_claim(Finalizer::Kept),
        of_node(Finalizer::Kept),
        of_claim(Finalizer::Removed),
        of_node(Finalizer::Removed),
        Write::DeleteClaim(ClaimName::from("general-a")),
        Write::DeleteNode(NodeName::from("n1")),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn another_of_the_name_counts_as_gone_and_is_left_as_it_is() -> Result<()> {
    let lab = lab().await?;
    let client = lab.client();
    let uid_of_claim = make(&client, Kind::NodeClaim, claim()).await?;
    let uid_of_node = make(&client, Kind::Node, node("kwok://n1")).await?;
    let writer = Writer::new(client.clone());
    let now = Timestamp::from_millis(1_769_850_010_000);
    let other = Uid::from("5e9a5a2c-1111-2222-3333-444444444444");
    for write in writes() {
        let only = Preconditions {
            uid: Some(&other),
            version: None,
        };
        let outcome = writer.write(&write, only, now).await;
        let released = Outcome::Done(Answer::Nothing);
        let gone = Outcome::Refused(Reason::NotFound);
        assert!(
            outcome == released || outcome == gone,
            "{write:?}: {outcome:?}"
        );
        let is_release = matches!(&write, Write::ChangeClaim(_, it) if it.finalizer == Finalizer::Removed)
            || matches!(&write, Write::ChangeNode(_, it) if it.finalizer == Finalizer::Removed);
        assert_eq!(outcome == released, is_release, "{write:?}: {outcome:?}");
    }
    for (kind, name) in [(Kind::NodeClaim, "general-a"), (Kind::Node, "n1")] {
        let object = read(&client, kind, name).await?.context("it is there")?;
        assert_eq!(object.finalizers(), ["karpenter.sh/termination"]);
        assert!(object.metadata.deletion_timestamp.is_none());
        assert!(!object.annotations().contains_key("plimsoll.dev/note"));
    }
    // Under their own uids all of it is done.
    for write in writes() {
        let uid = match &write {
            Write::ChangeClaim(..) | Write::DeleteClaim(_) => &uid_of_claim,
            _ => &uid_of_node,
        };
        let only = Preconditions {
            uid: Some(uid),
            version: None,
        };
        let outcome = writer.write(&write, only, now).await;
        assert!(
            matches!(outcome, Outcome::Done(_)),
            "{write:?}: {outcome:?}"
        );
    }
    assert!(read(&client, Kind::NodeClaim, "general-a").await?.is_none());
    assert!(read(&client, Kind::Node, "n1").await?.is_none());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_machine_says_that_it_ends_and_then_that_it_is_gone() -> Result<()> {
    let lab = lab().await?;
    let client = lab.client();
    make(&client, Kind::Node, node("kwok://n1")).await?;
    let provider = Kwok::new(client.clone(), std::sync::Arc::new(Catalogues::default()));
    let ask = async |instance: &str, end: bool| {
        let instance = ProviderId::from(instance);
        let call = if end {
            CloudCall::Terminate { instance }
        } else {
            CloudCall::Get { instance }
        };
        provider.call(&call).await
    };
    let absent = Outcome::Done(Answer::Absent);
    let gone = Outcome::Done(Answer::Gone);
    for foreign in ["aws:///us-east-1a/i-0123", "kwok://n2", "n1"] {
        assert_eq!(ask(foreign, false).await, absent, "{foreign}");
        assert_eq!(ask(foreign, true).await, gone, "{foreign}");
    }
    let found = ask("kwok://n1", false).await;
    assert!(
        matches!(found, Outcome::Done(Answer::Instance(_))),
        "{found:?}"
    );
    assert_eq!(ask("kwok://n1", true).await, Outcome::Done(Answer::Ending));
    // Its node is held by our finalizer; the instance behind it has ended.
    assert_eq!(ask("kwok://n1", false).await, absent);
    assert_eq!(ask("kwok://n1", true).await, gone);
    let node = read(&client, Kind::Node, "n1")
        .await?
        .context("it is held")?;
    assert!(node.metadata.deletion_timestamp.is_some());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pod_is_nominated_and_let_go_by_its_uid() -> Result<()> {
    let lab = lab().await?;
    let client = lab.client();
    let pods: Api<Pod> = Api::namespaced(client.clone(), "default");
    let pod = pending_pod("web", "500m", "1Gi");
    let pod = pods.create(&PostParams::default(), &pod).await?;
    let uid = Uid::from(pod.uid().context("a uid")?);
    let writer = Writer::new(client);
    let nominate = async |uid: &Uid, node: Option<&str>| {
        let write = Write::Nominate {
            pod: ObjectName::new("default", "web"),
            uid: uid.clone(),
            node: node.map(NodeName::from),
        };
        let now = Timestamp::from_millis(1_769_850_010_000);
        let outcome = writer.write(&write, Preconditions::default(), now).await;
        let status = pods.get("web").await?.status.unwrap_or_default();
        anyhow::Ok((outcome, status.nominated_node_name))
    };
    let (outcome, nominated) = nominate(&uid, Some("n1")).await?;
    assert!(matches!(outcome, Outcome::Done(Answer::Object(..))));
    assert_eq!(nominated.as_deref(), Some("n1"));
    let (outcome, nominated) = nominate(&Uid::from("of-another"), Some("n2")).await?;
    assert_eq!(outcome, Outcome::Refused(Reason::NotFound));
    assert_eq!(nominated.as_deref(), Some("n1"), "left as it is");
    let (outcome, nominated) = nominate(&uid, None).await?;
    assert!(matches!(outcome, Outcome::Done(Answer::Object(..))));
    assert_eq!(nominated, None);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pod_that_was_bound_meanwhile_needs_no_nomination() -> Result<()> {
    let lab = lab().await?;
    let client = lab.client();
    let mut pod = pending_pod("web", "500m", "1Gi");
    pod.spec.get_or_insert_default().node_name = Some("n1".to_owned());
    let pods: Api<Pod> = Api::namespaced(client.clone(), "default");
    let pod = pods.create(&PostParams::default(), &pod).await?;
    let nominate = Write::Nominate {
        pod: ObjectName::new("default", "web"),
        uid: Uid::from(pod.uid().context("a uid")?),
        node: Some(NodeName::from("n2")),
    };
    let only = Preconditions {
        uid: None,
        version: None,
    };
    let now = Timestamp::from_millis(1_769_850_010_000);
    let outcome = Writer::new(client).write(&nominate, only, now).await;
    assert_eq!(outcome, Outcome::Done(Answer::Nothing));
    Ok(())
}
