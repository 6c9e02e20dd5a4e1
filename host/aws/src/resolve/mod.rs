//! Selectors of a class, resolved: what to ask EC2, and what its answers come to. Nothing here asks.

pub(crate) mod alias;
pub(crate) mod images;
pub(crate) mod kept;
pub(crate) mod network;
pub(crate) mod profile;
pub(crate) mod unused_profiles;

use plimsoll_api::kinds::Tags;

/// Something to look for. All filters hold of it; of each filter one of its values.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Query {
    /// Names of filters with their values.
    pub filters: Vec<(String, Vec<String>)>,
    /// Accounts that own it, or `self` and the like; any where empty.
    pub owners: Vec<String>,
}

impl Query {
    fn with(mut self, name: &str, values: impl IntoIterator<Item = String>) -> Self {
        let values: Vec<String> = values.into_iter().collect();
        if !values.is_empty() {
            self.filters.push((name.to_owned(), values));
        }
        self
    }

    /// With tags, of which `*` asks for the key alone.
    fn with_tags(self, tags: &Tags) -> Self {
        tags.iter()
            .fold(self, |query, (key, value)| match value.as_str() {
                "*" => query.with("tag-key", [key.clone()]),
                value => query.with(&format!("tag:{key}"), [value.to_owned()]),
            })
    }
}

/// Queries for what is named, all names in one query; none where nothing is.
fn named<'t>(filter: &str, names: impl Iterator<Item = Option<&'t String>>) -> Option<Query> {
    let names: Vec<String> = names.flatten().cloned().collect();
    (!names.is_empty()).then(|| Query::default().with(filter, names))
}
