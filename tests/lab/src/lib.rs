//! A real Kubernetes control plane with fake nodes, on one machine, for tests: etcd, kube-apiserver, kube-scheduler, kube-controller-manager and KWOK.
//!
//! [`Lab::start`] builds the programs if the cache has none, starts them on free ports of the loopback address in a temporary
//! folder and waits until each says that it is ready. Invariants:
//! - labs share nothing, so that several run side by side;
//! - nothing outlives the lab: dropping it ends its processes by process id, and the kernel ends them if the process that started it is killed;
//! - nothing waits for a time, only for a condition with a deadline.
//!
//! For tests of what goes wrong, programs are killed and started again ([`Lab::kill`], [`Lab::start_again`]), and requests are disturbed
//! on their way ([`Lab::proxy`]).
//!
//! A node takes part when it carries the annotation `kwok.x-k8s.io/node=fake`: it becomes Ready, pods bound to it run.

mod control_plane;
mod crds;
mod credentials;
mod error;
mod objects;
mod ports;
mod processes;
mod programs;
mod proxy;
mod readiness;
mod stages;

use std::path::{Path, PathBuf};
use std::time::Duration;

use kube::Client;
use rustix::process::Signal;
use serde_json::Value;

use control_plane::ControlPlane;

pub use error::LabError;
pub use objects::{apply, example_class, example_pool, fake_node, pending_pod, showcase_pool};
pub use programs::{build, helm, karpenter, karpenter_environment, karpenter_on_aws};
pub use proxy::{Call, Fault, Proxy, Rule, Verb};
pub use readiness::until;

/// How a lab is to be.
#[derive(Debug, Clone)]
pub struct Options {
    /// From the creation of a fake node to its being Ready, at least.
    pub node_boot: Duration,
    /// The same at most: each node draws its time between both. No more than the least where this is less.
    pub node_boot_most: Duration,
    /// From a pod's binding to its being Ready.
    pub pod_start: Duration,
    /// Folders of CRD manifests (`*.yaml`, `*.yml`, `*.json`) to apply and wait for.
    pub crds: Vec<PathBuf>,
    /// Definitions of custom resources to apply and wait for, beside those of [`Options::crds`].
    pub definitions: Vec<Value>,
    /// How long the whole start may take once the programs are built.
    pub deadline: Duration,
    /// `true` if the folder with the programs' logs stays when the lab has ended.
    pub keep_folder: bool,
}

impl Default for Options {
    /// No delays, no CRDs, three minutes for a start on a busy machine, nothing kept.
    fn default() -> Self {
        Self {
            node_boot: Duration::ZERO,
            node_boot_most: Duration::ZERO,
            pod_start: Duration::ZERO,
            crds: Vec::new(),
            definitions: Vec::new(),
            deadline: Duration::from_mins(3),
            keep_folder: false,
        }
    }
}

/// A running control plane. It ends when this value is dropped.
pub struct Lab {
    plane: ControlPlane,
    client: Client,
}

impl Lab {
    /// Starts a lab and returns once all of it is ready and the CRDs are established.
    pub async fn start(options: Options) -> Result<Self, LabError> {
        let found = tokio::task::spawn_blocking(programs::find).await;
        let programs = found.map_err(|source| LabError::Build {
            reason: source.to_string(),
        })??;
        let starting = async {
            let (plane, client) = ControlPlane::start(&programs, &options).await?;
            for folder in &options.crds {
                crds::apply(&client, &crds::read_folder(folder)?).await?;
            }
            crds::apply(&client, &options.definitions).await?;
            Ok(Self { plane, client })
        };
        readiness::within(options.deadline, "a lab", starting).await
    }

    /// A client with every right.
    pub fn client(&self) -> Client {
        self.client.clone()
    }

    /// A kubeconfig with every right, for programs; it is gone with the lab.
    pub fn kubeconfig(&self) -> &Path {
        self.plane.kubeconfig()
    }

    /// Where the programs write: `NAME.log` of each, their data.
    pub fn folder(&self) -> &Path {
        self.plane.folder()
    }

    /// Two free ports, for a program that is told where to listen; they are this lab's until it ends.
    pub fn spare_ports(&self) -> [u16; 2] {
        self.plane.spare_ports()
    }

    /// Process ids of the programs, in the order of their start.
    pub fn processes(&self) -> Vec<u32> {
        self.plane.processes()
    }

    /// A new proxy before the API server. The lab's own programs do not go through it.
    pub async fn proxy(&self) -> Result<Proxy, LabError> {
        Proxy::start(self.client(), self.folder()).await
    }

    /// A new proxy whose requests reach the API server with the rights of this client.
    pub async fn proxy_as(&self, client: Client) -> Result<Proxy, LabError> {
        Proxy::start(client, self.folder()).await
    }

    /// Runs a program of the caller's until the lab ends, under a name that no other has; what it says goes to `NAME.log`.
    pub fn run(
        &mut self,
        name: &str,
        program: &Path,
        arguments: &[String],
    ) -> Result<(), LabError> {
        self.plane.running().start(name, program, arguments)
    }

    /// Kills a program, of the control plane or of the caller's, as `kill -9` does; it stays away until started again.
    pub fn kill(&mut self, program: &str) -> Result<(), LabError> {
        self.plane.running().kill(program)
    }

    /// Starts a program that was killed as it was started before; one of the control plane is ready then.
    pub async fn start_again(&mut self, program: &str) -> Result<(), LabError> {
        self.plane.start_again(program).await
    }

    /// Keeps a program from going on, without its noticing, until [`Lab::resume`].
    pub fn pause(&mut self, program: &str) -> Result<(), LabError> {
        self.plane.running().signal(program, Signal::STOP)
    }

    /// Lets a program go on.
    pub fn resume(&mut self, program: &str) -> Result<(), LabError> {
        self.plane.running().signal(program, Signal::CONT)
    }

    /// Asks a program to end, as a kubelet does, and waits until it has; the status with which it did.
    pub async fn stop(&mut self, program: &str, deadline: Duration) -> Result<String, LabError> {
        self.plane.running().signal(program, Signal::TERM)?;
        let what = format!("{program} to end");
        let running = self.plane.running();
        let ended = until(&what, deadline, async || {
            Ok(running.has_ended(program).transpose())
        });
        ended.await?
    }

    /// The status with which a program ended by itself; `None` while it runs.
    pub fn has_ended(&mut self, program: &str) -> Result<Option<String>, LabError> {
        self.plane.running().has_ended(program)
    }

    /// All that a program has said so far.
    pub fn log(&mut self, program: &str) -> String {
        self.plane.running().log(program)
    }
}
