//! The cloud over its wire: calls as clients send them, answers as they read them.

mod client;
mod faults;
mod instances;
mod queues;
mod rights;
mod services;
