//! Label keys that may not be set or asked for, and requirements that say nothing or too much.

use plimsoll_base::labels as known;
use serde_json::Value;

use super::super::finding::{Findings, shown};
use super::super::nearest;
use super::{items, text};
use crate::keys::AWS_DOMAIN;
use crate::schema::known::{KARPENTER_DOMAIN, NOT_FOR_OVERLAYS, OF_PROVIDER, Use};

/// The user of a key.
#[derive(Clone, Copy)]
pub(super) struct User<'a> {
    /// The kind of object that it is.
    pub(super) by: Use,
    /// Group of its node class; empty where it has none.
    pub(super) class: &'a str,
}

impl User<'_> {
    /// `true` if the provider for AWS says which of its keys there are. Labels of other providers' nodes are theirs to say.
    fn is_on_aws(self) -> bool {
        self.class.is_empty() || self.class == AWS_DOMAIN
    }
}

/// Refuses a key that the user of it may not set or ask for.
pub(super) fn key(path: &str, key: &str, user: User<'_>, findings: &mut Findings) {
    let by = user.by;
    // A key without a slash is held against the domains, too, as the API does it.
    let domain = key.split_once('/').map_or(key, |(domain, _)| domain);
    let name = key.rsplit('/').next().unwrap_or_default();
    let is_own = [known::CAPACITY_TYPE, known::NODEPOOL].contains(&key);
    if key == known::HOSTNAME {
        findings.error(path, "cannot be chosen: every node has a name of its own");
    } else if key == known::NODEPOOL && by == Use::Pool {
        findings.error(path, "cannot be chosen: a pool is one pool");
    } else if domain.ends_with(KARPENTER_DOMAIN) && !is_own {
        findings.error(
            path,
            format!(
                "cannot be used: of the domain {KARPENTER_DOMAIN} only {} may be used",
                known::CAPACITY_TYPE
            ),
        );
    } else if user.is_on_aws()
        && domain.ends_with(AWS_DOMAIN)
        && (domain != AWS_DOMAIN || !by.allows(name))
    {
        findings.error(path, not_of_provider(name, by));
    }
}

fn not_of_provider(name: &str, by: Use) -> String {
    if by == Use::Overlay && NOT_FOR_OVERLAYS.contains(&name) {
        return "cannot be used: an overlay cannot tell offerings apart by it".to_owned();
    }
    if name == "instance-pods" {
        return "cannot be used: the label no longer exists".to_owned();
    }
    let hint = match nearest(OF_PROVIDER, name) {
        Some(best) => format!("; did you mean {AWS_DOMAIN}/{best}?"),
        None => String::new(),
    };
    format!("is no label that the provider knows{hint}")
}

/// Requirements of a pool, claim or overlay.
pub(super) fn requirements(path: &str, holder: &Value, user: User<'_>, findings: &mut Findings) {
    let by = user.by;
    for (at, requirement) in items(holder, "requirements").iter().enumerate() {
        let path = format!("{path}.requirements[{at}]");
        let name = text(requirement, "key");
        key(&format!("{path}.key {name}"), name, user, findings);
        let operator = text(requirement, "operator");
        let values = items(requirement, "values");
        let least = requirement.get("minValues").and_then(Value::as_u64);
        let in_path = format!("{path}.values");
        match operator {
            "In" if values.is_empty() => findings.error(
                in_path,
                format!("is empty; operator In on {name} needs at least one value"),
            ),
            "NotIn" if values.is_empty() && by == Use::Overlay => findings.error(
                in_path,
                format!("is empty; operator NotIn on {name} needs at least one value"),
            ),
            "In" if least.is_some_and(|least| (values.len() as u64) < least) => findings.error(
                format!("{path}.minValues"),
                format!(
                    "is {}; {name} lists {} values, expected at least as many",
                    least.unwrap_or_default(),
                    values.len()
                ),
            ),
            "Gt" | "Lt" | "Gte" | "Lte" if !is_one_number(values) => findings.error(
                in_path,
                format!(
                    "is {}; operator {operator} on {name} needs exactly one integer of at least 0",
                    shown(&Value::from(values))
                ),
            ),
            _ => {}
        }
    }
}

fn is_one_number(values: &[Value]) -> bool {
    let [Value::String(text)] = values else {
        return false;
    };
    text.parse::<i64>().is_ok_and(|number| number >= 0)
}
