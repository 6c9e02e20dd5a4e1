//! Plans of random clusters before the real scheduler.
//!
//! [`generate`] draws a cluster as Kubernetes manifests. They go through the product's own file reading and planner ([`planned`]) on one
//! side, and to the scheduler of Kubernetes in process ([`scheduler`]) on the other, which is asked about every placement, every
//! refusal and, now and then, about every order in which the pods might bind ([`verdict`]). Nothing that the judge says comes from
//! the core's model: what may be bought is read from pools and catalogue as they are written ([`market`]), and what pools may still
//! buy is counted from there ([`count`]). The simulator's own scheduler is held against the same judge, pod by pod and node by node
//! ([`simulated`]), on the cluster as it is drawn and once more [stirred](mod@stir).

mod binding;
pub mod case;
pub mod count;
pub mod defect;
pub mod feature;
pub mod generate;
pub mod market;
pub mod mutation;
pub mod planned;
pub mod quantity;
pub mod run;
pub mod scheduler;
pub mod shrink;
pub mod simulated;
pub mod stir;
pub mod verdict;
pub mod zone_rules;
