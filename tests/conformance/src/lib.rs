//! A lab with the controller at work in it, for tests: [`Served`] starts both, [`watch`] waits for what is to come, and
//! [`Served::stop`] hands back all that the engine was told and did. [`Stage`] is the lab before, between and after controllers.

pub mod forecast;
pub mod manifest;
pub mod watch;

use std::io::{self, Write};
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use kube::Client;
use plimsoll_api::crd;
use plimsoll_author::pack;
use plimsoll_base::ids::ObjectName;
use plimsoll_controller::record::Line;
use plimsoll_controller::replay::{Played, replay};
use plimsoll_controller::{Controller, Fidelity, Notices, Planner, Setup, Telemetry, provider};
use plimsoll_hooks::rank;
use plimsoll_kube::module::Watched;
use plimsoll_kwok::catalogue;
use plimsoll_lab::{Lab, Options, apply};
use plimsoll_model::snapshot::Settings;
use plimsoll_policy::{Engine, EngineSettings, Policies, SHA256};
use serde_json::Value;
use tokio::sync::{Semaphore, SemaphorePermit, oneshot, watch as watch_channel};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use watch::PATIENCE;

/// Three labs at a time: each is five programs and a controller on the same few cores, which mostly wait.
static PLACES: Semaphore = Semaphore::const_new(3);

/// A lab that no controller serves.
pub struct Stage {
    client: Client,
    _lab: Lab,
    _place: SemaphorePermit<'static>,
}

/// A lab, and the controller serving it.
pub struct Served {
    stop: oneshot::Sender<()>,
    controller: JoinHandle<Result<Fidelity>>,
    recording: Recording,
    stage: Stage,
}

/// A run that has ended.
pub struct Course {
    /// Where pods landed.
    pub fidelity: Fidelity,
    /// The same inputs offline, in which every action, plan and decision was the same, byte by byte.
    pub played: Played,
    recording: Vec<u8>,
}

impl Course {
    /// Lines of the recording.
    pub fn lines(&self) -> impl Iterator<Item = Result<Line>> {
        let lines = self.recording.split(|byte| *byte == b'\n');
        let lines = lines.filter(|line| !line.is_empty());
        lines.map(|line| Ok(serde_json::from_slice(line)?))
    }
}

impl Stage {
    /// Starts a lab whose nodes boot within a span, and makes these objects in it.
    pub async fn start(boot: RangeInclusive<Duration>, objects: &[Value]) -> Result<Self> {
        Self::start_with(crd::definitions(crd::Provider::Kwok), boot, objects).await
    }

    /// The same with these definitions of custom resources.
    pub async fn start_with(
        definitions: Vec<Value>,
        boot: RangeInclusive<Duration>,
        objects: &[Value],
    ) -> Result<Self> {
        let place = PLACES.acquire().await?;
        let (node_boot, node_boot_most) = boot.into_inner();
        let lab = Lab::start(Options {
            definitions,
            node_boot,
            node_boot_most,
            ..Options::default()
        });
        let lab = lab.await?;
        let stage = Self {
            client: lab.client(),
            _lab: lab,
            _place: place,
        };
        for object in objects {
            stage.apply(object).await?;
        }
        Ok(stage)
    }

    /// A client with every right.
    pub fn client(&self) -> Client {
        self.client.clone()
    }

    /// Makes or changes an object, by server-side apply.
    pub async fn apply(&self, object: &Value) -> Result<()> {
        Ok(apply(&self.client, object).await?)
    }

    /// Serves at the prices of the shipped list-price module, which is stored in ConfigMaps and read from there.
    pub async fn serve(self, settings: Settings) -> Result<Served> {
        let client = self.client();
        let recording = Recording::default();
        let setup = Setup {
            client: client.clone(),
            provider: provider::kwok(client.clone(), Arc::new(catalogue::builtin()?.into()), None),
            settings,
            seed: 1,
            planner: Planner::new(from_cluster(&client, "list-price").await?),
            record: Some(Box::new(recording.clone())),
            keep: Arc::new(|_, _| Err(io::ErrorKind::Unsupported.into())),
            notices: Notices::channel(&Telemetry::default()).1,
            telemetry: Telemetry::default(),
            pools: watch_channel::Sender::default(),
        };
        let controller = Controller::start(setup).await?;
        let (stop, stopped) = oneshot::channel();
        let controller = tokio::spawn(controller.run(async {
            // A sender that is gone says stop as well.
            let _ = stopped.await;
        }));
        Ok(Served {
            stop,
            controller,
            recording,
            stage: self,
        })
    }
}

impl Served {
    /// Starts a lab with our definitions, makes these objects, and then serves at the prices of the shipped list-price module,
    /// which is stored in ConfigMaps and read from there.
    pub async fn start(objects: &[Value]) -> Result<Self> {
        Self::start_with(Settings::default(), objects).await
    }

