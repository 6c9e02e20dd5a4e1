//! Selectors of a class, resolved: what to ask EC2, and what its answers come to. Nothing here asks.

pub(crate) mod alias;
pub(crate) mod empty_terms;
pub(crate) mod images;
pub(crate) mod kept;
pub(crate) mod network;
pub(crate) mod profile;
pub(crate) mod unused_profiles;

use plimsoll_api::kinds::Tags;

/// Something to look for. All filters hold of it; of each filter one of its values.
///
/// It is made of values to look for and cannot be made without any: to EC2 a question without a filter asks for everything that there is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Query {
    filters: Vec<(String, Vec<String>)>,
    owners: Vec<String>,
}

impl Query {
    /// Query for one of these values; `None` where there are none, or only empty ones.
    fn one_of(filter: &str, values: impl IntoIterator<Item = String>) -> Option<Self> {
        let values = values.into_iter().filter(|value| !value.is_empty());
        let values: Vec<String> = values.collect();
        (!values.is_empty()).then(|| Self {
            filters: vec![(filter.to_owned(), values)],
            owners: Vec::new(),
        })
    }

    /// Query for all of these tags, of which `*` asks for the key alone; `None` where there are none.
    fn tagged(tags: &Tags) -> Option<Self> {
        let of_tag = |(key, value): (&String, &String)| match value.as_str() {
            _ if key.is_empty() => None,
            "*" => Self::one_of("tag-key", [key.clone()]),
            value => Self::one_of(&format!("tag:{key}"), [value.to_owned()]),
        };
        let each: Option<Vec<Self>> = tags.iter().map(of_tag).collect();
        each?.into_iter().reduce(Self::and)
    }

    /// Query for what both find, with the owners of the first.
    fn and(mut self, other: Self) -> Self {
        self.filters.extend(other.filters);
        self
    }

    /// The same among what these accounts own, or `self` and the like; anybody's where there are none.
    fn owned_by(mut self, owners: Vec<String>) -> Self {
        self.owners = owners;
        self
    }

    /// Names of filters with their values: at least one of each.
    pub(crate) fn filters(&self) -> &[(String, Vec<String>)] {
        &self.filters
    }

    /// Accounts that own it, or `self` and the like; any where empty.
    pub(crate) fn owners(&self) -> &[String] {
        &self.owners
    }
}

/// Queries for what is named, all names in one query; none where nothing is.
fn named<'t>(filter: &str, names: impl Iterator<Item = Option<&'t String>>) -> Option<Query> {
    Query::one_of(filter, names.flatten().cloned())
}
