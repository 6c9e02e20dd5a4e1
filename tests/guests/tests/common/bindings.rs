//! Policies of one hook that serve every pool, and their successors.

use std::sync::Arc;

use plimsoll_policy::{Binding, Generation, Generations, Hook, Successor};

/// The name and pools of the first policy of a hook.
pub(crate) fn replaced(generations: &Generations, hook: Hook) -> Binding {
    let serving = generations.current();
    let name = serving.names(hook).first().copied().unwrap_or("policy");
    Binding::of_all(name)
}

/// Puts a module in the place of the first policy of a hook.
pub(crate) fn replace(generations: &Generations, hook: Hook, module: Successor) -> Arc<Generation> {
    generations.publish(&replaced(generations, hook), module)
}
