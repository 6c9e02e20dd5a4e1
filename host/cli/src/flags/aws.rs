//! Flags of `plimsoll run` on AWS, under Karpenter's names.

use clap::Args;
use plimsoll_api::duration;
use plimsoll_base::time::Span;

/// The cluster and its nodes on AWS, with `--provider aws`. Region and credentials come from where AWS's tools have them.
#[derive(Debug, Default, Args)]
pub(crate) struct Aws {
    /// Name of the cluster, by which what is made for it is tagged. Environment: CLUSTER_NAME.
    #[arg(long, help_heading = "AWS", value_name = "NAME")]
    pub(crate) cluster_name: Option<String>,
    /// URL of the cluster's API server, as nodes reach it; by default EKS is asked. Environment: CLUSTER_ENDPOINT.
    #[arg(long, help_heading = "AWS", value_name = "URL")]
    pub(crate) cluster_endpoint: Option<String>,
    /// Certificate authority of the API server in base64, for nodes; by default the one that this process trusts. Environment:
    /// CLUSTER_CA_BUNDLE.
    #[arg(long, help_heading = "AWS", value_name = "BASE64")]
    pub(crate) cluster_ca_bundle: Option<String>,
    /// Share of memory taken to be kept by hypervisor and firmware, 0.075 by default. Environment: VM_MEMORY_OVERHEAD_PERCENT.
    #[arg(long, help_heading = "AWS", value_name = "SHARE", value_parser = share)]
    pub(crate) vm_memory_overhead_percent: Option<f64>,
    /// Network interfaces of each node kept from pods, 0 by default. Environment: RESERVED_ENIS.
    #[arg(long, help_heading = "AWS", value_name = "NUMBER")]
    pub(crate) reserved_enis: Option<u32>,
    /// The cluster's network has no way to AWS's Pricing service, nor to IAM: list prices are those compiled in, and instance profiles of classes
    /// that are deleted are left. Environment: ISOLATED_VPC.
    #[arg(long, help_heading = "AWS", value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) isolated_vpc: Option<bool>,
    /// Classes are not tried out (launch template, dry runs of `CreateFleet` and `RunInstances`) before they are launched. Environment:
    /// DISABLE_DRY_RUN.
    #[arg(long, help_heading = "AWS", value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) disable_dry_run: Option<bool>,
    /// Name of the queue with messages about instances; without one interruptions are not noticed. Environment: INTERRUPTION_QUEUE.
    #[arg(long, help_heading = "AWS", value_name = "NAME")]
    pub(crate) interruption_queue: Option<String>,
    /// The version of Kubernetes, by which images are found, is EKS's word and not the API server's. Environment: EKS_CONTROL_PLANE.
    #[arg(long, help_heading = "AWS", value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) eks_control_plane: Option<bool>,
    /// Time from one question for the images of a class to the next, 1m by default and at least. What a published parameter names is kept for a
    /// day, unless its image is deprecated. Environment: AMI_REFRESH_INTERVAL.
    #[arg(long, help_heading = "AWS", value_name = "DURATION", value_parser = interval)]
    pub(crate) ami_refresh_interval: Option<Span>,
    /// Time from one question for the subnets of a class, and their free addresses, to the next, 1m by default and at least. Environment:
    /// SUBNET_REFRESH_INTERVAL.
    #[arg(long, help_heading = "AWS", value_name = "DURATION", value_parser = interval)]
    pub(crate) subnet_refresh_interval: Option<Span>,
    /// Time from one question for the security groups of a class to the next, 1m by default and at least. Environment:
    /// SECURITY_GROUP_REFRESH_INTERVAL.
    #[arg(long, help_heading = "AWS", value_name = "DURATION", value_parser = interval)]
    pub(crate) security_group_refresh_interval: Option<Span>,
    /// Refused: zonal shifts are not followed. Environment: ENABLE_ZONAL_SHIFT.
    #[arg(long, help_heading = "AWS", value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) enable_zonal_shift: Option<bool>,
    /// Gates of AWS, such as NodeClassCEL=false; none has an effect: NodeClassCEL, DRANVIDIAGPU, DRAEFA and RebootForRepair are logged where
    /// they are open. Environment: AWS_FEATURE_GATES.
    #[arg(
        long = "aws-feature-gates",
        id = "aws-feature-gates",
        help_heading = "AWS",
        value_name = "GATES"
    )]
    pub(crate) gates: Option<String>,
}

/// The shortest time between two questions that may be asked for: Karpenter's time.
const SHORTEST: Span = Span::from_secs(60);

/// A time between two questions as it is typed; a sentence where it is none.
pub(crate) fn interval(text: &str) -> Result<Span, String> {
    let span = duration::parse(text).filter(|span| *span >= SHORTEST);
    span.ok_or_else(|| "expected a duration of at least 1m, such as 5m or 1h30m".to_owned())
}

/// A share of memory as it is typed; a sentence where it is none.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok();
    let share = share.filter(|share| (0.0..1.0).contains(share));
    share.ok_or_else(|| "expected a share of at least 0 and below 1, such as 0.075".to_owned())
}

impl Aws {
    /// Flags that were given.
    pub(crate) fn given(&self) -> Vec<&'static str> {
        let all = [
            ("--cluster-name", self.cluster_name.is_some()),
            ("--cluster-endpoint", self.cluster_endpoint.is_some()),
            ("--cluster-ca-bundle", self.cluster_ca_bundle.is_some()),
            (
                "--vm-memory-overhead-percent",
                self.vm_memory_overhead_percent.is_some(),
            ),
            ("--reserved-enis", self.reserved_enis.is_some()),
            ("--isolated-vpc", self.isolated_vpc.is_some()),
            ("--disable-dry-run", self.disable_dry_run.is_some()),
            ("--interruption-queue", self.interruption_queue.is_some()),
            ("--eks-control-plane", self.eks_control_plane.is_some()),
            (
                "--ami-refresh-interval",
                self.ami_refresh_interval.is_some(),
            ),
            (
                "--subnet-refresh-interval",
                self.subnet_refresh_interval.is_some(),
            ),
            (
                "--security-group-refresh-interval",
                self.security_group_refresh_interval.is_some(),
            ),
            ("--enable-zonal-shift", self.enable_zonal_shift.is_some()),
            ("--aws-feature-gates", self.gates.is_some()),
        ];
        let given = all.into_iter().filter(|(_, is_given)| *is_given);
        given.map(|(flag, _)| flag).collect()
    }
}
