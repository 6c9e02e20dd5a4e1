//! Objects as they are written, and all that the core knows of them.

mod annotations;
mod attachments;
mod disruption_budgets;
mod pool_budgets;
mod template_hash;
