//! Policies against an API server that has them and ConfigMaps, and nothing else.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::task::{Context, Poll};

use http::{Request, Response};
use k8s_openapi::ByteString;
use kube::client::Body;
use plimsoll_base::time::Timestamp;
use plimsoll_kube::module_copy::copy_name;
use plimsoll_model::NodePool;
use plimsoll_oracles::fixture;
use plimsoll_policy::{EngineSettings, Hook, Policies, digest};
use serde_json::{Value, json};
use tower::Service;

use super::*;

/// Digest of a module that served well, of which there is no copy.
const DIGEST: &str = "abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789";

/// The server: it has these Policies and ConfigMaps, and finds nothing else.
#[derive(Clone)]
struct Server {
    policies: Vec<Value>,
    maps: Vec<Value>,
}

impl Server {
    /// The ConfigMap of a name; those of a list that names one are it alone.
    fn named(&self, text: &str) -> Vec<Value> {
        let name = |map: &&Value| text.ends_with(map["metadata"]["name"].as_str().unwrap_or("?"));
        self.maps.iter().filter(name).cloned().collect()
    }
}

impl Service<Request<Body>> for Server {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Ready<Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let path = request.uri().path();
        let list = |kind: &str, version: &str, items: &[Value]| json!({"kind": kind, "apiVersion": version, "metadata": {"resourceVersion": "1"}, "items": items});
        let (status, answer) = if path.ends_with("/policies") {
            let version = "plimsoll.dev/v1alpha1";
            (200, list("PolicyList", version, &self.policies))
        } else if path.ends_with("/configmaps") {
            let query = request.uri().query().unwrap_or_default();
            let mut selected = query
                .split('&')
                .filter(|own| own.starts_with("fieldSelector="));
            let maps = selected.next().map_or_else(Vec::new, |own| self.named(own));
            (200, list("ConfigMapList", "v1", &maps))
        } else if let Some(map) = self.named(path).pop() {
            (200, map)
        } else {
            let missing = json!({
                "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 404,
                "reason": "NotFound", "message": "not found",
            });
            (404, missing)
        };
        let body = Body::from(answer.to_string().into_bytes());
        let answer = Response::builder().status(status).body(body);
        ready(Ok(answer.expect("an answer")))
    }
}

fn client(policies: &[Value], maps: &[Value]) -> Client {
    let (policies, maps) = (policies.to_vec(), maps.to_vec());
    Client::new(Server { policies, maps }, "default")
}

/// A module of hook Rank.
pub(super) fn ranking() -> &'static [u8] {
    let shipped = plimsoll_policies::ranking("list-price");
    shipped.expect("it is shipped").bytes
}

/// Begin of its digest, as people are shown it.
pub(super) fn ranking_shown() -> String {
    digest(ranking())[..6].to_owned()
}

/// Its ConfigMap of that name.
fn map_of(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "plimsoll", "resourceVersion": "1"},
        "binaryData": {"policy.wasm": ByteString(ranking().to_vec())},
    })
}

/// The copy of it that a controller keeps.
pub(super) fn copy_of_ranking() -> Value {
    map_of(&copy_name(&digest(ranking())))
}

/// Pools of these names, each with its name as the label `team`, all of which have been seen.
pub(super) fn pools(names: &[&str]) -> Pools {
    let mut pools = Pools::default();
    for name in names {
        pools.put(&pool(name));
    }
    pools.complete();
    pools
}

fn pool(name: &str) -> Arc<NodePool> {
    let team = |pool: &mut NodePool| {
        pool.own_labels.insert("team".into(), name.into());
    };
    fixture::pool(name).with(team).build()
}

fn engine() -> Engine {
    let settings = EngineSettings {
        concurrency: 1,
        ..EngineSettings::default()
    };
    Engine::new(settings).expect("an engine")
}

/// Means of Policies in a cluster that has none.
pub(super) fn common() -> Arc<Common> {
    common_of(&[], Pools::default())
}

/// Means of Policies in a cluster of these ConfigMaps and pools.
pub(super) fn common_of(maps: &[Value], pools: Pools) -> Arc<Common> {
    let telemetry = Telemetry::default();
    let (notices, _) = Notices::channel(&telemetry);
    let (_, pools) = watch::channel(pools);
    Arc::new(Common::new(Shared {
        client: client(&[], maps),
        namespace: "plimsoll".to_owned(),
        engine: engine(),
        generations: Arc::new(Generations::new(Policies::default())),
        changes: PolicyChanges::default(),
        shadows: Shadows::default(),
        pools,
        telemetry,
        notices,
    }))
}

