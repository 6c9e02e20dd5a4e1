//! Selector terms of a class that name nothing to look for.
//!
//! An API server with our definitions refuses them, but one with older definitions has stored some: a term with an empty map of tags
//! asks for every subnet of the region, or for every image that anybody publishes. Such a term selects nothing, as in Karpenter 1.15.3.
//! Karpenter passes over it where another term of its list finds something; here its whole list finds nothing until it is mended: the
//! term stood for everything before, and whether what the other terms find is all that was meant is not ours to guess.
//! What was found before stays in the status of the class, so that no node is taken for drifted because of it.

use plimsoll_api::kinds::{Ec2NodeClassSpec, ImageTerm, SecurityGroupTerm, SubnetTerm, Tags};

use crate::class::conditions::Finding;

/// Reason of the condition of a list with such a term.
const REASON: &str = "SelectorTermEmpty";

/// A term as far as it may be empty.
struct Term<'t> {
    /// Fields that are written, by name.
    written: Vec<(&'static str, &'t str)>,
    tags: &'t Tags,
    /// Fields that choose beside tags, as words.
    others: &'static str,
}

/// Finding that a term for subnets is empty; `None` where none is.
pub(crate) fn of_subnets(spec: &Ec2NodeClassSpec) -> Option<Finding> {
    let terms = &spec.subnet_selector_terms;
    let terms = terms.iter().map(|own: &SubnetTerm| Term {
        written: written(&[("id", &own.id)]),
        tags: &own.tags,
        others: "an id",
    });
    empty("subnetSelectorTerms", terms)
}

/// Finding that a term for security groups is empty; `None` where none is.
pub(crate) fn of_security_groups(spec: &Ec2NodeClassSpec) -> Option<Finding> {
    let terms = &spec.security_group_selector_terms;
    let terms = terms.iter().map(|own: &SecurityGroupTerm| Term {
        written: written(&[("id", &own.id), ("name", &own.name)]),
        tags: &own.tags,
        others: "an id or a name",
    });
    empty("securityGroupSelectorTerms", terms)
}

/// Finding that a term for images is empty; `None` where none is. An owner alone chooses nothing.
pub(crate) fn of_images(spec: &Ec2NodeClassSpec) -> Option<Finding> {
    let terms = spec.ami_selector_terms.iter().map(|own: &ImageTerm| Term {
        written: written(&[
            ("alias", &own.alias),
            ("id", &own.id),
            ("name", &own.name),
            ("ssmParameter", &own.ssm_parameter),
            ("owner", &own.owner),
        ]),
        tags: &own.tags,
        others: "an alias, an id, an ssmParameter or a name, which is * for all images of an owner",
    });
    empty("amiSelectorTerms", terms)
}

fn written<'t>(fields: &[(&'static str, &'t Option<String>)]) -> Vec<(&'static str, &'t str)> {
    let written = fields.iter();
    let written = written.filter_map(|(name, value)| Some((*name, value.as_deref()?)));
    written.collect()
}

fn empty<'t>(list: &str, terms: impl Iterator<Item = Term<'t>>) -> Option<Finding> {
    let faults: Vec<String> = terms
        .enumerate()
        .filter_map(|(at, term)| Some(format!("spec.{list}[{at}]{}", fault(&term)?)))
        .collect();
    let words = faults.join("; ");
    (!faults.is_empty()).then_some(Finding::Fails(REASON, words))
}

/// Fault of a term, from its path on; `None` where it chooses something.
fn fault(term: &Term<'_>) -> Option<String> {
    if let Some((name, _)) = term.written.iter().find(|(_, value)| value.is_empty()) {
        return Some(format!(
            ".{name} is empty and selects nothing; expected a value"
        ));
    }
    let tag = term.tags.iter();
    if let Some((key, _)) = tag
        .clone()
        .find(|(key, value)| key.is_empty() || value.is_empty())
    {
        return Some(match key.as_str() {
            "" => ".tags has an empty key; expected the name of a tag".to_owned(),
            key => format!(".tags.{key} is empty; expected a value, or * for any"),
        });
    }
    let chooses = term.written.iter().any(|(name, _)| *name != "owner");
    (!chooses && term.tags.is_empty()).then(|| {
        format!(
            ".tags is empty and selects nothing; expected at least one tag, or {} in place of tags",
            term.others
        )
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn spec(list: &str, terms: &Value) -> Ec2NodeClassSpec {
        serde_json::from_value(json!({list: terms})).expect("a spec")
    }

    fn words(finding: Option<Finding>) -> String {
        match finding {
            Some(Finding::Fails(REASON, words)) => words,
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn a_term_without_anything_to_look_for_is_named_beside_good_ones() {
        for (term, path) in [
            (json!({"tags": {}}), "[1].tags is empty"),
            (json!({}), "[1].tags is empty"),
            (json!({"id": ""}), "[1].id is empty"),
            (json!({"tags": {"a": ""}}), "[1].tags.a is empty"),
            (json!({"tags": {"": "a"}}), "[1].tags has an empty key"),
        ] {
            let terms = json!([{"tags": {"a": "b"}}, term]);
            for (list, of) in [
                (
                    "subnetSelectorTerms",
                    of_subnets as fn(&Ec2NodeClassSpec) -> _,
                ),
                ("securityGroupSelectorTerms", of_security_groups),
                ("amiSelectorTerms", of_images),
            ] {
                let words = words(of(&spec(list, &terms)));
                assert!(words.starts_with(&format!("spec.{list}{path}")), "{words}");
            }
        }
    }

    #[test]
    fn an_owner_or_an_empty_field_beside_others_does_not_choose_images() {
        for (term, path) in [
            (json!({"owner": "self"}), "[0].tags is empty"),
            (json!({"owner": "self", "tags": {}}), "[0].tags is empty"),
            (json!({"owner": "self", "name": ""}), "[0].name is empty"),
            (json!({"ssmParameter": ""}), "[0].ssmParameter is empty"),
            (json!({"name": "", "tags": {"a": "b"}}), "[0].name is empty"),
            (json!({"name": "x", "owner": ""}), "[0].owner is empty"),
        ] {
            let words = words(of_images(&spec("amiSelectorTerms", &json!([term]))));
            assert!(
                words.starts_with(&format!("spec.amiSelectorTerms{path}")),
                "{words}"
            );
        }
    }

    #[test]
    fn terms_that_choose_by_one_way_are_fine() {
        let terms = json!([
            {"alias": "al2023@latest"}, {"id": "ami-1"}, {"id": "ami-1", "tags": {}}, {"ssmParameter": "/mine"},
            {"name": "*", "owner": "self"}, {"tags": {"a": "*"}},
        ]);
        assert_eq!(of_images(&spec("amiSelectorTerms", &terms)), None);
    }
}
