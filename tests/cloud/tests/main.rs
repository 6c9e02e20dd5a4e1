//! The cloud over its wire: calls as clients send them, answers as they read them.

mod boto;
mod client;
mod faults;
mod instances;
mod queues;
mod rights;
mod services;
