//! Requirements that nodes of a type satisfy: every well-known label has its values or is said to be absent.
//!
//! A well-known label that nothing is said of would count as "may be anything" on a new node, so absence is said outright.
//! Requirements repeat from type to type; each is made once and copied.

use std::borrow::Cow;
use std::collections::BTreeMap;

use plimsoll_core::labels::{self, LabelKey};
use plimsoll_core::requirement::{Requirement, Requirements};

use crate::instance_type::InstanceType;

const HYPERVISOR: &str = "karpenter.k8s.aws/instance-hypervisor";
const TENANCY: &str = "karpenter.k8s.aws/instance-tenancy";

/// The well-known labels that a type decides, sorted. Zone, capacity type, pool and the reservation's id are not a type's.
const DECIDED: [&str; 32] = [
    "karpenter.k8s.aws/capacity-reservation-interruptible",
    "karpenter.k8s.aws/capacity-reservation-type",
    "karpenter.k8s.aws/instance-accelerator-count",
    "karpenter.k8s.aws/instance-accelerator-manufacturer",
    "karpenter.k8s.aws/instance-accelerator-name",
    "karpenter.k8s.aws/instance-capability-flex",
    "karpenter.k8s.aws/instance-category",
    "karpenter.k8s.aws/instance-cpu",
    "karpenter.k8s.aws/instance-cpu-manufacturer",
    "karpenter.k8s.aws/instance-cpu-sustained-clock-speed-mhz",
    "karpenter.k8s.aws/instance-ebs-bandwidth",
    "karpenter.k8s.aws/instance-encryption-in-transit-supported",
    "karpenter.k8s.aws/instance-family",
    "karpenter.k8s.aws/instance-generation",
    "karpenter.k8s.aws/instance-gpu-count",
    "karpenter.k8s.aws/instance-gpu-manufacturer",
    "karpenter.k8s.aws/instance-gpu-memory",
    "karpenter.k8s.aws/instance-gpu-name",
    HYPERVISOR,
    "karpenter.k8s.aws/instance-local-nvme",
    "karpenter.k8s.aws/instance-memory",
    "karpenter.k8s.aws/instance-network-bandwidth",
    "karpenter.k8s.aws/instance-size",
    TENANCY,
    "karpenter.k8s.aws/nitro-sandbox",
    "karpenter.k8s.aws/placement-group-id",
    "karpenter.k8s.aws/placement-group-partition",
    labels::ARCH,
    labels::OS,
    labels::INSTANCE_TYPE,
    labels::WINDOWS_BUILD,
    labels::REGION,
];

/// Makes the requirements of the types of one region.
pub(super) struct RequirementsOfTypes {
    region: &'static str,
    by_key: Vec<Known>,
}

/// A key with the requirements made of it so far, by value.
struct Known {
    key: &'static str,
    absent: Requirement,
    by_value: BTreeMap<Cow<'static, str>, Requirement>,
}

impl Known {
    fn new(key: &'static str) -> Self {
        Self {
            key,
            absent: Requirement::does_not_exist(LabelKey::from(key)),
            by_value: BTreeMap::new(),
        }
    }

    /// `key In [value]`.
    fn is(&mut self, value: Cow<'static, str>) -> Requirement {
        if let Some(known) = self.by_value.get(&value) {
            return known.clone();
        }
        let made = Requirement::one_of(self.absent.key().clone(), [value.as_ref()]);
        self.by_value.insert(value, made.clone());
        made
    }
}

impl RequirementsOfTypes {
    /// For types bought in `region`.
    pub(super) fn new(region: &'static str) -> Self {
        Self {
            region,
            by_key: DECIDED.map(Known::new).into(),
        }
    }

    /// Requirements that nodes of a type satisfy, whatever their zone and capacity type.
    pub(super) fn of(&mut self, facts: &InstanceType) -> Requirements {
        let mut documented = facts.labels().into_iter().peekable();
        let mut result = Requirements::new();
        for known in &mut self.by_key {
            result.replace(match documented.next_if(|(key, _)| *key == known.key) {
                Some((_, value)) => known.is(value),
                None if known.key == labels::REGION => known.is(self.region.into()),
                None if known.key == TENANCY => {
                    Requirement::one_of(known.absent.key().clone(), ["dedicated", "default"])
                }
                // EC2 answers the empty text for bare metal, and that is what the label holds.
                None if known.key == HYPERVISOR => known.is("".into()),
                None => known.absent.clone(),
            });
        }
        assert_eq!(
            documented.next(),
            None,
            "every documented label is among the decided keys, in the same order"
        );
        result
    }
}