    /// The same with these settings.
    pub async fn start_with(settings: Settings, objects: &[Value]) -> Result<Self> {
        let stage = Stage::start(Duration::ZERO..=Duration::ZERO, objects).await?;
        stage.serve(settings).await
    }

    /// A client with every right.
    pub fn client(&self) -> Client {
        self.stage.client()
    }

    /// Makes or changes an object, by server-side apply.
    pub async fn apply(&self, object: &Value) -> Result<()> {
        self.stage.apply(object).await
    }

    /// Waits until the controller has written down a line of which this holds.
    pub async fn until_recorded(&self, what: &str, holds: impl Fn(&Line) -> bool) -> Result<()> {
        let found = |line: Line| holds(&line).then_some(());
        self.until_found(what, found).await
    }

    /// The first find of a search in the lines that the controller writes down; it is shown each line once, from the first on.
    pub async fn until_found<T>(
        &self,
        what: &str,
        mut find: impl FnMut(Line) -> Option<T>,
    ) -> Result<T> {
        let mut length = self.recording.length.subscribe();
        let mut read = 0;
        let search = async {
            loop {
                for line in self.recording.lines(&mut read) {
                    if let Some(found) = find(serde_json::from_slice(&line)?) {
                        return Ok(found);
                    }
                }
                length.changed().await?;
            }
        };
        timeout(PATIENCE, search)
            .await
            .with_context(|| format!("waited {PATIENCE:?} in vain for {what}"))?
    }

    /// Ends the controller, plays what it wrote down once more without a cluster, and hands back what it did. Prices offline are out of the
    /// core itself instead of the module.
    pub async fn stop(self) -> Result<Course> {
        Ok(self.leave().await?.1)
    }

    /// The same, with the lab, where all stays as it is.
    pub async fn leave(self) -> Result<(Stage, Course)> {
        // The controller may have ended by itself: then its error is the answer.
        let _ = self.stop.send(());
        let fidelity = self.controller.await.context("the controller's task")??;
        let recording = self.recording.bytes();
        let played = replay(&recording[..], &native())?;
        anyhow::ensure!(played.fidelity == fidelity, "{:?}", played.fidelity);
        let course = Course {
            fidelity,
            played,
            recording,
        };
        Ok((self.stage, course))
    }
}

/// A planner without a module: list prices out of the core itself.
pub fn native() -> Planner {
    Planner::new(Policies::default())
}

/// Stores a shipped ranking module as `plimsoll policy pack` does, and takes it in as it is then read.
async fn from_cluster(client: &Client, policy: &str) -> Result<Policies> {
    let shipped = plimsoll_policies::ranking(policy).context("the shipped module")?;
    let packed = pack::pack(shipped.bytes, policy, Some("default"));
    for object in &packed.objects {
        apply(client, &serde_json::to_value(object)?).await?;
    }
    let first = packed
        .objects
        .first()
        .context("a packed module has an object")?;
    let name = ObjectName::new("default", first.metadata.name.as_str());
    let mut watched = Watched::start(client, name);
    let stored = watched.next().await.context("the watch goes on")??;
    let stored = stored.context("the ConfigMap is there")?;
    let bytes = plimsoll_policy::assemble(stored.entries)?;
    let promised = stored.annotations.get(SHA256);
    let engine = Engine::new(EngineSettings::default())?;
    engine.verify(&bytes, promised.context("a packed module has a digest")?)?;
    Ok(Policies {
        rank: Some(engine.accept(&bytes, &rank::PolicySettings::default())?),
        ..Policies::default()
    })
}

/// Bytes that the controller writes and the test reads.
#[derive(Clone)]
struct Recording {
    bytes: Arc<Mutex<Vec<u8>>>,
    length: watch_channel::Sender<usize>,
}

impl Default for Recording {
    fn default() -> Self {
        Self {
            bytes: Arc::default(),
            length: watch_channel::Sender::new(0),
        }
    }
}

impl Recording {
    /// The whole lines from `read` on, which is moved behind them.
    fn lines(&self, read: &mut usize) -> Vec<Vec<u8>> {
        let kept = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let mut lines = Vec::new();
        while let Some(end) = kept[*read..].iter().position(|byte| *byte == b'\n') {
            lines.push(kept[*read..*read + end].to_vec());
            *read += end + 1;
        }
        lines
    }

    fn bytes(&self) -> Vec<u8> {
        let kept = self.bytes.lock();
        kept.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Write for Recording {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut kept = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let length = {
            let kept = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
            kept.len()
        };
        self.length.send_replace(length);
        Ok(())
    }
}
