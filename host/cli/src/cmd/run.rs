//! `plimsoll run`: serves one cluster until it is told to stop.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use plimsoll_controller::{Controller, Planner, Setup};
use plimsoll_core::catalog::Catalogue;
use plimsoll_core::ids::ObjectName;
use plimsoll_core::rank;
use plimsoll_core::snapshot::Settings;
use plimsoll_kwok::catalogue;
use plimsoll_policy::{Engine, Module};

use crate::failure::Environment;
use crate::flags::{Provider, Run};
use crate::policy;

/// Threads for requests and watches; planning has its own.
const THREADS: usize = 2;

pub(crate) fn run(flags: &Run) -> Result<()> {
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_max_level(tracing::Level::INFO)
        .init();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(THREADS)
        .enable_all()
        .build();
    let runtime = runtime.map_err(|error| Environment(error.to_string()))?;
    let served = runtime.block_on(serve(flags));
    // Requests under way are not waited for: what they came to is on the objects.
    runtime.shutdown_background();
    served
}

async fn serve(flags: &Run) -> Result<()> {
    let client = client(flags).await?;
    let catalogue = match flags.provider {
        Provider::Kwok => kwok_types(flags.instance_types_file_path.as_deref())?,
    };
    let module = module(&client, &flags.policy).await?;
    let record = flags.record.as_deref().map(recording).transpose()?;
    let controller = Controller::start(Setup {
        client,
        catalogue: Arc::new(catalogue),
        settings: settings(flags)?,
        seed: flags.seed,
        planner: Planner::new(module),
        record,
    });
    let controller = controller.await?;
    tracing::info!(policy = flags.policy, "serving");
    let fidelity = controller.run(stopped()).await?;
    tracing::info!(
        as_planned = fidelity.as_planned,
        sooner = fidelity.sooner,
        elsewhere = fidelity.elsewhere,
        "stopped"
    );
    Ok(())
}

async fn client(flags: &Run) -> Result<Client> {
    let options = KubeConfigOptions {
        context: flags.context.clone(),
        ..KubeConfigOptions::default()
    };
    let config = match &flags.kubeconfig {
        Some(path) => {
            let read = Kubeconfig::read_from(path).map_err(environment)?;
            Config::from_custom_kubeconfig(read, &options).await
        }
        None if flags.context.is_some() => Config::from_kubeconfig(&options).await,
        None => return Ok(Client::try_default().await.map_err(environment)?),
    };
    let config = config.map_err(environment)?;
    Ok(Client::try_from(config).map_err(environment)?)
}

fn environment(error: impl std::error::Error) -> Environment {
    let mut words = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        words = format!("{words}: {cause}");
        source = cause.source();
    }
    Environment(words)
}

fn kwok_types(path: Option<&Path>) -> Result<Catalogue> {
    let Some(path) = path else {
        return Ok(catalogue::builtin()?);
    };
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    catalogue::read(&text).with_context(|| path.display().to_string())
}

/// The ranking module: one that is shipped, a file, or what a ConfigMap holds now.
async fn module(client: &Client, text: &str) -> Result<Option<Module>> {
    let engine = policy::engine()?;
    let Some(name) = text.strip_prefix("rank=configmap:") else {
        return match policy::Contestant::parse(text, &engine)? {
            policy::Contestant::Rank(_, module) => Ok(Some(module)),
            _ => bail!(
                "policy \"{text}\" is not understood; expected rank=NAME, rank=FILE.wasm or rank=configmap:NAMESPACE/NAME"
            ),
        };
    };
    let Some((namespace, name)) = name.split_once('/') else {
        bail!("policy \"{text}\" names no namespace; expected rank=configmap:NAMESPACE/NAME");
    };
    let name = ObjectName::new(namespace, name);
    let bytes = plimsoll_kube::module::fetch(client, &name).await?;
    accept(&engine, &bytes)
        .with_context(|| format!("configmap {name}"))
        .map(Some)
}

fn accept(engine: &Engine, bytes: &[u8]) -> Result<Module> {
    Ok(engine.accept(bytes, &rank::Settings::default())?)
}

fn settings(flags: &Run) -> Result<Settings> {
    let span = |name: &str, text: &str| {
        plimsoll_api::duration::parse(text).with_context(|| {
            let expected = plimsoll_api::duration::EXPECTED;
            format!("--{name} is \"{text}\"; expected {expected}")
        })
    };
    Ok(Settings {
        batch_idle: span("batch-idle-duration", &flags.batch_idle_duration)?,
        batch_max: span("batch-max-duration", &flags.batch_max_duration)?,
        ..Settings::default()
    })
}

fn recording(path: &Path) -> Result<Box<dyn Write + Send>> {
    let file = File::create(path).with_context(|| path.display().to_string())?;
    Ok(Box::new(BufWriter::new(file)))
}

/// Ends when the process is asked to.
async fn stopped() {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut end), Ok(mut interrupt)) = (
        signal(SignalKind::terminate()),
        signal(SignalKind::interrupt()),
    ) else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = end.recv() => {}
        _ = interrupt.recv() => {}
    }
}
