//! The ConfigMaps of one module, watched as one: the one that its Policy names, and those with its further parts where it has any.
//!
//! A module in parts is told once all its ConfigMaps have been looked for. A part whose ConfigMap is not there is left out, which the gates
//! then name.

use std::collections::BTreeMap;

use futures_util::StreamExt;
use futures_util::stream::{BoxStream, SelectAll, unfold};
use kube::Client;
use plimsoll_base::ids::ObjectName;
use plimsoll_kube::module::{ModuleError, Stored, Watched};
use plimsoll_policy::{part_name, parts_elsewhere};

type Told = Result<Option<Stored>, ModuleError>;

/// The ConfigMaps of a module.
pub(super) struct ModuleMaps {
    client: Client,
    name: ObjectName,
    named: Watched,
    known: Known,
    changes: SelectAll<BoxStream<'static, (usize, Told)>>,
}

impl ModuleMaps {
    /// Begins to watch; the first that it tells is what there is.
    pub(super) fn start(client: &Client, name: &ObjectName) -> Self {
        Self {
            client: client.clone(),
            name: name.clone(),
            named: Watched::start(client, name.clone()),
            known: Known::default(),
            changes: SelectAll::new(),
        }
    }

    /// The named ConfigMap.
    pub(super) fn name(&self) -> &ObjectName {
        &self.name
    }

    /// The module's entries after the next change, or nothing where the named ConfigMap is gone. `None` once nothing more is told.
    pub(super) async fn next(&mut self) -> Option<Told> {
        loop {
            let told = tokio::select! {
                told = self.named.next() => self.named_told(told?),
                Some((part, told)) = self.changes.next() => {
                    told.map(|map| self.known.part_told(part, map))
                }
            };
            match told {
                Err(error) => return Some(Err(error)),
                Ok(()) if self.known.is_told() => return Some(Ok(self.known.whole())),
                Ok(()) => {}
            }
        }
    }

    /// Takes in the named ConfigMap, and watches those of the parts that it does not hold.
    fn named_told(&mut self, told: Told) -> Result<(), ModuleError> {
        if self.known.named_told(told?) {
            let parts = self.known.parts.keys();
            let watched = parts.map(|part| self.watch(*part));
            self.changes = watched.collect();
        }
        Ok(())
    }

    fn watch(&self, part: usize) -> BoxStream<'static, (usize, Told)> {
        let name = part_name(&self.name.name, part);
        let name = ObjectName::new(&*self.name.namespace, name.as_str());
        let watched = Watched::start(&self.client, name);
        let next = move |mut watched: Watched| async move {
            let told = watched.next().await?;
            Some(((part, told), watched))
        };
        unfold(watched, next).boxed()
    }
}

/// What has been told of a module's ConfigMaps.
#[derive(Debug, Default)]
struct Known {
    /// The named one, if it is there.
    named: Option<Stored>,
    parts: BTreeMap<usize, Part>,
}

/// A part in a ConfigMap of its own.
#[derive(Debug)]
struct Part {
    key: String,
    is_told: bool,
    /// `None` where its ConfigMap is not there, or does not hold it.
    bytes: Option<Vec<u8>>,
}

impl Known {
    /// Takes in the named ConfigMap. `true` if other parts are needed than before.
    fn named_told(&mut self, map: Option<Stored>) -> bool {
        let needed = map.as_ref().map(|map| parts_elsewhere(&map.entries));
        let needed = needed.unwrap_or_default();
        self.named = map;
        let known = self.parts.iter().map(|(part, own)| (part, &own.key));
        if needed.iter().eq(known) {
            return false;
        }
        let part = |(part, key)| {
            let untold = Part {
                key,
                is_told: false,
                bytes: None,
            };
            (part, untold)
        };
        self.parts = needed.into_iter().map(part).collect();
        true
    }

    fn part_told(&mut self, part: usize, map: Option<Stored>) {
        if let Some(part) = self.parts.get_mut(&part) {
            part.is_told = true;
            part.bytes = map.and_then(|mut map| map.entries.remove(&part.key));
        }
    }

    /// `true` if every ConfigMap of the module has been looked for.
    fn is_told(&self) -> bool {
        self.parts.values().all(|part| part.is_told)
    }

    /// All entries of the module that are there; `None` where the named ConfigMap is gone.
    fn whole(&self) -> Option<Stored> {
        let mut whole = self.named.clone()?;
        let parts = self.parts.values();
        let bytes = parts.filter_map(|part| Some((part.key.clone(), part.bytes.clone()?)));
        whole.entries.extend(bytes);
        Some(whole)
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_policy::{Entries, MOST_BYTES, WHOLE, assemble, lay_out};

    use super::*;

    fn map(entries: &Entries) -> Stored {
        Stored {
            entries: entries.clone(),
            ..Stored::default()
        }
    }

    #[test]
    fn a_module_in_parts_is_whole_once_every_map_has_been_looked_for() {
        let module = vec![7; 2 * MOST_BYTES];
        let maps = lay_out(module.clone(), "00");
        let mut known = Known::default();
        assert!(known.named_told(Some(map(&maps[0]))));
        assert!(!known.is_told());
        known.part_told(2, None);
        assert!(!known.is_told());
        // Of a part's map only the part counts.
        let mut second = maps[1].clone();
        second.insert(WHOLE[0].to_owned(), b"another".to_vec());
        known.part_told(1, Some(map(&second)));
        let assembled = |known: &Known| assemble(known.whole().unwrap().entries);
        let refusal = assembled(&known).unwrap_err().to_string();
        assert_eq!(refusal, "part-02, part 3 of 3, is missing");
        known.part_told(2, Some(map(&maps[2])));
        assert_eq!(assembled(&known).unwrap(), module);
        // The same again asks for nothing anew.
        assert!(!known.named_told(Some(map(&maps[0]))));
        assert_eq!(assembled(&known).unwrap(), module);
        known.named_told(None);
        assert!(known.is_told() && known.whole().is_none());
    }

    #[test]
    fn a_module_in_one_map_waits_for_no_other() {
        let mut known = Known::default();
        let maps = lay_out(b"module".to_vec(), "00");
        assert!(!known.named_told(Some(map(&maps[0]))));
        assert!(known.is_told());
        assert_eq!(known.whole(), Some(map(&maps[0])));
    }
}
