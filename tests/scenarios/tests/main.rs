//! One program for all scripts and laws: each file linked by itself would take longer to build than to run.

mod adversaries;
mod agreement;
mod answers;
mod boundaries;
mod classes;
mod comparisons;
mod driven;
mod forgets;
mod found;
mod laws;
mod learned;
mod nominations;
mod pool_status;
mod reserved;
mod restarts;
mod runaway;
mod runs;
mod scripts;
mod shrinks;
mod spare;
mod stale;
mod static_pools;
mod told;
mod usage;
