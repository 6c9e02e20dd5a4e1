//! A cloud on loopback for tests: the services of AWS that a node autoscaler calls, in their wire formats, as strict as the real ones.
//!
//! ```text
//! request ─► service, by the credential's scope ─► input as a tree ─► rates, rights, faults ─► World ─► answer as a tree ─► the service's format
//! ```
//!
//! What a request changes is in [`World`], which tests read and change as well; every call is in a log with its input and outcome.

mod call;
mod clock;
mod ec2;
mod eks;
mod event;
mod fault;
mod form;
mod iam;
mod iam_policy;
mod pricing;
mod rate;
mod sending;
mod server;
mod sqs;
mod ssm;
mod sts;
mod wire;
mod world;
mod xml;

pub use call::{Call, Service};
pub use clock::Clock;
pub use event::Event;
pub use fault::{Effect, Fault, ScriptedFault};
pub use iam_policy::{AskedRight, Policy, PolicyError};
pub use rate::{Rate, usual_instance_rates, usual_rates};
pub use server::{Cloud, Options};
pub use sts::Trust;
pub use world::{
    CapacityPool, Cluster, Delays, Health, Image, Instance, InstanceProfile, LaunchTemplate,
    Message, Queue, SecurityGroup, State, StateReason, Subnet, Tags, World,
};
