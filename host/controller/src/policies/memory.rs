//! The memory of one Policy, which its status keeps for the next controller: modules that served well, and modules that kept failing.
//!
//! A module is told from others by its digest and its settings: other settings are another module, which has a chance of its own.

use std::collections::BTreeSet;

use plimsoll_api::kinds::{PolicyStatus, RememberedModule};

/// Modules that served well: the one that serves, and the one that stands in for it.
const GOOD: usize = 2;
/// Modules that kept failing, the newest.
const QUARANTINED: usize = 8;

/// Modules of a Policy that are remembered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Memory {
    /// Modules that served well, the newest first.
    pub(super) good: Vec<RememberedModule>,
    /// Modules that are set aside, the newest first.
    pub(super) quarantined: Vec<RememberedModule>,
}

impl Memory {
    /// The memory that a status keeps.
    pub(super) fn of(status: Option<&PolicyStatus>) -> Self {
        status.map_or_else(Self::default, |status| Self {
            good: status.last_good.clone(),
            quarantined: status.quarantined.clone(),
        })
    }

    pub(super) fn is_quarantined(&self, module: &RememberedModule) -> bool {
        self.quarantined.contains(module)
    }

    /// The last good module besides this one; `None` where there is none.
    pub(super) fn behind(&self, module: &RememberedModule) -> Option<&RememberedModule> {
        self.good.iter().find(|good| *good != module)
    }

    /// A module serves and is followed, from now on or again.
    pub(super) fn followed(&mut self, module: &RememberedModule) {
        self.quarantined.retain(|own| own != module);
        put_first(&mut self.good, module, GOOD);
    }

    /// A module is set aside, since it kept failing.
    pub(super) fn set_aside(&mut self, module: &RememberedModule) {
        self.good.retain(|own| own != module);
        put_first(&mut self.quarantined, module, QUARANTINED);
    }

    /// A module that does not serve itself answers again: it may stand in for the one that does.
    pub(super) fn forgiven(&mut self, module: &RememberedModule) {
        self.quarantined.retain(|own| own != module);
        if self.good.len() < GOOD && !self.good.contains(module) {
            self.good.push(module.clone());
        }
    }

    /// A module cannot serve again.
    pub(super) fn forget(&mut self, module: &RememberedModule) {
        self.good.retain(|own| own != module);
    }

    /// Digests of the modules that may have to serve again.
    pub(super) fn digests(&self) -> BTreeSet<String> {
        self.good.iter().map(|good| good.digest.clone()).collect()
    }
}

fn put_first(modules: &mut Vec<RememberedModule>, module: &RememberedModule, most: usize) {
    modules.retain(|own| own != module);
    modules.insert(0, module.clone());
    modules.truncate(most);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(digest: &str, hours: &str) -> RememberedModule {
        RememberedModule {
            digest: digest.to_owned(),
            settings: [("hours".to_owned(), hours.to_owned())].into(),
        }
    }

    #[test]
    fn the_module_that_serves_and_the_one_behind_it_are_remembered_and_no_more() {
        let mut memory = Memory::default();
        for digest in ["a", "b", "c"] {
            memory.followed(&module(digest, "1"));
        }
        assert_eq!(memory.good, [module("c", "1"), module("b", "1")]);
        assert_eq!(memory.behind(&module("c", "1")), Some(&module("b", "1")));
        // An earlier one again is no other one.
        memory.followed(&module("b", "1"));
        assert_eq!(memory.good, [module("b", "1"), module("c", "1")]);
        assert_eq!(memory.digests().len(), 2);
    }

    #[test]
    fn a_module_that_is_set_aside_is_good_again_only_once_it_is_followed() {
        let mut memory = Memory::default();
        memory.followed(&module("a", "1"));
        memory.followed(&module("b", "1"));
        memory.set_aside(&module("b", "1"));
        assert_eq!(memory.good, [module("a", "1")]);
        assert!(memory.is_quarantined(&module("b", "1")));
        assert!(
            !memory.is_quarantined(&module("b", "2")),
            "other settings have their chance"
        );
        memory.followed(&module("b", "1"));
        assert!(!memory.is_quarantined(&module("b", "1")));
        assert_eq!(memory.good, [module("b", "1"), module("a", "1")]);
    }

    #[test]
    fn a_module_that_stands_in_is_good_again_behind_the_one_that_serves() {
        let mut memory = Memory::default();
        memory.followed(&module("a", "1"));
        memory.followed(&module("b", "1"));
        memory.set_aside(&module("a", "1"));
        memory.forgiven(&module("a", "1"));
        assert_eq!(memory.good, [module("b", "1"), module("a", "1")]);
        memory.forget(&module("a", "1"));
        assert_eq!(memory.good, [module("b", "1")]);
    }

    #[test]
    fn a_status_gives_back_what_was_remembered() {
        let mut memory = Memory::default();
        memory.followed(&module("a", "1"));
        memory.set_aside(&module("b", "2"));
        let status = PolicyStatus {
            last_good: memory.good.clone(),
            quarantined: memory.quarantined.clone(),
            ..PolicyStatus::default()
        };
        assert_eq!(Memory::of(Some(&status)), memory);
        assert_eq!(Memory::of(None), Memory::default());
    }
}
