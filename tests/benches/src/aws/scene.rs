//! A scene: a lab, a cloud and one controller between them, and the steps of a script played there.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use kube::api::{Api, ListParams};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use kube::{Client, runtime::watcher};
use plimsoll_api::Kind;
use plimsoll_api::crd::{self, Provider};
use plimsoll_cloud::{Cloud, Options as CloudOptions, World};
use plimsoll_cloud_nodes::{Nodes, follow as join_nodes};
use plimsoll_ec2_facts::instance_types;
use plimsoll_lab::{Lab, Options, apply};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::fleets::launches;
use super::load::{Load, Moments};
use super::observed::{Course, Objects, Observed, price};
use super::program::{Contender, Programs, Running, check_alive, log, usage};
use super::script::{CLUSTER, POOL, Scale, Script, Step};
use super::settled::{Counted, Seen, unsettled};
use crate::Usage;
use crate::live::{Told, World as Watched, deploy, follow, scale};

/// From one look to the next.
const AGAIN: Duration = Duration::from_millis(250);
/// The same where thousands of objects are listed for it.
const LISTED_AGAIN: Duration = Duration::from_secs(2);
/// From one word to the next about a step that takes long.
const TOLD: Duration = Duration::from_secs(30);
/// From the launch of an instance until it runs.
const BOOT: Duration = Duration::from_secs(1);

/// All that plays in it.
struct Scene {
    lab: Lab,
    client: Client,
    cloud: Arc<Cloud>,
    controller: Running,
    claimed: watch::Receiver<BTreeSet<String>>,
    scale: Scale,
    /// Pods, nodes and claims of a large script, in place of lists of them.
    watched: Option<Watched>,
    _nodes: Nodes,
    _watching: JoinSet<()>,
    /// Objects when it was settled last.
    objects: Objects,
    /// When the first pods came.
    began: Option<SystemTime>,
    /// When the last step so far ended.
    ended: SystemTime,
    moments: Moments,
    /// Consumption until all pods ran.
    usage: Usage,
}

/// Plays a script with a controller, in a lab and a cloud of their own.
pub async fn run(script: &Script, contender: Contender, programs: &Programs) -> Result<Observed> {
    let mut scene = Scene::start(script, contender, programs).await?;
    let played = scene.play(script, contender).await;
    if let Ok(path) = std::env::var("PLIMSOLL_BENCH_LOG") {
        let path = format!("{path}-{}-{}", contender.name(), script.name);
        std::fs::write(format!("{path}.log"), log(&mut scene.lab))?;
        let began = scene.began.unwrap_or(UNIX_EPOCH);
        let calls = scene.cloud.calls().into_iter().map(|call| {
            let (service, error) = (call.service.name(), call.error.unwrap_or_default());
            let at = call
                .started
                .duration_since(began)
                .unwrap_or_default()
                .as_secs_f64();
            format!(
                "{at:.3} {service} {} {error} {}\n",
                call.operation, call.input
            )
        });
        std::fs::write(format!("{path}.calls"), calls.collect::<String>())?;
    }
    played?;
    Ok(scene.observed())
}

impl Scene {
    async fn start(script: &Script, contender: Contender, programs: &Programs) -> Result<Self> {
        let options = Options {
            definitions: crd::definitions(Provider::Aws),
            ..Options::default()
        };
        let mut lab = Lab::start(options).await?;
        let client = lab.client();
        let mut world = World::demo(CLUSTER);
        // EC2 says of every type how many interfaces it has; the cloud can only where that is documented.
        let known = instance_types().iter().filter(|own| own.network.is_some());
        world.types = known.map(|own| own.name.to_owned()).collect();
        world.delays.running = BOOT;
        world.state_changes = Some(CLUSTER.to_owned());
        (script.world)(&mut world);
        let cloud = Arc::new(Cloud::start(CloudOptions { port: 0, world }).await?);
        apply(&client, &dns()).await?;
        for object in script.manifests() {
            apply(&client, &object).await?;
        }
        let nodes = join_nodes(Arc::clone(&cloud), client.clone());
        let (claimed, watching) = follow_claims(&client);
        let is_large = script.scale == Scale::Large;
        let watched = is_large.then(|| Watched::of(&client));
        let controller = contender.start(&mut lab, programs, &cloud.url()).await?;
        Ok(Self {
            lab,
            client,
            cloud,
            controller,
            claimed,
            scale: script.scale,
            watched,
            _nodes: nodes,
            _watching: watching,
            objects: Objects::default(),
            began: None,
            ended: SystemTime::now(),
            moments: Moments::default(),
            usage: Usage::default(),
        })
    }

