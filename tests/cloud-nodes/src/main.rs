//! A cluster on EC2 to play with, all on loopback: a lab, a cloud whose instances become its nodes some seconds after their launch, a class, a
//! pool and a load. It ends with Ctrl-C.
//!
//! `plimsoll-lab-aws LAB CRD_FOLDER PROGRAM` starts the lab's program with a folder of definitions. It prints to standard output where the
//! kubeconfig is, the lab's processes, the environment that `PROGRAM run --provider=aws` serves in, and last that command.

mod furnish;
mod lab;

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use plimsoll_cloud::{Cloud, Delays, Options, World};
use plimsoll_cloud_nodes::follow;
use tokio::signal::unix::{SignalKind, signal};

use crate::lab::LabProcess;

const USAGE: &str = "expected plimsoll-lab-aws LAB CRD_FOLDER PROGRAM";
/// The cluster that the world is for, and its queue.
const CLUSTER: &str = "demo";
/// An instance is known so long after its launch, runs so long after it, and has ended so long after it was asked to.
const DELAYS: (Duration, Duration, Duration) = (
    Duration::from_secs(1),
    Duration::from_secs(5),
    Duration::from_secs(5),
);

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> ExitCode {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let Ok([lab, definitions, program]) = <[PathBuf; 3]>::try_from(arguments) else {
        eprintln!("error: {USAGE}");
        return ExitCode::from(2);
    };
    match hold(&lab, &definitions, &program).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(3)
        }
    }
}

/// Starts all of it, and ends it when this process is asked to end, be it that it is still starting.
async fn hold(lab: &Path, definitions: &Path, program: &Path) -> io::Result<()> {
    // Before anything is started, so that all of it is ended.
    let (mut interrupted, mut terminated) = (
        signal(SignalKind::interrupt())?,
        signal(SignalKind::terminate())?,
    );
    let asked_to_end = async {
        tokio::select! {
            _ = interrupted.recv() => {}
            _ = terminated.recv() => {}
        }
    };
    let mut process = LabProcess::start(lab, definitions)?;
    tokio::select! {
        () = asked_to_end => {}
        failed = serve(&mut process, program) => failed?,
    }
    process.end()
}

/// Serves for ever, once the lab is ready.
async fn serve(process: &mut LabProcess, program: &Path) -> io::Result<()> {
    let ready = process.ready().await?;
    let (visible, running, terminated) = DELAYS;
    let mut world = World::demo(CLUSTER);
    world.state_changes = Some(CLUSTER.to_owned());
    world.delays = Delays {
        visible,
        running,
        terminated,
        ..Delays::default()
    };
    let cloud = Arc::new(Cloud::start(Options { port: 0, world }).await?);
    let client = furnish::furnish(&ready.kubeconfig)
        .await
        .map_err(io::Error::other)?;
    let _nodes = follow(Arc::clone(&cloud), client);
    let kubeconfig = ready.kubeconfig.display();
    let mut out = io::stdout().lock();
    writeln!(out, "kubeconfig {kubeconfig}\n{}", ready.processes)?;
    writeln!(out, "export KUBECONFIG={kubeconfig}")?;
    writeln!(out, "export SYSTEM_NAMESPACE={}", furnish::NAMESPACE)?;
    for (name, value) in cloud.environment(CLUSTER) {
        writeln!(out, "export {name}={value}")?;
    }
    let command = format!("{} {}", program.display(), furnish::FLAGS);
    writeln!(out, "{command}")?;
    out.flush()?;
    drop(out);
    eprintln!("{}", furnish::invitation(&command, &cloud.url(), CLUSTER));
    std::future::pending().await
}
