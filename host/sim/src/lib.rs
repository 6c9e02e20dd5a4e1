//! A cluster and a cloud on a virtual clock, for the engine to run in.
//!
//! The engine is the one that serves real clusters. Here its orders are carried out by a world of our own: an API server
//! with versions and a watch, a cloud that sells instances and takes some back, nodes that boot, the scheduler with its
//! default scoring, workloads that keep replicas. All draws are seeded, all sums are integers: the same input gives the
//! same bytes.
//!
//! [`Recording`] is what happens, [`Behaviour`] how instances behave, [`Planner`] who plans; [`Run`] plays it and ends in a
//! [`ScoreCard`].

mod api;
mod budgets;
mod by_hand;
mod card;
mod cloud;
mod execute;
mod fixed;
mod floor;
mod history;
mod input;
mod ladder;
mod loss;
mod meter;
mod money;
mod node;
mod planner;
mod process;
mod queue;
mod random;
mod run;
mod scheduler;
mod series;
mod share;
mod status;
mod stretches;
mod usage;
mod work;
mod workload;
mod world;

pub use card::{
    FaultWords, Fidelity, MOST_FAULT_WORDS, MOST_UNPLACED, NodeHours, ScoreCard, Unplaced, Waiting,
};
pub use fixed::FixedGroup;
pub use input::{
    Behaviour, Change, Delay, Deployment, Faults, Recording, ReplicaRule, Shortfall, Timed,
    TimedChange, Usage, Which,
};
pub use ladder::{FreshPrice, LadderStep, StepCost};
pub use loss::{Loss, Losses};
pub use planner::{Appraisal, Considered, Planned, Planner};
pub use process::{Fate, FirstList, Paused};
pub use random::Random;
pub use run::{REST, Run};
pub use scheduler::{Answer, Fit, NotPlayed, Refused, fits};
pub use series::{Figures, Series};
pub use share::thousandths;
pub use usage::{BUSY_PERCENT, BusySpan, Inflated, MOST_BUSY_SPANS, RequestsAndUse, UsageCard};
pub use workload::desired_replicas;