    async fn play(&mut self, script: &Script, contender: Contender) -> Result<()> {
        self.until_ready().await?;
        for (number, step) in script.steps.iter().enumerate() {
            let began = Instant::now();
            let pods = Script::pods(&script.steps[..=number]);
            self.take(step, pods).await.with_context(|| {
                let (name, title) = (contender.name(), step.title());
                format!("{name}: step {} of {}, {title}", number + 1, script.name)
            })?;
            self.ended = SystemTime::now();
            let (name, title) = (contender.name(), step.title());
            eprintln!(
                "{name}: {title} after {:.1} s",
                began.elapsed().as_secs_f64()
            );
        }
        Ok(())
    }

    async fn take(&mut self, step: &Step, pods: usize) -> Result<()> {
        match step {
            Step::Come(own) => {
                self.began.get_or_insert_with(SystemTime::now);
                deploy(&self.client, (own.name, own.count), own.requests, &own.spec).await
            }
            Step::Scale(name, replicas) => {
                self.moments.shrunk.get_or_insert_with(SystemTime::now);
                scale(&self.client, name, *replicas).await
            }
            Step::Happens(act) => {
                self.cloud.with(act);
                Ok(())
            }
            Step::Restart => self.controller.restart(&mut self.lab).await,
            Step::Refused(times) => self.until_refused(*times).await,
            Step::Replaced(count) => self.until_replaced(*count).await,
            Step::Running => self.until_running(pods).await,
            Step::Settled => self.until_settled(pods).await,
            Step::Gone => self.until_gone().await,
        }
    }

    /// Waits until class and pool are ready.
    async fn until_ready(&mut self) -> Result<()> {
        self.until(async |scene| {
            for (kind, api) in [
                ("class", classes(&scene.client)),
                ("pool", scene.api(Kind::NodePool)),
            ] {
                let object = serde_json::to_value(api.get(POOL).await?)?;
                if !holds(&object, "Ready") {
                    return Ok(Err(format!(
                        "the {kind} is not ready: {}",
                        object["status"]["conditions"]
                    )));
                }
            }
            Ok(Ok(()))
        })
        .await
    }

    async fn until_refused(&mut self, times: usize) -> Result<()> {
        self.until(async |scene| {
            let calls = launches(&scene.cloud.calls()).count();
            let alive = scene.cloud.with(|world| world.alive().count());
            let is_so = calls >= times && alive == 0;
            Ok(is_so.then_some(()).ok_or(format!(
                "{calls} fleets were asked for, {alive} instances run"
            )))
        })
        .await
    }

    async fn until_replaced(&mut self, count: usize) -> Result<()> {
        let name = |claim: &Value| claim["metadata"]["name"].as_str().map(str::to_owned);
        let before: BTreeSet<String> = self.objects.claims.iter().filter_map(name).collect();
        self.until(async |scene| {
            let claims = scene.list(scene.api(Kind::NodeClaim)).await?;
            let stay = claims
                .iter()
                .filter_map(name)
                .filter(|own| before.contains(own));
            let gone = before.len() - stay.count();
            Ok((gone >= count.min(before.len()))
                .then_some(())
                .ok_or(format!("{gone} of {} claims have gone", before.len())))
        })
        .await
    }

    async fn until_running(&mut self, pods: usize) -> Result<()> {
        self.until(async |scene| {
            let counted = scene.pods().await?;
            Ok(counted.lacking(pods).map_or(Ok(()), Err))
        })
        .await?;
        self.moments.running = Some(SystemTime::now());
        self.usage = usage(&self.lab);
        Ok(())
    }

    async fn until_settled(&mut self, pods: usize) -> Result<()> {
        let objects = self
            .until(async |scene| {
                let seen = scene.seen().await?;
                Ok(match unsettled(&seen, pods, scene.scale) {
                    None => Ok(scene.objects(seen).await?),
                    Some(lacking) => Err(lacking),
                })
            })
            .await?;
        self.objects = objects;
        Ok(())
    }

    async fn until_gone(&mut self) -> Result<()> {
        self.until(async |scene| {
            let left = scene.left().await?;
            Ok((left == (0, 0, 0))
                .then_some(())
                .ok_or(format!("{left:?} claims, nodes and instances are left")))
        })
        .await?;
        self.moments.gone = Some(SystemTime::now());
        Ok(())
    }

    /// Asks until there is an answer. Why there was none is in the error where patience ends.
    async fn until<T>(
        &mut self,
        ask: impl AsyncFn(&Self) -> Result<Result<T, String>>,
    ) -> Result<T> {
        let (end, mut next) = (
            Instant::now() + self.scale.patience(),
            Instant::now() + TOLD,
        );
        loop {
            let lacking = match ask(self).await? {
                Ok(answer) => return Ok(answer),
                Err(lacking) => lacking,
            };
            check_alive(&mut self.lab)?;
            if Instant::now() >= end {
                bail!("waited {:?} in vain: {lacking}", self.scale.patience());
            }
            if Instant::now() >= next {
                eprintln!("still waiting: {lacking}");
                next += TOLD;
            }
            tokio::time::sleep(AGAIN).await;
        }
    }

