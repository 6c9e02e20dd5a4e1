//! EC2NodeClasses: what they say, what it stands for, and how they are.

pub(crate) mod conditions;
pub(crate) mod dry_run;
pub(crate) mod family;
pub(crate) mod hash;
pub(crate) mod kubelet;
pub(crate) mod queue;
pub(crate) mod reconcile;
pub(crate) mod retire;
pub mod tags;
pub(crate) mod trial;
