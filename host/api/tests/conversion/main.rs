//! Objects as they are written, and all that the core knows of them.

mod annotations;
mod attachments;
mod disruption_budgets;
mod features;
mod host_ports;
mod pool_budgets;
mod resizes;
mod storage;
mod template_hash;
