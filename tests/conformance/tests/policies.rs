//! A policy in a ConfigMap on a real control plane: what the ConfigMap comes to hold serves once it has passed the gates, and what does not
//! pass leaves the policy that serves.

use std::sync::Arc;

use anyhow::{Context, Result};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{DeleteParams, PostParams};
use kube::core::ObjectMeta;
use kube::{Api, Client};
use plimsoll_conformance::native;
use plimsoll_conformance::watch::PATIENCE;
use plimsoll_controller::follow::{Follower, Source};
use plimsoll_core::hook::PolicySettings;
use plimsoll_core::ids::ObjectName;
use plimsoll_kube::module::Stored;
use plimsoll_lab::{Lab, Options, until};
use plimsoll_policy::{Engine, EngineSettings, Generations, Hook, WHOLE};

const NAME: &str = "my-policy";

fn configmap(bytes: &[u8]) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta {
            name: Some(NAME.to_owned()),
            ..ObjectMeta::default()
        },
        binary_data: Some([(WHOLE[1].to_owned(), ByteString(bytes.to_vec()))].into()),
        ..ConfigMap::default()
    }
}

/// Follows the ConfigMap, which nobody has looked at yet.
fn follow(client: &Client) -> Result<(Arc<Generations>, Follower)> {
    let generations = native().generations();
    let follower = Follower {
        client: client.clone(),
        engine: Engine::new(EngineSettings::default())?,
        generations: Arc::clone(&generations),
    };
    Ok((generations, follower))
}

async fn until_ranked_by(generations: &Generations, policy: &str) -> Result<u64> {
    let what = format!("{policy} to serve");
    let serving = until(&what, PATIENCE, async || {
        let current = generations.current();
        Ok((current.ranks() == Some(policy)).then(|| current.number()))
    });
    Ok(serving.await?)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_configmap_comes_to_hold_serves_once_it_has_passed() -> Result<()> {
    let lab = Lab::start(Options::default()).await?;
    let client = lab.client();
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), "default");
    let module = |name| plimsoll_policies::ranking(name).context("a shipped module");
    let put = async |bytes: &[u8]| {
        maps.replace(NAME, &PostParams::default(), &configmap(bytes))
            .await
    };

    let (generations, follower) = follow(&client)?;
    let list_price = module("list-price")?.bytes;
    maps.create(&PostParams::default(), &configmap(list_price))
        .await?;
    let following = follower.begin(vec![Source {
        name: ObjectName::new("default", NAME),
        hook: Hook::Rank,
        place: 0,
        settings: Arc::new(|_| Ok(PolicySettings::new())),
        sha256: "plimsoll.dev/sha256",
        seen: Stored::default(),
    }]);
    assert_eq!(until_ranked_by(&generations, "rank-list-price").await?, 2);

    // Neither a broken module nor none at all takes its place.
    put(&list_price[..1_000]).await?;
    put(module("most-pods")?.bytes).await?;
    assert_eq!(until_ranked_by(&generations, "rank-most-pods").await?, 3);
    maps.delete(NAME, &DeleteParams::default()).await?;
    maps.create(&PostParams::default(), &configmap(b"")).await?;
    put(module("least-waste")?.bytes).await?;
    assert_eq!(until_ranked_by(&generations, "rank-least-waste").await?, 4);
    drop(following);
    Ok(())
}
