//! Rules that several kinds share: label keys, requirements and references to classes; and the few of a policy.

use plimsoll_base::labels as known;

use super::super::Provider;
use super::{Rule, Rules, listed, rule};
use crate::keys::AWS_DOMAIN;
use crate::schema::known::{KARPENTER_DOMAIN, Use, provider_keys};

/// Part of a key that names its domain, as an expression. A key without a slash counts as a domain, too, as the API has it.
const DOMAIN: &str = r#"find("^([^/]+)")"#;

/// Rules of the label key that an expression calls `x`.
fn of_key(x: &str, provider: Provider, by: Use) -> Vec<(String, String)> {
    let (kept, pool, host) = (known::CAPACITY_TYPE, known::NODEPOOL, known::HOSTNAME);
    let own = listed([kept, pool]);
    let mut rules = vec![
        (
            format!("{x} in {own} || !{x}.{DOMAIN}.endsWith('{KARPENTER_DOMAIN}')"),
            format!(
                "expected another key: of the domain {KARPENTER_DOMAIN} only {kept} may be used"
            ),
        ),
        (
            format!("{x} != '{host}'"),
            format!("expected another key than {host}: every node has a name of its own"),
        ),
    ];
    if by == Use::Pool {
        rules.push((
            format!("{x} != '{pool}'"),
            format!("expected another key than {pool}: a pool is one pool"),
        ));
    }
    if provider == Provider::Aws {
        let provided = provider_keys(by).map(|name| format!("{AWS_DOMAIN}/{name}"));
        let provided: Vec<String> = provided.collect();
        let provided = listed(provided.iter().map(String::as_str));
        let who = match by {
            Use::Overlay => "of the provider for AWS that overlays may use",
            Use::Pool | Use::Claim => "of the provider for AWS",
        };
        rules.push((
            format!("{x} in {provided} || !{x}.{DOMAIN}.endsWith('{AWS_DOMAIN}')"),
            format!("expected of the domain {AWS_DOMAIN} a key {who}, such as {AWS_DOMAIN}/instance-family"),
        ));
    }
    rules
}

/// Rules of the labels that a pool gives its nodes.
pub(super) fn labels(provider: Provider) -> Vec<Rule> {
    let every = |(expression, message)| rule(format!("self.all(x, {expression})"), message);
    let rules = of_key("x", provider, Use::Pool).into_iter();
    rules.map(every).collect()
}

/// Rules of the key of a requirement.
pub(super) fn key(provider: Provider, by: Use) -> Vec<Rule> {
    let rules = of_key("self", provider, by).into_iter();
    rules
        .map(|(expression, message)| rule(expression, message))
        .collect()
}

/// Rules of a list of requirements.
pub(super) fn requirements(by: Use) -> Vec<Rule> {
    let some = "has(x.values) && x.values.size() != 0";
    let mut rules = vec![
        rule(
            format!("self.all(x, x.operator != 'In' || {some})"),
            "values: expected at least one value with operator In",
        ),
        rule(
            "self.all(x, !(x.operator in ['Gt', 'Lt', 'Gte', 'Lte']) || has(x.values) && x.values.size() == 1 && int(x.values[0]) >= 0)",
            "values: expected exactly one integer of at least 0 with operators Gt, Lt, Gte and Lte",
        ),
    ];
    if by == Use::Overlay {
        rules.push(rule(
            format!("self.all(x, x.operator != 'NotIn' || {some})"),
            "values: expected at least one value with operator NotIn",
        ));
    } else {
        rules.push(rule(
            "self.all(x, x.operator != 'In' || !has(x.minValues) || x.values.size() >= x.minValues)",
            "minValues: expected no more than operator In lists values",
        ));
    }
    rules
}

/// Rules of a reference to a class; the paths are those of its group, kind and name.
pub(super) fn class_reference([group, kind, name]: [&'static str; 3], rules: &mut Rules) {
    let filled = |expected: &str| vec![rule("self != ''", expected)];
    rules.insert(
        group,
        filled("group: expected the API group of the class, such as karpenter.k8s.aws"),
    );
    rules.insert(
        kind,
        filled("kind: expected the kind of the class, such as EC2NodeClass"),
    );
    rules.insert(name, filled("name: expected the name of the class"));
}

/// Rules of a policy.
pub(super) fn policy() -> Rules {
    let selector = rule(
        "(self.operator in ['In', 'NotIn']) == (has(self.values) && self.values.size() != 0)",
        "values: expected at least one value with operators In and NotIn, none with Exists and DoesNotExist",
    );
    Rules::from([("spec.nodePoolSelector.matchExpressions[]", vec![selector])])
}
