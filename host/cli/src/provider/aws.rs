//! EC2 as the provider: the cluster as nodes have to know it, out of flags, the environment, the API server and EKS.

use std::str::FromStr;
use std::sync::Arc;

use anyhow::{Result, anyhow, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use k8s_openapi::api::core::v1::Service;
use kube::config::{Kubeconfig, NamedContext};
use kube::{Api, Client};
use plimsoll_aws::{Clients, ClusterAccess, ConnectError, ErrorClass, NodeSettings};
use plimsoll_controller::Telemetry;
use plimsoll_controller::provider::{self, AwsSetup};
use plimsoll_ec2_facts::Share;

use crate::cluster::environment;
use crate::failure::Environment;
use crate::flags;
use crate::leader::is_true;

/// Where a pod finds the certificate authority of its API server.
const POD_CA: &str = "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt";
/// Share of memory taken to be kept by hypervisor and firmware, unless said: the incumbent's.
const MEMORY_OVERHEAD: f64 = 0.075;
const MILLION: f64 = 1_000_000.0;

/// All that is read before the process leads.
pub(crate) struct Aws {
    clients: Clients,
    cluster: ClusterAccess,
    nodes: NodeSettings,
    is_isolated: bool,
    skips_dry_runs: bool,
    queue: Option<String>,
}

impl Aws {
    pub(crate) async fn read(
        flags: &flags::Aws,
        access: &flags::Access,
        client: &Client,
        said: &impl Fn(&str) -> Option<String>,
    ) -> Result<Self> {
        let said = |name: &str| said(name).filter(|text| !text.is_empty());
        let chosen = |flag: &Option<String>, name: &str| flag.clone().or_else(|| said(name));
        let Some(name) = chosen(&flags.cluster_name, "CLUSTER_NAME") else {
            bail!("no name of the cluster; expected one as --cluster-name or CLUSTER_NAME");
        };
        let nodes = NodeSettings {
            memory_overhead: overhead(flags, &said)?,
            reserved_interfaces: reserved(flags, &said),
        };
        let clients = Clients::connect(env!("CARGO_PKG_VERSION"))
            .await
            .map_err(unconnected)?;
        let endpoint = match chosen(&flags.cluster_endpoint, "CLUSTER_ENDPOINT") {
            Some(endpoint) => endpoint,
            None => endpoint(&clients, &name).await?,
        };
        let ca_bundle = match chosen(&flags.cluster_ca_bundle, "CLUSTER_CA_BUNDLE") {
            Some(bundle) => bundle,
            None => ca_bundle(access)?,
        };
        Ok(Self {
            cluster: ClusterAccess {
                name,
                kubernetes: version(client).await?,
                endpoint,
                ca_bundle,
                service_cidr: None,
                dns: dns(client).await,
            },
            clients,
            nodes,
            is_isolated: is_set(flags.isolated_vpc, "ISOLATED_VPC", &said),
            skips_dry_runs: is_set(flags.disable_dry_run, "DISABLE_DRY_RUN", &said),
            queue: chosen(&flags.interruption_queue, "INTERRUPTION_QUEUE"),
        })
    }

    pub(crate) async fn begin(
        self,
        client: Client,
        telemetry: Telemetry,
    ) -> Arc<dyn provider::Provider> {
        let Self {
            clients,
            cluster,
            nodes,
            is_isolated,
            skips_dry_runs,
            queue,
        } = self;
        provider::aws(AwsSetup {
            client,
            clients,
            cluster,
            nodes,
            is_isolated,
            skips_dry_runs,
            queue,
            telemetry,
        })
        .await
    }
}

/// EC2 cannot be used: a right that is missing is told with where it stands.
fn unconnected(error: ConnectError) -> Environment {
    let is_denied = match &error {
        ConnectError::Refused { source, .. } => source.class() == ErrorClass::Denied,
        ConnectError::NoRegion => false,
    };
    let Environment(words) = environment(error);
    if is_denied {
        let expected =
            "expected the controller's role to be allowed it, as charts/aws/policy.json says";
        return Environment(format!("{words}; {expected}"));
    }
    Environment(words)
}

/// What the environment says in no number gives the default, as the incumbent has it; a number that is no share is refused.
fn overhead(flags: &flags::Aws, said: &impl Fn(&str) -> Option<String>) -> Result<Share> {
    let name = "VM_MEMORY_OVERHEAD_PERCENT";
    let written = said(name).filter(|text| is_read::<f64>(name, text, "a share such as 0.075"));
    let share = match (flags.vm_memory_overhead_percent, written) {
        (Some(share), _) => share,
        (None, Some(text)) => {
            flags::share(&text).map_err(|words| anyhow!("{name} is \"{text}\"; {words}"))?
        }
        (None, None) => MEMORY_OVERHEAD,
    };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between nothing and a million"
    )]
    let millionths = (share * MILLION).round() as u32;
    Ok(Share::from_parts_per_million(millionths))
}

