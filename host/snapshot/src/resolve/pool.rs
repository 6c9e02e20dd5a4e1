//! The pool taken where a file has none.

use plimsoll_base::ids::{PoolName, Uid};
use plimsoll_base::labels::{self, LabelKey, Labels};
use plimsoll_base::requirement::Requirement;
use plimsoll_base::time::Span;
use plimsoll_model::{
    Ceilings, NamedPolicies, NodePool, PackingMode, PoolDisruption, Status, Unread, WrittenTemplate,
};

use super::class::class_on_ec2;

/// Any Linux instance on amd64 of a class at list price, without limits. Spot and other architectures are for those who ask.
pub(super) fn default_pool(class: &str) -> NodePool {
    let one = |key: &str, value: &str| Requirement::one_of(LabelKey::from(key), [value]);
    NodePool {
        name: PoolName::from("default"),
        uid: Uid::from("/default"),
        weight: 0,
        class: class_on_ec2(class),
        labels: Labels::new(),
        annotations: Labels::new(),
        requirements: vec![
            one(labels::OS, "linux"),
            one(labels::ARCH, "amd64"),
            one(labels::CAPACITY_TYPE, "on-demand"),
        ],
        taints: Vec::new(),
        startup_taints: Vec::new(),
        limits: None,
        expire_after: Some(Span::from_secs(720 * 3600)),
        termination_grace: None,
        replicas: None,
        ready: true,
        deleting: None,
        disruption: PoolDisruption::default(),
        packing: PackingMode::Price,
        ceilings: Ceilings::default(),
        own_labels: Labels::new(),
        policies: NamedPolicies::default(),
        written: WrittenTemplate::default(),
        unread: Unread::default(),
        status: Status::default(),
    }
}
