//! Rules of the terms that choose a class's images.

use serde_json::Value;

use super::super::finding::{Findings, or};
use super::{has, items, text};
use crate::schema::known::FAMILIES;

/// The rules of `amiSelectorTerms` and of the family beside it.
pub(super) fn check(spec: &Value, findings: &mut Findings) {
    let terms = items(spec, "amiSelectorTerms");
    for (at, term) in terms.iter().enumerate() {
        let path = format!("spec.amiSelectorTerms[{at}]");
        one(&path, term, findings);
        if has(term, "alias") {
            alias(&format!("{path}.alias"), text(term, "alias"), findings);
            if terms.len() > 1 {
                findings.error(
                    &path,
                    "is an alias beside other terms; an alias stands alone",
                );
            }
        }
    }
    family(spec, terms, findings);
}

fn one(path: &str, term: &Value, findings: &mut Findings) {
    let known = ["tags", "id", "name", "alias", "ssmParameter"];
    if !known.iter().any(|name| has(term, name)) {
        findings.error(path, format!("chooses nothing; expected {}", or(&known)));
    }
    for (only, others) in [
        ("id", ["alias", "tags", "name", "owner"]),
        ("alias", ["id", "tags", "name", "owner"]),
    ] {
        let beside = others.iter().find(|other| has(term, other));
        if let (true, Some(other)) = (has(term, only), beside) {
            findings.error(
                path,
                format!("has {only} beside {other}; {only} stands alone in its term"),
            );
            return;
        }
    }
    super::node_class::filled_in(path, term, findings);
}

fn alias(path: &str, alias: &str, findings: &mut Findings) {
    let (family, version) = alias.split_once('@').unwrap_or((alias, ""));
    let is_word = !family.is_empty() && family.chars().all(|mark| mark.is_ascii_alphanumeric());
    if version.is_empty() || !is_word {
        return findings.error(
            path,
            format!("is \"{alias}\"; expected family@version such as al2023@v20250403"),
        );
    }
    let lower = family.to_lowercase();
    let known: Vec<&str> = FAMILIES.iter().map(|(alias, _)| *alias).collect();
    if known.contains(&family) {
        if family.starts_with("windows") && version != "latest" {
            findings.error(
                path,
                format!(
                    "is \"{alias}\"; images of Windows cannot be pinned, expected {family}@latest"
                ),
            );
        }
    } else if known.contains(&lower.as_str()) {
        findings.error(
            path,
            format!(
                "is \"{alias}\"; families are written in lower case, expected {lower}@{version}"
            ),
        );
    } else {
        findings.error(
            path,
            format!(
                "is \"{alias}\"; expected one of the families {}",
                or(&known)
            ),
        );
    }
}

fn family(spec: &Value, terms: &[Value], findings: &mut Findings) {
    let alias = terms
        .iter()
        .map(|term| text(term, "alias"))
        .find(|alias| !alias.is_empty());
    let named = text(spec, "amiFamily");
    let Some(alias) = alias else {
        if !has(spec, "amiFamily") {
            findings.error("spec.amiFamily", "is missing; images without an alias do not say how they are booted, expected a family such as AL2023 or Custom");
        }
        return;
    };
    let of_alias = alias.split('@').next().unwrap_or_default();
    let Some((_, expected)) = FAMILIES.iter().find(|(name, _)| *name == of_alias) else {
        return;
    };
    if !named.is_empty() && named != *expected && named != "Custom" {
        findings.error(
            "spec.amiFamily",
            format!("is {named}; alias {alias} is of family {expected}, expected that or Custom"),
        );
    }
}
