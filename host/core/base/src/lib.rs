//! Values that everything is made of: identifiers, quantities, times, prices, requirements.

pub mod batch;
pub mod bits;
pub mod cron;
pub mod event_reason;
pub mod fixed_hash;
pub mod ids;
pub mod labels;
pub mod parallel;
pub mod quantity;
pub mod requirement;
pub mod resources;
pub mod structure_hash;
pub mod time;
pub mod units;
pub mod words;