fn reserved(flags: &flags::Aws, said: &impl Fn(&str) -> Option<String>) -> u32 {
    let name = "RESERVED_ENIS";
    let text = || said(name).filter(|text| is_read::<u32>(name, text, "a number such as 1"));
    let written = || text()?.parse().ok();
    flags.reserved_enis.or_else(written).unwrap_or(0)
}

/// `true` if a variable can be read; otherwise the log says that it is passed over.
fn is_read<T: FromStr>(name: &str, text: &str, expected: &str) -> bool {
    let is_read = text.parse::<T>().is_ok();
    if !is_read {
        tracing::warn!("{name} is \"{text}\", which is passed over; expected {expected}");
    }
    is_read
}

/// A switch by its flag, or else by its variable; off where neither says.
fn is_set(flag: Option<bool>, name: &str, said: &impl Fn(&str) -> Option<String>) -> bool {
    let written = || {
        said(name).is_some_and(|text| {
            if !is_true(&text) && !is_false(&text) {
                tracing::warn!(
                    "{name} is \"{text}\", which is taken for false; expected true or false"
                );
            }
            is_true(&text)
        })
    };
    flag.unwrap_or_else(written)
}

/// Go's words for false, which the incumbent reads.
fn is_false(text: &str) -> bool {
    ["0", "f", "F", "false", "FALSE", "False"].contains(&text)
}

async fn endpoint(clients: &Clients, cluster: &str) -> Result<String> {
    let said = match clients.endpoint(cluster).await {
        Ok(Some(endpoint)) => return Ok(endpoint),
        Ok(None) => "it is not told".to_owned(),
        Err(error) => error.to_string(),
    };
    bail!(Environment(format!(
        "EKS does not say where the API server of cluster \"{cluster}\" is: {said}; expected the cluster's name in EKS, or the URL as --cluster-endpoint or CLUSTER_ENDPOINT"
    )))
}

/// The certificate authority that this process trusts, in base64: as a pod has it, or as the kubeconfig does. Nodes do not join without it.
fn ca_bundle(access: &flags::Access) -> Result<String> {
    if access.kubeconfig.is_none()
        && access.context.is_none()
        && let Ok(pem) = std::fs::read(POD_CA)
    {
        return Ok(STANDARD.encode(pem));
    }
    let read = match &access.kubeconfig {
        Some(path) => Kubeconfig::read_from(path),
        None => Kubeconfig::read(),
    };
    let read = read.map_err(environment)?;
    let context = access.context.as_ref().or(read.current_context.as_ref());
    let named = |own: &&NamedContext| Some(&own.name) == context;
    let context = read.contexts.iter().find(named);
    let context = context.and_then(|own| own.context.as_ref());
    let cluster = context.and_then(|context| {
        let mut clusters = read.clusters.iter();
        clusters.find(|own| own.name == context.cluster)
    });
    let cluster = cluster.and_then(|own| own.cluster.as_ref());
    let data = cluster.and_then(|own| own.certificate_authority_data.clone());
    let path = cluster.and_then(|own| own.certificate_authority.as_ref());
    match (data, path) {
        (Some(data), _) => Ok(data),
        (None, Some(path)) => {
            let pem =
                std::fs::read(path).map_err(|error| Environment(format!("{path}: {error}")))?;
            Ok(STANDARD.encode(pem))
        }
        (None, None) => bail!(
            "no certificate authority of the API server, which nodes trust; expected one in the kubeconfig, as --cluster-ca-bundle or CLUSTER_CA_BUNDLE"
        ),
    }
}

/// Version of the API server, such as `1.36`.
async fn version(client: &Client) -> Result<String> {
    let version = client.apiserver_version().await.map_err(|error| {
        let Environment(words) = environment(error);
        Environment(format!(
            "the version of the API server cannot be read: {words}"
        ))
    })?;
    Ok(format!(
        "{}.{}",
        version.major,
        version.minor.trim_end_matches('+')
    ))
}

/// Address of the cluster's DNS service; without it nodes are left to find it.
async fn dns(client: &Client) -> Option<String> {
    let services: Api<Service> = Api::namespaced(client.clone(), "kube-system");
    match services.get_opt("kube-dns").await {
        Ok(service) => service?.spec?.cluster_ip,
        Err(error) => {
            tracing::warn!(%error, "Service kube-system/kube-dns cannot be read; nodes are not told their DNS");
            None
        }
    }
}
