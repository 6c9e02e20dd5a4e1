//! A consistent read of a kind: how far it had come when the server was asked, and which objects it had, by version.

use std::collections::BTreeMap;

use kube::api::ListParams;
use kube::{Client, Error, ResourceExt};
use plimsoll_api::Kind;
use plimsoll_model::Version;

use super::index::Key;
use crate::resource::{api, parsed};

/// Objects in one answer.
const PAGE: u32 = 500;

/// Extent of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// The version alone: cheap, and enough where the kind goes on changing.
    Version,
    /// The version of every object, too: a quiet kind's watch may say nothing for long.
    Objects,
}

/// An answer to a consistent read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    /// Version of the kind, at least that of every write that had been answered when the read began.
    pub version: Version,
    /// Version of every object; `None` where only the kind's was asked for.
    pub objects: Option<BTreeMap<Key, Version>>,
}

/// Asks the API server, not its caches. Objects come without their contents.
pub async fn read(client: Client, kind: Kind, depth: Depth) -> Result<Read, Error> {
    let api = api(&client, kind);
    let limit = match depth {
        Depth::Version => 1,
        Depth::Objects => PAGE,
    };
    let mut parameters = ListParams::default().limit(limit);
    let mut objects = BTreeMap::new();
    loop {
        let page = api.list_metadata(&parameters).await?;
        let version = parsed(
            page.metadata
                .resource_version
                .as_deref()
                .unwrap_or_default(),
        );
        let next = page.metadata.continue_.filter(|next| !next.is_empty());
        let listed = page.items.into_iter().map(|object| {
            let version = parsed(object.resource_version().as_deref().unwrap_or_default());
            let key = (object.namespace().unwrap_or_default(), object.name_any());
            (key, version)
        });
        objects.extend(listed);
        // Of an answer that has all there is the objects are known, however few were asked for.
        let is_whole = next.is_none();
        if is_whole || depth == Depth::Version {
            return Ok(Read {
                version,
                objects: is_whole.then_some(objects),
            });
        }
        parameters.continue_token = next;
    }
}
