//! Flags of `plimsoll run` on its process: ports, limits and the lease by which one of several acts.

use std::path::PathBuf;

use clap::Args;

/// Ports and limits of the process, under Karpenter's names.
#[derive(Debug, Args)]
pub(crate) struct Process {
    /// Port of the metrics, 8080 by default; 0 takes any that is free. Environment: METRICS_PORT.
    #[arg(long, value_name = "PORT")]
    pub(crate) metrics_port: Option<u16>,
    /// Serve no metrics of single pods, nodes and pools, which are most of all in a large cluster. Environment:
    /// DISABLE_CLUSTER_STATE_OBSERVABILITY.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) disable_cluster_state_observability: Option<bool>,
    /// Port of the probes, 8081 by default; 0 takes any that is free. Environment: HEALTH_PROBE_PORT.
    #[arg(long, value_name = "PORT")]
    pub(crate) health_probe_port: Option<u16>,
    /// Address on which both ports are served; by default all that the host has.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) bind_address: Option<std::net::IpAddr>,
    /// Requests to the API server a second, 200 by default. Environment: KUBE_CLIENT_QPS.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) kube_client_qps: Option<u32>,
    /// Requests to the API server at once after a pause, 300 by default. Environment: KUBE_CLIENT_BURST.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) kube_client_burst: Option<u32>,
    /// Folder for snapshots on which the planner failed; by default the system's folder for temporary files.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) failed_snapshots: Option<PathBuf>,
}

/// Leader election, under Karpenter's names.
#[derive(Debug, Args)]
pub(crate) struct LeaderElection {
    /// Run without a lease: only where no other process serves the cluster. Environment: DISABLE_LEADER_ELECTION.
    #[arg(long = "disable-leader-election", value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) disabled: Option<bool>,
    /// Name of the lease; by default Karpenter's, karpenter-leader-election. Environment: LEADER_ELECTION_NAME.
    #[arg(long = "leader-election-name", value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Namespace of the lease; by default SYSTEM_NAMESPACE, else that of the controller's own pod; needed outside a cluster.
    /// Environment: LEADER_ELECTION_NAMESPACE.
    #[arg(long = "leader-election-namespace", value_name = "NAMESPACE")]
    pub(crate) namespace: Option<String>,
}
