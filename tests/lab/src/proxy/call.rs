//! Requests as rules name them: verb, resource, object; read from method and address alone.

use http::{Method, Uri};

/// The action that a request asks for, as the API server names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// One object is read.
    Get,
    /// All objects are read.
    List,
    /// Changes are followed.
    Watch,
    /// An object is made.
    Create,
    /// An object is replaced.
    Update,
    /// Fields of an object are changed.
    Patch,
    /// An object, or several, are to go.
    Delete,
}

impl Verb {
    /// Every verb that changes something.
    pub const WRITES: [Self; 4] = [Self::Create, Self::Update, Self::Patch, Self::Delete];

    /// The verb as rules of roles name it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::List => "list",
            Self::Watch => "watch",
            Self::Create => "create",
            Self::Update => "update",
            Self::Patch => "patch",
            Self::Delete => "delete",
        }
    }
}

/// One request, as far as rules look at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The action asked for.
    pub verb: Verb,
    /// Group of the kind; empty for the core group, and for what is no object.
    pub group: String,
    /// Plural of the kind, with the subresource where one is meant: `pods`, `pods/eviction`. Empty for what is no object.
    pub resource: String,
    /// Namespace of the object; `None` for what has none, and where all namespaces are meant.
    pub namespace: Option<String>,
    /// Name of the object, also where a list or watch selects it by its name; `None` where none is named.
    pub name: Option<String>,
}

impl Call {
    /// Reads a request.
    pub(super) fn read(method: &Method, uri: &Uri) -> Self {
        let mut parts = uri.path().split('/').filter(|part| !part.is_empty());
        let group = match parts.next() {
            Some("api") => Some(""),
            Some("apis") => parts.next(),
            _ => None,
        };
        // Behind the group comes its version.
        let mut parts: Vec<&str> = parts.skip(1).collect();
        if group.is_none() {
            parts.clear();
        }
        let namespace = (parts.len() > 2 && parts[0] == "namespaces" && !is_part(parts[2]))
            .then(|| parts.drain(..2).nth(1).map(ToOwned::to_owned))
            .flatten();
        let mut parts = parts.into_iter();
        let plural = parts.next().unwrap_or_default();
        let mut name = parts.next().map(ToOwned::to_owned);
        let resource = match parts.next() {
            Some(part) => format!("{plural}/{part}"),
            None => plural.to_owned(),
        };
        let verb = match *method {
            Method::POST => Verb::Create,
            Method::PUT => Verb::Update,
            Method::PATCH => Verb::Patch,
            Method::DELETE => Verb::Delete,
            _ if asks(uri, "watch", &["true", "1"]) => Verb::Watch,
            _ if name.is_none() => Verb::List,
            _ => Verb::Get,
        };
        if matches!(verb, Verb::List | Verb::Watch) {
            name = name.or_else(|| selected(uri).map(ToOwned::to_owned));
        }
        Self {
            verb,
            group: group.unwrap_or_default().to_owned(),
            resource,
            namespace,
            name,
        }
    }

    /// `true` if the request changes something.
    pub fn is_write(&self) -> bool {
        Verb::WRITES.contains(&self.verb)
    }
}

/// Parts of a namespace itself, where other names would be resources in it.
fn is_part(word: &str) -> bool {
    ["status", "finalize"].contains(&word)
}

/// `true` if the query gives a field one of these values.
pub(super) fn asks(uri: &Uri, field: &str, values: &[&str]) -> bool {
    fields(uri).any(|(name, value)| name == field && values.contains(&value))
}

/// The name that a list or watch selects its one object by.
fn selected(uri: &Uri) -> Option<&str> {
    let mut selectors = fields(uri).filter(|(name, _)| *name == "fieldSelector");
    let (_, selector) = selectors.next()?;
    let rest = selector.strip_prefix("metadata.name")?;
    rest.strip_prefix("%3D").or_else(|| rest.strip_prefix('='))
}

/// The fields of the query, as they are written.
fn fields(uri: &Uri) -> impl Iterator<Item = (&str, &str)> {
    let fields = uri.query().unwrap_or_default().split('&');
    fields.filter_map(|pair| pair.split_once('='))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(method: &Method, address: &str) -> String {
        let call = Call::read(method, &address.parse().unwrap());
        let (namespace, name) = (call.namespace.as_deref(), call.name.as_deref());
        let of = match &*call.group {
            "" => String::new(),
            group => format!(".{group}"),
        };
        format!(
            "{} {}{of} {}/{}",
            call.verb.as_str(),
            call.resource,
            namespace.unwrap_or("-"),
            name.unwrap_or("-")
        )
    }

    #[test]
    fn a_request_is_known_by_verb_resource_and_object() {
        for (method, address, expected) in [
            (Method::GET, "/api/v1/pods?limit=500", "list pods -/-"),
            (Method::GET, "/api/v1/nodes?watch=true", "watch nodes -/-"),
            (Method::GET, "/api/v1/nodes/n1", "get nodes -/n1"),
            (Method::GET, "/api/v1/namespaces", "list namespaces -/-"),
            (Method::GET, "/api/v1/namespaces/a", "get namespaces -/a"),
            (
                Method::PUT,
                "/api/v1/namespaces/a/finalize",
                "update namespaces/finalize -/a",
            ),
            (
                Method::POST,
                "/api/v1/namespaces/a/pods/p/eviction",
                "create pods/eviction a/p",
            ),
            (
                Method::PATCH,
                "/apis/karpenter.sh/v1/nodeclaims/c/status",
                "patch nodeclaims/status.karpenter.sh -/c",
            ),
            (
                Method::DELETE,
                "/apis/policy/v1/namespaces/a/poddisruptionbudgets/b",
                "delete poddisruptionbudgets.policy a/b",
            ),
            (
                Method::GET,
                "/api/v1/namespaces/a/configmaps?watch=1&fieldSelector=metadata.name%3Dc",
                "watch configmaps a/c",
            ),
            (Method::GET, "/readyz", "list  -/-"),
        ] {
            assert_eq!(call(&method, address), expected, "{address}");
        }
    }
}
