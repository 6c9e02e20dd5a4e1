//! Objects as they are written, and all that the core knows of them.

mod annotations;
mod attachments;
mod disruption_budgets;
mod features;
mod host_ports;
mod odd_values;
mod pool_budgets;
mod resizes;
mod storage;
mod template_hash;
