//! Subnets and security groups of a class.

use std::collections::BTreeMap;

use plimsoll_api::kinds::{FoundSecurityGroup, FoundSubnet, SecurityGroupTerm, SubnetTerm};

use super::{Query, named};

/// A subnet, as EC2 tells of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Subnet {
    /// Its id.
    pub id: String,
    /// Its zone by name.
    pub zone: String,
    /// Its zone by id.
    pub zone_id: Option<String>,
    /// Addresses that are free.
    pub free_addresses: i32,
}

/// Queries for the subnets of terms: one for each term with tags, one for all ids.
pub(crate) fn subnet_queries(terms: &[SubnetTerm]) -> Vec<Query> {
    let tagged = terms.iter().filter(|term| term.id.is_none());
    let tagged = tagged.filter_map(|term| Query::tagged(&term.tags));
    let ids = named("subnet-id", terms.iter().map(|term| term.id.as_ref()));
    tagged.chain(ids).collect()
}

/// Queries for the security groups of terms: one for each term with tags, one for all ids, one for all names.
pub(crate) fn security_group_queries(terms: &[SecurityGroupTerm]) -> Vec<Query> {
    let tagged = terms
        .iter()
        .filter(|term| term.id.is_none() && term.name.is_none());
    let tagged = tagged.filter_map(|term| Query::tagged(&term.tags));
    let ids = named("group-id", terms.iter().map(|term| term.id.as_ref()));
    let names = named("group-name", terms.iter().map(|term| term.name.as_ref()));
    tagged.chain(ids).chain(names).collect()
}

/// Subnets as the status has them: each once, the one with most free addresses first, then by id.
pub(crate) fn subnets(found: Vec<Subnet>) -> Vec<FoundSubnet> {
    let each: BTreeMap<String, Subnet> =
        found.into_iter().map(|own| (own.id.clone(), own)).collect();
    let mut subnets: Vec<Subnet> = each.into_values().collect();
    subnets.sort_by_key(|subnet| std::cmp::Reverse(subnet.free_addresses));
    let shown = |subnet: Subnet| FoundSubnet {
        id: subnet.id,
        zone: subnet.zone,
        zone_id: subnet.zone_id,
    };
    subnets.into_iter().map(shown).collect()
}

/// Security groups as the status has them: each once, by id.
pub(crate) fn security_groups(found: Vec<FoundSecurityGroup>) -> Vec<FoundSecurityGroup> {
    let each: BTreeMap<String, FoundSecurityGroup> =
        found.into_iter().map(|own| (own.id.clone(), own)).collect();
    each.into_values().collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(queries: &[Query]) -> Vec<String> {
        let filter =
            |(name, values): &(String, Vec<String>)| format!("{name}={}", values.join("|"));
        let query = |query: &Query| {
            query
                .filters()
                .iter()
                .map(filter)
                .collect::<Vec<_>>()
                .join(" ")
        };
        queries.iter().map(query).collect()
    }

    #[test]
    fn terms_are_asked_for_one_by_one_and_ids_and_names_together() {
        let terms: Vec<SubnetTerm> = serde_json::from_value(json!([
            {"id": "subnet-1"}, {"tags": {"a": "x*", "b": "*"}}, {"id": "subnet-2"}, {"tags": {"c": "y"}},
        ]))
        .expect("terms");
        let expected = [
            "tag:a=x* tag-key=b",
            "tag:c=y",
            "subnet-id=subnet-1|subnet-2",
        ];
        assert_eq!(shown(&subnet_queries(&terms)), expected);
        let terms: Vec<SecurityGroupTerm> = serde_json::from_value(json!([
            {"name": "nodes"}, {"id": "sg-1"}, {"tags": {"a": "b"}}, {"name": "more"},
        ]))
        .expect("terms");
        let expected = ["tag:a=b", "group-id=sg-1", "group-name=nodes|more"];
        assert_eq!(shown(&security_group_queries(&terms)), expected);
    }

    #[test]
    fn subnets_are_there_once_with_most_addresses_first() {
        let subnet = |id: &str, free_addresses| Subnet {
            id: id.to_owned(),
            zone: "us-east-1a".to_owned(),
            zone_id: None,
            free_addresses,
        };
        let found = vec![
            subnet("b", 5),
            subnet("c", 9),
            subnet("a", 5),
            subnet("b", 5),
        ];
        let ids: Vec<String> = subnets(found).into_iter().map(|own| own.id).collect();
        assert_eq!(ids, ["c", "a", "b"]);
    }
}
