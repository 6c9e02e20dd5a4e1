//! The two controllers as programs: how each is started in a lab, and what says that it is at work.

use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use plimsoll_lab::{Lab, karpenter, karpenter_environment, until};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::Usage;

/// How long a start may take.
const START: Duration = Duration::from_mins(2);
/// Its name in the lab.
const NAME: &str = "controller";

/// A controller that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contender {
    /// Karpenter with its KWOK provider.
    Karpenter,
    /// Ours with the same.
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
pub struct Running {
    process: u32,
}

impl Programs {
    /// Finds them: Karpenter's is built where the cache has none, ours lies beside this program.
    pub fn find() -> Result<Self> {
        Ok(Self {
            karpenter: karpenter()?,
            plimsoll: own_program("cargo build --bin plimsoll")?,
        })
    }
}

/// Our program, which lies beside this one; the command is what builds it.
pub(crate) fn own_program(command: &str) -> Result<PathBuf> {
    let path = std::env::current_exe()?.with_file_name("plimsoll");
    path.metadata()
        .with_context(|| format!("{}; expected it to be built: {command}", path.display()))?;
    Ok(path)
}

impl Contender {
    /// Starts it in a lab, and returns when it says that it is ready.
    pub async fn start(self, lab: &mut Lab, programs: &Programs) -> Result<Running> {
        let (metrics, probes) = (free_port()?, free_port()?);
        let (program, arguments) = match self {
            Self::Plimsoll => (
                programs.plimsoll.as_path(),
                ours(lab.kubeconfig(), metrics, probes),
            ),
            Self::Karpenter => (
                Path::new("/usr/bin/env"),
                theirs(&programs.karpenter, lab.kubeconfig(), metrics, probes),
            ),
        };
        lab.run(NAME, program, &arguments)?;
        let process = lab.processes().last().copied();
        let process = process.context("a program that was started has an id")?;
        until_ready(lab, NAME, probes).await?;
        Ok(Running { process })
    }
}

/// Waits until a program says on its port for probes that it is ready. The end of its log is in the error.
pub(crate) async fn until_ready(lab: &mut Lab, name: &str, probes: u16) -> Result<()> {
    let ready = until("the controller to be ready", START, async || {
        Ok(get(probes, "/readyz")
            .await
            .filter(|it| it.starts_with("HTTP/1.1 200 ")))
    });
    if let Err(error) = ready.await {
        let log = lab.log(name);
        let lines: Vec<&str> = log.lines().collect();
        let end = lines[lines.len().saturating_sub(5)..].join("\n");
        return Err(error).with_context(|| end);
    }
    Ok(())
}

impl Running {
    /// Consumption of the controller so far.
    pub fn usage(self) -> Usage {
        Usage::of(self.process)
    }

    /// All that it has said so far.
    pub fn log(self, lab: &mut Lab) -> String {
        lab.log(NAME)
    }
}

fn ours(kubeconfig: &Path, metrics: u16, probes: u16) -> Vec<String> {
    vec![
        "run".to_owned(),
        "--provider=kwok".to_owned(),
        "--disable-leader-election".to_owned(),
        "--leader-election-namespace=kube-system".to_owned(),
        "--bind-address=127.0.0.1".to_owned(),
        "--log-level=debug".to_owned(),
        format!("--kubeconfig={}", kubeconfig.display()),
        format!("--metrics-port={metrics}"),
        format!("--health-probe-port={probes}"),
    ]
}

fn theirs(program: &Path, kubeconfig: &Path, metrics: u16, probes: u16) -> Vec<String> {
    let mut command = karpenter_environment(kubeconfig, [metrics, probes]);
    command.extend([
        "DISABLE_LEADER_ELECTION=true".to_owned(),
        "PREFERENCE_POLICY=Ignore".to_owned(),
        program.display().to_string(),
    ]);
    command
}

/// A free port of loopback.
pub(crate) fn free_port() -> Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok(listener.local_addr()?.port())
}

/// The answer of a server on loopback; `None` where there is none.
async fn get(port: u16, path: &str) -> Option<String> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.ok()?;
    let request = format!("GET {path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.ok()?;
    let mut text = String::new();
    stream.read_to_string(&mut text).await.ok()?;
    Some(text)
}
