//! The two controllers as programs on a cloud: how each is started in a lab, out of one environment for both.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use plimsoll_lab::{Lab, karpenter_environment, karpenter_on_aws};

use super::script::CLUSTER;
use crate::Usage;
use crate::live::{free_port, own_program, until_ready};

/// Its name in the lab.
const NAME: &str = "controller";
/// Certificate authority that nodes are told to trust, the same for both.
const CA_BUNDLE: &str = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg==";

/// A controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contender {
    /// Karpenter with its AWS provider, as released.
    Karpenter,
    /// Ours.
    Plimsoll,
}

/// Paths of both.
#[derive(Clone, Debug)]
pub struct Programs {
    karpenter: PathBuf,
    plimsoll: PathBuf,
}

/// A controller at work.
#[derive(Clone, Copy, Debug)]
pub(super) struct Running {
    probes: u16,
}

impl Programs {
    /// Finds them: Karpenter's is built where the cache has none, ours lies beside this program.
    pub fn find() -> Result<Self> {
        let command = "cargo build --bin plimsoll --features plimsoll/aws";
        Ok(Self {
            karpenter: karpenter_on_aws()?,
            plimsoll: own_program(command)?,
        })
    }
}

impl Contender {
    /// Both, Karpenter first.
    pub const BOTH: [Self; 2] = [Self::Karpenter, Self::Plimsoll];

    /// Its name on the command line and in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Karpenter => "karpenter",
            Self::Plimsoll => "plimsoll",
        }
    }

    /// The one of a name.
    pub fn named(name: &str) -> Result<Self> {
        let mut both = Self::BOTH.into_iter();
        match both.find(|own| own.name() == name) {
            Some(own) => Ok(own),
            None => bail!("\"{name}\" is no controller; expected karpenter or plimsoll"),
        }
    }

    /// Starts it in a lab on the cloud of a URL, and returns when it says that it is ready.
    pub(super) async fn start(
        self,
        lab: &mut Lab,
        programs: &Programs,
        cloud: &str,
    ) -> Result<Running> {
        let (metrics, probes) = (free_port()?, free_port()?);
        let mut words = environment(lab.kubeconfig(), [metrics, probes], cloud);
        match self {
            Self::Karpenter => words.push(programs.karpenter.display().to_string()),
            Self::Plimsoll => words.extend([
                programs.plimsoll.display().to_string(),
                "run".to_owned(),
                "--provider=aws".to_owned(),
                "--disable-leader-election".to_owned(),
                "--bind-address=127.0.0.1".to_owned(),
                "--log-level=debug".to_owned(),
                format!("--kubeconfig={}", lab.kubeconfig().display()),
                format!("--metrics-port={metrics}"),
                format!("--health-probe-port={probes}"),
            ]),
        }
        lab.run(NAME, Path::new("/usr/bin/env"), &words)?;
        until_ready(lab, NAME, probes).await?;
        Ok(Running { probes })
    }
}

impl Running {
    /// Kills it and starts it anew; returns when that one says that it is ready.
    pub(super) async fn restart(self, lab: &mut Lab) -> Result<()> {
        lab.kill(NAME)?;
        lab.start_again(NAME).await?;
        until_ready(lab, NAME, self.probes).await
    }
}

/// All that the controller has said so far.
pub(super) fn log(lab: &mut Lab) -> String {
    lab.log(NAME)
}

/// Consumption of the controller, which is started last, so far.
pub(super) fn usage(lab: &Lab) -> Usage {
    let process = lab.processes().last().copied();
    process.map(Usage::of).unwrap_or_default()
}

/// An error if the controller has ended by itself.
pub(super) fn check_alive(lab: &mut Lab) -> Result<()> {
    let Some(status) = lab.has_ended(NAME)? else {
        return Ok(());
    };
    let log = lab.log(NAME);
    let lines: Vec<&str> = log.lines().collect();
    let end = lines[lines.len().saturating_sub(5)..].join("\n");
    bail!("the controller has ended with {status}:\n{end}")
}

fn environment(kubeconfig: &Path, ports: [u16; 2], cloud: &str) -> Vec<String> {
    let mut variables = karpenter_environment(kubeconfig, ports);
    let own = [
        ("AWS_ENDPOINT_URL", cloud),
        ("AWS_REGION", "us-east-1"),
        ("AWS_ACCESS_KEY_ID", "key"),
        ("AWS_SECRET_ACCESS_KEY", "secret"),
        ("AWS_EC2_METADATA_DISABLED", "true"),
        ("CLUSTER_NAME", CLUSTER),
        ("CLUSTER_ENDPOINT", "https://lab.example"),
        ("CLUSTER_CA_BUNDLE", CA_BUNDLE),
        ("INTERRUPTION_QUEUE", CLUSTER),
        ("DISABLE_LEADER_ELECTION", "true"),
    ];
    let own = own
        .into_iter()
        .map(|(name, value)| format!("{name}={value}"));
    variables.extend(own);
    variables
}
