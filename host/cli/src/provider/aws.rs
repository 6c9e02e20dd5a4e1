//! EC2 as the provider: the cluster as nodes have to know it, out of flags, the environment, the API server and EKS.

mod settings;

use std::sync::Arc;

use anyhow::{Result, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use k8s_openapi::api::core::v1::Service;
use kube::config::{Kubeconfig, NamedContext};
use kube::{Api, Client};
use plimsoll_aws::{Clients, ClusterAccess, ConnectError, ErrorClass, NodeSettings};
use plimsoll_controller::provider::{self, AwsSetup, VersionSource};
use plimsoll_controller::{Notices, Telemetry};
use plimsoll_model::snapshot::Settings;

use self::settings::{gates, intervals, is_set, nodes, refuse_zonal_shifts};
use crate::cluster::environment;
use crate::failure::Environment;
use crate::flags;

/// Where a pod finds the certificate authority of its API server.
const POD_CA: &str = "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt";

/// All that is read before the process leads.
pub(crate) struct Aws {
    clients: Clients,
    cluster: ClusterAccess,
    nodes: NodeSettings,
    is_isolated: bool,
    skips_dry_runs: bool,
    queue: Option<String>,
    version: VersionSource,
}

impl Aws {
    pub(crate) async fn read(
        flags: &flags::Aws,
        access: &flags::Access,
        settings: &Settings,
        client: &Client,
        said: &impl Fn(&str) -> Option<String>,
    ) -> Result<Self> {
        let said = |name: &str| said(name).filter(|text| !text.is_empty());
        let chosen = |flag: &Option<String>, name: &str| flag.clone().or_else(|| said(name));
        let Some(name) = chosen(&flags.cluster_name, "CLUSTER_NAME") else {
            bail!("no name of the cluster; expected one as --cluster-name or CLUSTER_NAME");
        };
        let nodes = nodes(flags, settings, &said)?;
        refuse_zonal_shifts(flags, &said)?;
        for warning in gates(flags, &said)? {
            tracing::warn!("{warning}");
        }
        let intervals = intervals(flags, &said)?;
        let source = if is_set(flags.eks_control_plane, "EKS_CONTROL_PLANE", &said) {
            VersionSource::Eks
        } else {
            VersionSource::ApiServer
        };
        let clients = Clients::connect(env!("CARGO_PKG_VERSION"))
            .await
            .map_err(unconnected)?
            .with_intervals(intervals);
        let endpoint = match chosen(&flags.cluster_endpoint, "CLUSTER_ENDPOINT") {
            Some(endpoint) => endpoint,
            None => endpoint(&clients, &name).await?,
        };
        let ca_bundle = match chosen(&flags.cluster_ca_bundle, "CLUSTER_CA_BUNDLE") {
            Some(bundle) => bundle,
            None => ca_bundle(access)?,
        };
        let version = source.version(client, &clients, &name).await;
        Ok(Self {
            cluster: ClusterAccess {
                kubernetes: version.map_err(environment)?,
                name,
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
            version: source,
        })
    }

    pub(crate) async fn begin(
        self,
        client: Client,
        telemetry: Telemetry,
        notices: Notices,
    ) -> Arc<dyn provider::Provider> {
        let Self {
            clients,
            cluster,
            nodes,
            is_isolated,
            skips_dry_runs,
            queue,
            version,
        } = self;
        provider::aws(AwsSetup {
            client,
            clients,
            cluster,
            nodes,
            is_isolated,
            skips_dry_runs,
            queue,
            version,
            telemetry,
            notices,
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

async fn endpoint(clients: &Clients, cluster: &str) -> Result<String> {
    let said = match clients.endpoint(cluster).await {
        Ok(Some(endpoint)) => return Ok(endpoint),
        Ok(None) => "it has no endpoint".to_owned(),
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

/// Address of the cluster's DNS service; without it nodes are left to find it.
async fn dns(client: &Client) -> Option<String> {
    let services: Api<Service> = Api::namespaced(client.clone(), "kube-system");
    match services.get_opt("kube-dns").await {
        Ok(service) => service?.spec?.cluster_ip,
        Err(error) => {
            tracing::warn!(%error, "Service kube-system/kube-dns cannot be read; nodes get no address of the cluster's DNS");
            None
        }
    }
}
