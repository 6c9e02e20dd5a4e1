//! Requirements that nodes of a type satisfy: every well-known label has its values or is said to be absent.
//!
//! A well-known label that nothing is said of would count as "may be anything" on a new node, so absence is said outright.
//! Requirements repeat from type to type; each is made once and copied.

use std::borrow::Cow;
use std::collections::BTreeMap;

use plimsoll_base::labels::{self, LabelKey};
use plimsoll_base::requirement::{Requirement, Requirements};

use crate::instance_type::InstanceType;
use crate::provider::provider;

const HYPERVISOR: &str = "karpenter.k8s.aws/instance-hypervisor";
const TENANCY: &str = "karpenter.k8s.aws/instance-tenancy";

/// Makes the requirements of the types of one region.
pub(super) struct RequirementsOfTypes {
    region: Requirement,
    by_key: Vec<Known>,
}

/// The requirements made of one key so far, by value; keys are in order.
struct Known {
    absent: Requirement,
    by_value: BTreeMap<Cow<'static, str>, Requirement>,
}

impl Known {
    fn new(key: LabelKey) -> Self {
        Self {
            absent: Requirement::does_not_exist(key),
            by_value: BTreeMap::new(),
        }
    }

    fn key(&self) -> &str {
        self.absent.key().as_str()
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
    pub(super) fn new(region: &str) -> Self {
        Self {
            region: Requirement::one_of(LabelKey::from(labels::REGION), [region]),
            by_key: provider()
                .keys_of_types()
                .into_iter()
                .map(Known::new)
                .collect(),
        }
    }

    /// Requirements that nodes of a type satisfy, whatever their zone and capacity type.
    pub(super) fn of(&mut self, facts: &InstanceType) -> Requirements {
        let mut documented = facts.labels().into_iter().peekable();
        let mut result = Requirements::new();
        for known in &mut self.by_key {
            result.replace(match documented.next_if(|(key, _)| *key == known.key()) {
                Some((_, value)) => known.is(value),
                None if known.key() == labels::REGION => self.region.clone(),
                None if known.key() == TENANCY => {
                    Requirement::one_of(known.absent.key().clone(), ["dedicated", "default"])
                }
                // EC2 answers the empty text for bare metal, and that is what the label holds.
                None if known.key() == HYPERVISOR => known.is("".into()),
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
