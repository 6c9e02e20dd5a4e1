//! Flags of `plimsoll run` on AWS, under the incumbent's names.

use clap::Args;

/// The cluster and its nodes on AWS, with `--provider aws`. Region and credentials come from where AWS's tools have them.
#[derive(Debug, Args)]
#[command(next_help_heading = "AWS")]
pub(crate) struct Aws {
    /// Name of the cluster, by which what is made for it is tagged. Environment: CLUSTER_NAME.
    #[arg(long, value_name = "NAME")]
    pub(crate) cluster_name: Option<String>,
    /// URL of the cluster's API server, as nodes reach it; by default EKS is asked. Environment: CLUSTER_ENDPOINT.
    #[arg(long, value_name = "URL")]
    pub(crate) cluster_endpoint: Option<String>,
    /// Certificate authority of the API server in base64, as nodes are told; by default the one that this process trusts. Environment:
    /// CLUSTER_CA_BUNDLE.
    #[arg(long, value_name = "BASE64")]
    pub(crate) cluster_ca_bundle: Option<String>,
    /// Share of memory taken to be kept by hypervisor and firmware, 0.075 by default. Environment: VM_MEMORY_OVERHEAD_PERCENT.
    #[arg(long, value_name = "SHARE")]
    pub(crate) vm_memory_overhead_percent: Option<f64>,
    /// Network interfaces of each node kept from pods, 0 by default. Environment: RESERVED_ENIS.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) reserved_enis: Option<u32>,
    /// Name of the queue with messages about instances; without one interruptions are not heard of. Environment: INTERRUPTION_QUEUE.
    #[arg(long, value_name = "NAME")]
    pub(crate) interruption_queue: Option<String>,
}