    /// Pods that there are and that run; where they are watched, only those that run are known.
    async fn pods(&self) -> Result<Counted> {
        Ok(match &self.watched {
            Some(watched) => Counted {
                all: None,
                running: watched.seen().running(),
            },
            None => Counted::of(&self.list(self.api(Kind::Pod)).await?),
        })
    }

    /// Claims, nodes and instances that there are.
    async fn left(&self) -> Result<(usize, usize, usize)> {
        let instances = self.cloud.with(|world| world.alive().count());
        if let Some(watched) = &self.watched {
            let seen = watched.seen();
            return Ok((seen.claims(), seen.nodes.len(), instances));
        }
        let claims = self.list(self.api(Kind::NodeClaim)).await?;
        let nodes = self.list(self.api(Kind::Node)).await?;
        Ok((claims.len(), nodes.len(), instances))
    }

    async fn seen(&self) -> Result<Seen> {
        if self.watched.is_some() {
            tokio::time::sleep(LISTED_AGAIN).await;
        }
        Ok(Seen {
            pools: self.list(self.api(Kind::NodePool)).await?,
            pods: self.pods().await?,
            claims: self.list(self.api(Kind::NodeClaim)).await?,
            nodes: self.list(self.api(Kind::Node)).await?,
            instances: self.cloud.with(|world| world.alive().cloned().collect()),
        })
    }

    async fn objects(&self, seen: Seen) -> Result<Objects> {
        Ok(Objects {
            classes: self.list(classes(&self.client)).await?,
            pools: seen.pools,
            claims: seen.claims,
            nodes: seen.nodes,
            price: self.cloud.with(|world| price(world, &seen.instances)),
            instances: seen.instances,
        })
    }

    fn api(&self, kind: Kind) -> Api<DynamicObject> {
        plimsoll_kube::api(&self.client, kind)
    }

    async fn list(&self, api: Api<DynamicObject>) -> Result<Vec<Value>> {
        let list = api.list(&ListParams::default()).await?;
        let objects = list.items.into_iter().map(serde_json::to_value);
        Ok(objects.collect::<Result<_, _>>()?)
    }

    fn observed(&self) -> Observed {
        let launched = |world: &mut World| world.instances.keys().cloned().collect::<Vec<_>>();
        let calls = self.cloud.calls();
        let load = self.watched.is_some().then(|| Load {
            nodes: self.objects.nodes.len(),
            processor: self.usage.processor.as_secs_f64(),
            memory: usage(&self.lab).peak as f64 / f64::from(1 << 20),
            ..Load::of(&calls, self.began, self.moments)
        });
        Course {
            objects: &self.objects,
            calls: &calls,
            claimed: &self.claimed.borrow(),
            launched: &self.cloud.with(launched),
            began: self.began,
            ended: self.ended,
            load,
        }
        .observed()
    }
}

/// `true` if a condition of an object holds.
pub(super) fn holds(object: &Value, condition: &str) -> bool {
    let conditions = object["status"]["conditions"].as_array();
    let mut conditions = conditions.into_iter().flatten();
    conditions.any(|own| own["type"] == condition && own["status"] == "True")
}

fn classes(client: &Client) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk("karpenter.k8s.aws", "v1", "EC2NodeClass");
    let resource = ApiResource::from_gvk_with_plural(&kind, "ec2nodeclasses");
    Api::all_with(client.clone(), &resource)
}

/// The service by which nodes find names.
fn dns() -> Value {
    let ports = json!([{"name": "dns", "port": 53, "protocol": "UDP"}]);
    json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "kube-dns", "namespace": "kube-system"},
        "spec": {"clusterIP": "10.96.0.10", "ports": ports, "selector": {"k8s-app": "kube-dns"}},
    })
}

/// Provider ids that claims name, those of claims that have gone among them.
fn follow_claims(client: &Client) -> (watch::Receiver<BTreeSet<String>>, JoinSet<()>) {
    let (sender, claimed) = watch::channel(BTreeSet::new());
    let mut watching = JoinSet::new();
    let claims: Api<DynamicObject> = plimsoll_kube::api(client, Kind::NodeClaim);
    let all = watcher::Config::default();
    watching.spawn(follow(
        claims,
        all,
        sender,
        |ids: &mut BTreeSet<String>, told| {
            if let Told::There(claim) = told
                && let Some(id) = claim.data["status"]["providerID"].as_str()
            {
                ids.insert(id.to_owned());
            }
        },
    ));
    (claimed, watching)
}
