//! `plimsoll run`: serves one cluster until it is stopped.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;

use anyhow::{Result, bail};
use kube::client::ClientBuilder;
use kube::{Client, Config};
use plimsoll_controller::lease::Leadership;
use plimsoll_controller::policies::{self, Pools, Shadows, Shared};
use plimsoll_controller::{Controller, Fidelity, Limits, Notices, Planner, Setup};
use plimsoll_kube::CheckError;
use plimsoll_model::snapshot::Settings;
use plimsoll_policy::{Observer, Policies};
use tokio::sync::watch;

use super::manifest;
use crate::cluster::{self, environment};
use crate::failure::Environment;
use crate::flags::Run;
use crate::leader::{self, LeaseName};
use crate::log;
use crate::policy;
use crate::process;
use crate::provider::Prepared;
use crate::records;
use crate::settings;

/// Threads for requests and watches; planning has its own.
const THREADS: usize = 2;

pub(crate) fn run(flags: &Run) -> Result<()> {
    log_lines(flags, &environment_of)?;
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

fn environment_of(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// The settings that flags and environment say; what has no effect is told.
fn settings(flags: &Run) -> Result<Settings> {
    let (settings, warnings) = settings::read(&flags.decisions, &environment_of)?;
    for warning in warnings {
        tracing::warn!("{warning}");
    }
    for flag in flags.logging.without_effect() {
        tracing::warn!("{flag} is taken and has no effect");
    }
    Ok(settings)
}

async fn serve(flags: &Run) -> Result<()> {
    if let Some(asked) = flags.policy.first() {
        bail!(manifest::refusal(asked)?);
    }
    let settings = settings(flags)?;
    let limits = process::limits(&flags.process, &environment_of);
    let telemetry = process::telemetry(&flags.process, &environment_of);
    let memory = flags.policy_memory.as_deref().map(policy::memory);
    let engine = policy::controllers_engine(flags.large_modules, memory.transpose()?)?;
    let stopped = stopped().map_err(environment)?;
    let config = config(flags).await?;
    let client = Client::try_from(config.clone()).map_err(environment)?;
    let provider = Prepared::read(flags, &settings, &client, &environment_of).await?;
    // Who has no cluster yet is not asked for the namespace of its lease.
    let lease = LeaseName::of(&flags.leader_election, environment_of)?;
    let records = flags.records.as_deref();
    let records = records
        .map(|path| records::stream(path, &engine))
        .transpose()?;
    let shadows = Shadows::default();
    let mut observers: Vec<Arc<dyn Observer>> = vec![Arc::new(shadows.clone())];
    if let Some(recorder) = &records {
        observers.push(recorder.clone());
    }
    let record = flags.record.as_deref().map(recording).transpose()?;
    let planner = Planner::new(Policies {
        observers,
        ..Policies::default()
    });
    let (calls, memory_mib) = (engine.concurrency(), engine.guest_memory() >> 20);
    let namespace = leader::namespace(&flags.leader_election, environment_of);
    let namespace = namespace.unwrap_or_else(|| config.default_namespace.clone());
    let node_overlays = settings.node_overlays;
    // All that is watched is read after this, so that what the last leader did is seen.
    let mut stopped = pin!(stopped);
    // Every process serves these, whether it leads or waits.
    let _servers = process::serve(&flags.process, &environment_of, &telemetry).await?;
    let name = lease.as_ref().map(|lease| lease.name().to_owned());
    let leading = lead(lease, &client);
    let leadership = tokio::select! {
        leadership = leading => leadership,
        () = &mut stopped => return Ok(()),
    };
    let client = gated(config, leadership.as_ref(), &limits)?;
    let (pools, seen) = watch::channel(Pools::default());
    let (notices, noticed) = Notices::channel(&telemetry);
    // Ends with this function. The first decision is made with the policies that there are.
    let _following = policies::follow(Shared {
        client: client.clone(),
        namespace,
        engine,
        generations: planner.generations(),
        changes: planner.changes(),
        shadows,
        pools: seen,
        telemetry: telemetry.clone(),
        notices: notices.clone(),
    })
    .await
    .map_err(environment)?;
    let controller = Controller::start(Setup {
        provider: provider.begin(client.clone(), &telemetry, notices).await,
        client,
        settings,
        seed: flags.seed,
        planner,
        record,
        keep: process::keep(&flags.process),
        telemetry: telemetry.clone(),
        pools,
        notices: noticed,
    });
    if let Some(name) = name {
        let labels = [("name", name.as_str())];
        telemetry.set("leader_election_master_status", &labels, 1.0);
    }
    let controller = controller.await.map_err(of_controller)?;
    tracing::info!(
        policy_calls = calls,
        policy_memory_mib = memory_mib,
        node_overlays,
        "serving"
    );
    let served = while_leading(leadership, Box::pin(controller.run(stopped))).await;
    let written = records.map(|recorder| recorder.finish()).transpose();
    let fidelity = served.map_err(of_controller)?;
    for (pods, bound) in [("pending", fidelity.pending), ("evicted", fidelity.evicted)] {
        tracing::info!(
            pods,
            as_planned = bound.as_planned,
            sooner = bound.sooner,
            elsewhere = bound.elsewhere,
            "bound, held against the plan"
        );
    }
    tracing::info!("stopped");
    match written {
        Ok(_) => Ok(()),
        Err(error) => bail!(Environment(format!("records cannot be written: {error}"))),
    }
}

/// Waits until the lease is ours; at once, and without one, where leader election is off.
async fn lead(lease: Option<LeaseName>, client: &Client) -> Option<Leadership> {
    let candidate = lease?.candidate(client.clone());
    Some(candidate.lead().await)
}

/// A client within limits, whose writes end with the leadership.
fn gated(config: Config, leadership: Option<&Leadership>, limits: &Limits) -> Result<Client> {
    let builder = ClientBuilder::try_from(config).map_err(environment)?;
    Ok(match leadership {
        Some(leadership) => {
            let gated = builder.with_layer(&leadership.gate());
            gated.with_layer(limits).build()
        }
        None => builder.with_layer(limits).build(),
    })
}

/// Serves as long as the lease is ours, and gives it up in the end.
async fn while_leading(
    leadership: Option<Leadership>,
    served: impl Future<Output = Result<Fidelity>>,
) -> Result<Fidelity> {
    let Some(mut leadership) = leadership else {
        return served.await;
    };
    let served = tokio::select! {
        lost = leadership.lost() => bail!(Environment(lost.to_string())),
        served = served => served,
    };
    leadership.release().await;
    served
}

async fn config(flags: &Run) -> Result<Config> {
    let mut config = cluster::config(&flags.access).await?;
    // The engine tries again by itself. The client's way would hide that an eviction is held up, and hold a permit meanwhile.
    config.default_retry = false;
    Ok(config)
}

/// An API server that gives no answer and a recording that cannot be written are the environment's; all else stays as it is.
fn of_controller(error: anyhow::Error) -> anyhow::Error {
    let is_environment = error.chain().any(|cause| {
        matches!(
            cause.downcast_ref::<CheckError>(),
            Some(CheckError::Unlisted { .. } | CheckError::Forbidden { .. })
        ) || cause.is::<io::Error>()
    });
    if is_environment {
        environment(error).into()
    } else {
        error
    }
}

/// Writes log lines as asked for; not among a recording that goes to standard output.
fn log_lines(flags: &Run, environment_of: &impl Fn(&str) -> Option<String>) -> Result<()> {
    let logging = &flags.logging;
    let environment = |name: &str| environment_of(name).filter(|text| !text.is_empty());
    let said = |flag: &Option<String>, name: &str| flag.clone().or_else(|| environment(name));
    let level = said(&logging.log_level, "LOG_LEVEL").unwrap_or_else(|| "info".to_owned());
    let level = level
        .parse()
        .map_err(|expected| anyhow::anyhow!("--log-level is \"{level}\"; {expected}"))?;
    let is_taken = flags.record.as_deref() == Some(Path::new("-"));
    let default = if is_taken { "stderr" } else { "stdout" };
    let places = said(&logging.log_output_paths, "LOG_OUTPUT_PATHS");
    log::begin(level, places.as_deref().unwrap_or(default))?;
    Ok(())
}

/// Where a recording goes; `-` is standard output, which nothing else is written to.
fn recording(path: &Path) -> Result<Box<dyn Write + Send>> {
    if path == Path::new("-") {
        return Ok(Box::new(BufWriter::new(io::stdout())));
    }
    let file = File::create(path)
        .map_err(|error| Environment(format!("recording {}: {error}", path.display())))?;
    Ok(Box::new(BufWriter::new(file)))
}

/// Listens from now on; ends when the process is asked to end.
fn stopped() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut end = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = end.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_that_cannot_be_written_is_the_environments_fault() {
        let error = recording(Path::new("/nowhere/recording")).err().unwrap();
        assert!(error.is::<Environment>(), "{error}");
        let full = io::Error::from(io::ErrorKind::StorageFull);
        let error = of_controller(anyhow::Error::new(full).context("the recording"));
        assert!(error.is::<Environment>(), "{error}");
    }
}