fn policy(uid: &str) -> Value {
    json!({
        "apiVersion": "plimsoll.dev/v1alpha1", "kind": "Policy",
        "metadata": {"name": "mine", "uid": uid},
        "spec": {"hook": "Rank", "configMapRef": {"name": "mine"}},
    })
}

#[tokio::test]
async fn a_policy_that_was_made_again_is_another_one() {
    let mut tasks = Tasks {
        common: common(),
        objects: BTreeMap::new(),
        turns: BTreeMap::new(),
        running: JoinSet::new(),
    };
    let read = |uid| serde_json::from_value(policy(uid)).expect("a policy");
    assert!(tasks.apply(read("first")).is_some());
    assert!(tasks.apply(read("first")).is_none());
    let settled = tasks.apply(read("second")).expect("a new task");
    assert!(tasks.apply(read("second")).is_none());
    // It has its turn once the first has ended.
    settled.await.expect("judged");
    assert_eq!(tasks.objects.len(), 1);
}

/// Remarks on policies of a cluster with these ConfigMaps and pools, and who ranks each of the pools.
async fn explained(
    policies: &[Value],
    maps: &[Value],
    pools: &[&str],
) -> (Vec<String>, Vec<String>) {
    let standing = standing(&client(policies, maps), "plimsoll", &engine()).await;
    let standing = standing.expect("an answer");
    let generation = standing.generation(Vec::new(), Timestamp::from_millis(0));
    let pools: Vec<_> = pools.iter().map(|name| pool(name)).collect();
    let ranked = pools.iter().map(|pool| {
        let policies = generation.answering(Hook::Rank, pool);
        format!("{} by {}", pool.name, policies.join(", "))
    });
    let ranked = ranked.collect();
    (standing.findings(&generation, &pools), ranked)
}

#[tokio::test]
async fn a_module_without_a_copy_does_not_continue_to_decide() {
    let mut policy = policy("its");
    policy["spec"]["nodePoolSelector"] = json!({});
    // With other settings it is another module, of the same bytes.
    let before = json!([{"digest": DIGEST}, {"digest": DIGEST, "settings": {"hours": "2"}}]);
    policy["status"] = json!({"lastGood": before});
    let (findings, _) = explained(&[policy], &[], &["general"]).await;
    assert_eq!(
        findings,
        [
            "Policy mine: module abcdef cannot be loaded from its copy",
            "Policy mine: configmap plimsoll/mine not found; list prices are taken for NodePool general",
        ]
    );
}

#[tokio::test]
async fn list_prices_are_said_to_be_taken_for_no_pool_that_another_policy_ranks() {
    let named = |name: &str, selector: Value| {
        let mut policy = policy(name);
        policy["metadata"]["name"] = name.into();
        policy["spec"]["configMapRef"]["name"] = name.into();
        policy["spec"]["nodePoolSelector"] = selector;
        policy
    };
    let (all, maps) = (json!({}), [map_of("first")]);
    let nocm = named("nocm", all.clone());
    let without = "Policy nocm: configmap plimsoll/nocm not found; ";
    let of_first = json!({"matchLabels": {"team": "general"}});
    for (selected, ends) in [
        (all, "it decides nothing"),
        (of_first, "list prices are taken for NodePools gpu, spare"),
    ] {
        let policies = [named("first", selected), nocm.clone()];
        let (findings, ranked) = explained(&policies, &maps, &["general", "gpu", "spare"]).await;
        assert_eq!(findings, [format!("{without}{ends}")]);
        assert_eq!(ranked[0], "general by first");
    }
}

#[tokio::test]
async fn a_policy_that_asks_for_another_hook_is_explained_by_the_one_of_its_module() {
    let mut policy = policy("its");
    policy["spec"]["hook"] = "Consolidate".into();
    policy["spec"]["nodePoolSelector"] = json!({});
    policy["status"] = json!({"lastGood": [{"digest": digest(ranking())}]});
    let maps = [map_of("mine"), copy_of_ranking()];
    let (findings, ranked) = explained(&[policy], &maps, &["general"]).await;
    let continues = format!(
        "module {} continues to decide for hook Rank",
        ranking_shown()
    );
    assert_eq!(
        findings,
        [format!(
            "Policy mine: its module cannot be loaded: HookMismatch: the module is for the hook rank; expected consolidate; hint: set spec.hook to Rank, the hook of this module; {continues}"
        )]
    );
    assert_eq!(ranked, ["general by mine"]);
}
