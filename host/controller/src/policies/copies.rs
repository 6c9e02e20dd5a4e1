//! Copies of the modules that serve, in ConfigMaps of the controller's own namespace: what becomes of the ConfigMap that a Policy names
//! changes no decision, in this process or in the next.
//!
//! A copy is made once its module serves, and collected once no Policy serves or remembers it, by what the tasks of this process say and by
//! what the statuses of all Policies do. What comes out of a copy is held to its digest like any bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kube::{Client, Error};
use plimsoll_kube::module::Stored;
use plimsoll_kube::module_copy::{ModuleCopies, copy_name};
use plimsoll_kube::policy::remembered_digests;
use plimsoll_policy::{Engine, Entries, assemble, lay_out, part_name, parts_elsewhere};

/// The copies, and who needs which.
pub(super) struct Copies {
    client: Client,
    maps: ModuleCopies,
    needed: Mutex<Needed>,
    /// Digests whose copies are known to be there. Held while copies are made or collected.
    there: tokio::sync::Mutex<BTreeSet<String>>,
}

#[derive(Default)]
struct Needed {
    /// Digests by the Policies that may need their modules again.
    by_policy: BTreeMap<Arc<str>, BTreeSet<String>>,
    /// `true` if fewer may be needed than when copies were collected last.
    is_less: bool,
}

impl Copies {
    pub(super) fn new(client: Client, namespace: &str) -> Self {
        Self {
            maps: ModuleCopies::new(client.clone(), namespace),
            client,
            needed: Mutex::new(Needed {
                is_less: true,
                ..Needed::default()
            }),
            there: tokio::sync::Mutex::default(),
        }
    }

    /// Takes note of what a Policy needs from now on; nothing once it is gone.
    pub(super) fn need(&self, policy: &Arc<str>, digests: &BTreeSet<String>) {
        let mut needed = self.needed();
        let before = if digests.is_empty() {
            needed.by_policy.remove(policy)
        } else {
            needed.by_policy.insert(Arc::clone(policy), digests.clone())
        };
        let is_less = before.is_some_and(|before| !before.is_subset(digests));
        needed.is_less |= is_less;
    }

    /// The bytes of a module, as they were copied; `None` where there is no copy.
    pub(super) async fn read(&self, digest: &str) -> Result<Option<Stored>, Error> {
        let name = copy_name(digest);
        let Some(mut copy) = self.maps.read(&name).await? else {
            return Ok(None);
        };
        for (part, key) in parts_elsewhere(&copy.entries) {
            let map = self.maps.read(&part_name(&name, part)).await?;
            let bytes = map.and_then(|mut map| map.entries.remove(&key));
            copy.entries.extend(bytes.map(|bytes| (key, bytes)));
        }
        Ok(Some(copy))
    }

    /// Makes the copy of a module that is needed, unless it is there. Fails with the reason in words.
    pub(super) async fn make(
        &self,
        engine: &Engine,
        digest: &str,
        entries: Entries,
    ) -> Result<(), String> {
        let mut there = self.there.lock().await;
        if there.contains(digest) {
            return Ok(());
        }
        let words = |error: Error| error.to_string();
        let bytes = assemble(entries).map_err(|refusal| refusal.to_string())?;
        let found = self.read(digest).await.map_err(words)?;
        let stored = found.and_then(|copy| assemble(copy.entries).ok());
        let is_whole = stored.is_some_and(|stored| engine.verify(&stored, digest).is_ok());
        if !is_whole {
            // One that is broken, or whose making was cut short.
            let copies = self.maps.list().await.map_err(words)?;
            for broken in copies.iter().filter(|copy| copy.sha256 == digest) {
                self.maps.delete(broken).await.map_err(words)?;
            }
            self.create(digest, bytes).await.map_err(words)?;
        }
        there.insert(digest.to_owned());
        Ok(())
    }

    async fn create(&self, digest: &str, bytes: Vec<u8>) -> Result<(), Error> {
        let name = copy_name(digest);
        // The first comes last: where it is there, so are the others.
        let maps = lay_out(bytes, digest).into_iter().enumerate();
        for (part, entries) in maps.rev() {
            self.maps.create(&part_name(&name, part), entries).await?;
        }
        tracing::info!(sha256 = digest, "copied module");
        Ok(())
    }

    /// Deletes the copies that are not needed any more, if there may be any.
    pub(super) async fn collect(&self) -> Result<(), Error> {
        let mut there = self.there.lock().await;
        if !std::mem::take(&mut self.needed().is_less) {
            return Ok(());
        }
        let collected = self.collect_all(&mut there).await;
        self.needed().is_less |= collected.is_err();
        collected
    }

    async fn collect_all(&self, there: &mut BTreeSet<String>) -> Result<(), Error> {
        // Without the kind it is not known what Policies remember.
        let Some(mut needed) = remembered_digests(&self.client).await? else {
            return Ok(());
        };
        let copies = self.maps.list().await?;
        needed.extend(self.needed().by_policy.values().flatten().cloned());
        let mut collected = BTreeSet::new();
        for copy in copies.iter().filter(|copy| !needed.contains(&copy.sha256)) {
            there.remove(&copy.sha256);
            self.maps.delete(copy).await?;
            collected.insert(&copy.sha256);
        }
        for sha256 in collected {
            tracing::info!(sha256, "collected the copy of a module");
        }
        Ok(())
    }

    fn needed(&self) -> MutexGuard<'_, Needed> {
        self.needed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
