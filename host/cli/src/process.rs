//! Ports, limits and folders of the process, by flag and environment under Karpenter's names, and its HTTP servers.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use plimsoll_controller::serve::{self, Served};
use plimsoll_controller::{Keep, Limits, StateMetrics, Telemetry};
use tokio::task::JoinSet;

use crate::failure::Environment;
use crate::flags::Process;
use crate::leader;
use crate::log::COMMIT;

/// A flag, else what the environment says, else the default. What the environment says in no number gives the default, as Karpenter has it.
fn chosen<T: std::str::FromStr>(
    flag: Option<T>,
    name: &str,
    environment: &impl Fn(&str) -> Option<String>,
    default: T,
) -> T {
    let said = || environment(name)?.parse().ok();
    flag.or_else(said).unwrap_or(default)
}

/// Limits of what the API server is asked.
pub(crate) fn limits(flags: &Process, environment: &impl Fn(&str) -> Option<String>) -> Limits {
    let qps = chosen(flags.kube_client_qps, "KUBE_CLIENT_QPS", environment, 200);
    let burst = chosen(
        flags.kube_client_burst,
        "KUBE_CLIENT_BURST",
        environment,
        300,
    );
    Limits::new(qps, burst)
}

/// Figures of the process.
pub(crate) fn telemetry(
    flags: &Process,
    environment: &impl Fn(&str) -> Option<String>,
) -> Telemetry {
    let name = "DISABLE_CLUSTER_STATE_OBSERVABILITY";
    let said = || environment(name).is_some_and(|text| leader::is_true(&text));
    let is_disabled = flags
        .disable_cluster_state_observability
        .unwrap_or_else(said);
    let state = if is_disabled {
        StateMetrics::Disabled
    } else {
        StateMetrics::Served
    };
    Telemetry::new(state, COMMIT)
}

/// Serves probes and metrics until what is returned is dropped.
pub(crate) async fn serve(
    flags: &Process,
    environment: &impl Fn(&str) -> Option<String>,
    telemetry: &Telemetry,
) -> Result<JoinSet<()>, Environment> {
    let metrics = chosen(flags.metrics_port, "METRICS_PORT", environment, 8080);
    let probes = chosen(
        flags.health_probe_port,
        "HEALTH_PROBE_PORT",
        environment,
        8081,
    );
    let mut servers = JoinSet::new();
    for (port, flag, served) in [
        (metrics, "metrics-port", Served::Metrics),
        (probes, "health-probe-port", Served::Probes),
    ] {
        let listener = serve::listen(flags.bind_address, port)
            .await
            .map_err(|error| {
                Environment(format!(
                    "port {port} cannot be had: {error}; expected a free one as --{flag}"
                ))
            })?;
        if let Ok(address) = listener.local_addr() {
            tracing::info!(port = address.port(), "listening for --{flag}");
        }
        servers.spawn(serve::serve(listener, served, telemetry.clone()));
    }
    Ok(servers)
}

/// Keeps snapshots in a folder, which is made where there is none.
pub(crate) fn keep(flags: &Process) -> Keep {
    let temporary = || std::env::temp_dir().join("plimsoll");
    let folder: PathBuf = flags.failed_snapshots.clone().unwrap_or_else(temporary);
    Arc::new(move |snapshot, name| {
        fs::create_dir_all(&folder)?;
        let path = folder.join(name);
        fs::write(&path, plimsoll_snapshot::write::json(snapshot)?)?;
        Ok(path)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_wins_over_the_environment_and_both_over_the_default() {
        let environment = |value: &'static str| move |_: &str| Some(value.to_owned());
        assert_eq!(chosen(Some(1), "X", &environment("2"), 3), 1);
        assert_eq!(chosen(None, "X", &environment("2"), 3), 2);
        assert_eq!(chosen(None, "X", &environment("two"), 3), 3);
        assert_eq!(chosen(None, "X", &|_: &str| None, 3), 3);
    }
}
