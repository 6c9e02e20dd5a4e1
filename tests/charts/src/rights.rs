//! Rights of an account: what the API server lets it do by the roles that are bound to it.

use std::collections::BTreeSet;
use std::fmt;

use plimsoll_lab::Call;
use serde_json::Value;

/// One verb on one resource.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Right {
    /// API group; empty for the core group.
    pub group: String,
    /// Plural of the kind, with the subresource where one is meant.
    pub resource: String,
    /// In lower case.
    pub verb: String,
    /// The one namespace where it holds; `None` for all, and for what has none.
    pub namespace: Option<String>,
    /// The one object that it is for; `None` for all.
    pub name: Option<String>,
}

impl Right {
    /// `true` if it is enough for a request.
    pub fn allows(&self, call: &Call) -> bool {
        let holds = |right: &Option<String>, called: &Option<String>| {
            right.is_none() || right.as_deref() == called.as_deref()
        };
        self.verb == call.verb.as_str()
            && (&self.group, &self.resource) == (&call.group, &call.resource)
            && holds(&self.namespace, &call.namespace)
            && holds(&self.name, &call.name)
    }
}

impl fmt::Display for Right {
    /// `patch nodeclaims/status.karpenter.sh`, `get configmaps a/b`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.verb, self.resource)?;
        if !self.group.is_empty() {
            write!(f, ".{}", self.group)?;
        }
        match (&self.namespace, &self.name) {
            (None, None) => Ok(()),
            (namespace, name) => {
                let part = |part: &Option<String>| part.clone().unwrap_or("*".to_owned());
                write!(f, " {}/{}", part(namespace), part(name))
            }
        }
    }
}

/// All rights of an account.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rights(pub BTreeSet<Right>);

impl Rights {
    /// The rights of a service account by roles and bindings among these objects.
    pub fn of(objects: &[Value], namespace: &str, account: &str) -> Self {
        let is_ours = |subject: &Value| {
            subject["kind"] == "ServiceAccount"
                && subject["namespace"] == namespace
                && subject["name"] == account
        };
        let bindings = objects.iter().filter(|object| {
            let subjects = object["subjects"].as_array().into_iter().flatten();
            subjects.into_iter().any(is_ours)
        });
        let mut rights = BTreeSet::new();
        for binding in bindings {
            let (role, within) = (&binding["roleRef"], &binding["metadata"]["namespace"]);
            let bound = objects.iter().filter(|object| {
                object["kind"] == role["kind"] && object["metadata"]["name"] == role["name"]
            });
            // A role of a namespace is for bindings of the same.
            let bound = bound.filter(|object| {
                object["kind"] == "ClusterRole" || object["metadata"]["namespace"] == *within
            });
            for rule in bound.flat_map(|object| object["rules"].as_array().into_iter().flatten()) {
                rights.extend(of_rule(rule, within.as_str()));
            }
        }
        Self(rights)
    }

    /// `true` if one of them is enough for a request.
    pub fn allow(&self, call: &Call) -> bool {
        self.0.iter().any(|right| right.allows(call))
    }
}

fn of_rule(rule: &Value, namespace: Option<&str>) -> Vec<Right> {
    let texts = |field: &str| {
        let entries = rule[field].as_array().into_iter().flatten();
        let texts: Vec<String> = entries
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect();
        texts
    };
    let names: Vec<Option<String>> = match texts("resourceNames") {
        names if names.is_empty() => vec![None],
        names => names.into_iter().map(Some).collect(),
    };
    let mut rights = Vec::new();
    for group in texts("apiGroups") {
        for resource in texts("resources") {
            for verb in texts("verbs") {
                rights.extend(names.iter().map(|name| Right {
                    group: group.clone(),
                    resource: resource.clone(),
                    verb: verb.clone(),
                    namespace: namespace.map(ToOwned::to_owned),
                    name: name.clone(),
                }));
            }
        }
    }
    rights
}
