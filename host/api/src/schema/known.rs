//! Names that all rules share: reserved domains, keys of the provider for AWS, tags and resources that are not the user's.

/// Domain of the project's own keys.
pub(crate) const KARPENTER_DOMAIN: &str = "karpenter.sh";
/// Keys of the provider that only pools and claims may ask for, not overlays.
pub(crate) const NOT_FOR_OVERLAYS: [&str; 6] = [
    "instance-tenancy",
    "capacity-reservation-type",
    "capacity-reservation-id",
    "capacity-reservation-interruptible",
    "placement-group-id",
    "placement-group-partition",
];
/// Keys of the provider that everybody may ask for.
pub(crate) const OF_PROVIDER: [&str; 23] = [
    "ec2nodeclass",
    "instance-encryption-in-transit-supported",
    "nitro-sandbox",
    "instance-category",
    "instance-hypervisor",
    "instance-family",
    "instance-generation",
    "instance-local-nvme",
    "instance-size",
    "instance-cpu",
    "instance-cpu-manufacturer",
    "instance-cpu-sustained-clock-speed-mhz",
    "instance-memory",
    "instance-ebs-bandwidth",
    "instance-network-bandwidth",
    "instance-gpu-name",
    "instance-gpu-manufacturer",
    "instance-gpu-count",
    "instance-gpu-memory",
    "instance-accelerator-name",
    "instance-accelerator-manufacturer",
    "instance-accelerator-count",
    "instance-capability-flex",
];

/// Resources that a type has by itself; an overlay adds others.
pub(crate) const OF_TYPES: [&str; 4] = ["cpu", "memory", "ephemeral-storage", "pods"];

/// Families that an alias may name, as an alias and as `amiFamily` write them.
pub(crate) const FAMILIES: [(&str, &str); 6] = [
    ("al2", "AL2"),
    ("al2023", "AL2023"),
    ("bottlerocket", "Bottlerocket"),
    ("windows2019", "Windows2019"),
    ("windows2022", "Windows2022"),
    ("windows2025", "Windows2025"),
];

/// Tags that the controller writes itself.
pub(crate) const OWN_TAGS: [&str; 4] = [
    "karpenter.sh/nodepool",
    "karpenter.sh/nodeclaim",
    "karpenter.k8s.aws/ec2nodeclass",
    "eks:eks-cluster-name",
];
/// Begin of the tags that tie a resource to a cluster.
pub(crate) const CLUSTER_TAG: &str = "kubernetes.io/cluster";

/// Who uses a key, since not everybody may use every key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    /// A requirement or a label of a pool's template.
    Pool,
    /// A requirement of a claim.
    Claim,
    /// A requirement of an overlay.
    Overlay,
}

impl Use {
    /// `true` if the user may ask for a key of the provider for AWS; `name` is without its domain.
    pub(crate) fn allows(self, name: &str) -> bool {
        OF_PROVIDER.contains(&name) || self != Self::Overlay && NOT_FOR_OVERLAYS.contains(&name)
    }
}

/// Keys of the provider for AWS, without their domain, that the user may ask for.
pub(crate) fn provider_keys(by: Use) -> impl Iterator<Item = &'static str> {
    let all = OF_PROVIDER.into_iter().chain(NOT_FOR_OVERLAYS);
    all.filter(move |name| by.allows(name))
}
