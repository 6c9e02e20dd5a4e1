//! The calls that are made to AWS, each once: what is asked and answered is in values of our own.

mod batch;
mod buckets;
mod doubt;
mod dry_run;
mod failure;
mod fleet;
mod health;
mod identity;
mod images;
mod instances;
mod kept_profiles;
mod list_prices;
mod network;
mod paced;
mod prices;
mod queue;
mod template;
mod types;
mod whole;

use std::sync::Arc;
use std::time::Duration;

use aws_config::timeout::TimeoutConfig;
use aws_config::{AppName, BehaviorVersion, ConfigLoader, Region, SdkConfig};
use aws_smithy_http_client::Builder;
use aws_smithy_http_client::tls::Provider;
use aws_smithy_http_client::tls::rustls_provider::CryptoMode;

pub use failure::CallError;
pub(crate) use queue::{Deletion, Queue, Received};

pub(crate) use buckets::Urgency;
pub(crate) use doubt::Doubt;

use self::buckets::Buckets;
use self::instances::{Ends, Reads};
use self::kept_profiles::KeptProfiles;
use self::paced::{Call, ThrottledIsNotRetried};
use self::whole::WholeAnswers;

use crate::error::ErrorClass;
use crate::launch::addresses::Addresses;
use crate::list_prices::endpoint_region;
use crate::resolve::kept::{KeptAnswers, RefreshIntervals};

/// The longest that a call may take, retries and all: Karpenter's time.
const LONGEST: Duration = Duration::from_mins(4);

/// Clients of the services that are called.
#[derive(Clone, Debug)]
pub struct Clients {
    region: String,
    ec2: aws_sdk_ec2::Client,
    eks: aws_sdk_eks::Client,
    iam: aws_sdk_iam::Client,
    pricing: aws_sdk_pricing::Client,
    sqs: aws_sdk_sqs::Client,
    ssm: aws_sdk_ssm::Client,
    reads: Arc<Reads>,
    /// Reads that ends wait for.
    reads_before_ends: Arc<Reads>,
    ends: Arc<Ends>,
    buckets: Arc<Buckets>,
    kept_profiles: Arc<KeptProfiles>,
    kept: Arc<KeptAnswers>,
    addresses: Arc<Addresses>,
}

/// Why there are no clients.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// Nothing says which region.
    #[error(
        "no region; expected one in AWS_REGION, in the profile of AWS_PROFILE, or from the instance's metadata"
    )]
    NoRegion,
    /// EC2 does not answer as it should.
    #[error("EC2 in {region} cannot be used")]
    Refused {
        /// The region.
        region: String,
        /// What it said.
        #[source]
        source: CallError,
    },
}

/// How AWS is called: by our TLS, within our time, under our name.
pub(crate) fn loader(version: &str) -> ConfigLoader {
    let http = Builder::new().tls_provider(Provider::Rustls(CryptoMode::Ring));
    let timeouts = TimeoutConfig::builder().operation_timeout(LONGEST).build();
    let loader = aws_config::defaults(BehaviorVersion::latest())
        .http_client(http.build_https())
        .timeout_config(timeouts);
    match AppName::new(format!("karpenter.sh-{version}")) {
        Ok(name) => loader.app_name(name),
        Err(_) => loader,
    }
}

impl Clients {
    /// Clients by the environment, and by the instance or web identity where that says nothing, once EC2 has answered one call. `version` is ours,
    /// as it stands in the name by which AWS knows us.
    pub async fn connect(version: &str) -> Result<Self, ConnectError> {
        let config = loader(version).load().await;
        let Some(region) = config.region().map(Region::to_string) else {
            return Err(ConnectError::NoRegion);
        };
        let clients = Self::new(&config, region.clone());
        clients
            .check()
            .await
            .map_err(|source| ConnectError::Refused { region, source })?;
        Ok(clients)
    }

    pub(crate) fn new(config: &SdkConfig, region: String) -> Self {
        let ec2 = aws_sdk_ec2::config::Builder::from(config);
        let ec2 = ec2.retry_classifier(ThrottledIsNotRetried);
        let ec2 = ec2.interceptor(WholeAnswers);
        let pricing = aws_sdk_pricing::config::Builder::from(config);
        let pricing = pricing.region(Region::new(endpoint_region(&region)));
        Self {
            region,
            ec2: aws_sdk_ec2::Client::from_conf(ec2.build()),
            eks: aws_sdk_eks::Client::new(config),
            iam: aws_sdk_iam::Client::new(config),
            pricing: aws_sdk_pricing::Client::from_conf(pricing.build()),
            sqs: aws_sdk_sqs::Client::new(config),
            ssm: aws_sdk_ssm::Client::new(config),
            reads: Arc::default(),
            reads_before_ends: Arc::default(),
            ends: Arc::default(),
            buckets: Arc::default(),
            kept_profiles: Arc::default(),
            kept: Arc::default(),
            addresses: Arc::default(),
        }
    }

    /// The same with other times between two questions; nothing is known yet.
    #[must_use]
    pub fn with_intervals(self, intervals: RefreshIntervals) -> Self {
        Self {
            kept: Arc::new(KeptAnswers::new(intervals)),
            ..self
        }
    }

    /// The region.
    pub fn region(&self) -> &str {
        &self.region
    }

    /// Free addresses of subnets.
    pub(crate) fn addresses(&self) -> &Addresses {
        &self.addresses
    }

    /// One call that changes nothing, to see that there are credentials and rights.
    async fn check(&self) -> Result<(), CallError> {
        let ask = self.ec2.describe_instance_types().dry_run(true);
        let call = Call::read("ec2:DescribeInstanceTypes");
        match self.paced(call, || ask.clone().send()).await {
            Err(error) if error.class() != ErrorClass::DryRunOk => Err(error),
            _ => Ok(()),
        }
    }

    /// URL of the API server of a cluster; `None` where EKS does not say.
    pub async fn endpoint(&self, cluster: &str) -> Result<Option<String>, CallError> {
        let asked = self.eks.describe_cluster().name(cluster).send().await;
        let answer = asked.map_err(CallError::of("eks:DescribeCluster"))?;
        Ok(answer.cluster.and_then(|cluster| cluster.endpoint))
    }

    /// Version of Kubernetes of a cluster, such as `1.36`; `None` where EKS does not say.
    pub async fn kubernetes_version(&self, cluster: &str) -> Result<Option<String>, CallError> {
        let asked = self.eks.describe_cluster().name(cluster).send().await;
        let answer = asked.map_err(CallError::of("eks:DescribeCluster"))?;
        Ok(answer.cluster.and_then(|cluster| cluster.version))
    }

    /// Addresses of the services of a cluster, IPv4 before IPv6; `None` where EKS does not say.
    pub async fn service_cidr(&self, cluster: &str) -> Result<Option<String>, CallError> {
        let asked = self.eks.describe_cluster().name(cluster).send().await;
        let answer = asked.map_err(CallError::of("eks:DescribeCluster"))?;
        let network = answer
            .cluster
            .and_then(|cluster| cluster.kubernetes_network_config);
        Ok(network.and_then(|network| network.service_ipv4_cidr.or(network.service_ipv6_cidr)))
    }
}
