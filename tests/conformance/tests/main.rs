//! The controller against a real control plane: what it plans, what then happens, and what the simulator says of it.

mod daemons;
mod fidelity;
mod forecast;
mod live;
mod newer;
mod ports;
mod scaled;
mod writes;
