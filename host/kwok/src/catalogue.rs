//! The types that KWOK sells: those of a file, or the generic list.

use std::collections::BTreeSet;

use plimsoll_model::catalogue::Catalogue;
use thiserror::Error;

use crate::listed::Listed;
use crate::{builtin, facts};

/// The fault of a list of types.
#[derive(Debug, Error)]
pub enum CatalogueError {
    /// It is no JSON list of types.
    #[error("the list of instance types cannot be read")]
    Text(#[from] serde_json::Error),
    /// A type says something impossible.
    #[error("instance type {name}: {field} {problem}")]
    Type {
        /// The type.
        name: String,
        /// The field, from the type's own level.
        field: String,
        /// The fault in words.
        problem: String,
    },
    /// Two types have one name.
    #[error("instance type {name} is listed twice; expected each name once")]
    Twice {
        /// The name.
        name: String,
    },
    /// There is none.
    #[error("the list of instance types is empty; expected at least one")]
    Empty,
}

/// The generic list.
pub fn builtin() -> Result<Catalogue, CatalogueError> {
    catalogue(&builtin::types())
}

/// The types of a file.
pub fn read(text: &str) -> Result<Catalogue, CatalogueError> {
    catalogue(&serde_json::from_str::<Vec<Listed>>(text)?)
}

fn catalogue(listed: &[Listed]) -> Result<Catalogue, CatalogueError> {
    let mut names = BTreeSet::new();
    let mut types = Vec::new();
    for one in listed {
        if !names.insert(&one.name) {
            let name = one.name.clone();
            return Err(CatalogueError::Twice { name });
        }
        types.push(one.instance_type()?);
    }
    if types.is_empty() {
        return Err(CatalogueError::Empty);
    }
    Ok(Catalogue::new(facts::provider(), types, []))
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_base::resources::ResourceName;
    use plimsoll_model::catalogue::CapacityType;

    #[test]
    fn the_generic_list_has_144_types_in_four_zones() {
        let list = builtin().unwrap();
        assert_eq!(list.types().len(), 144);
        assert!(
            list.types()
                .iter()
                .all(|listed| listed.offerings.len() == 8)
        );
    }

    #[test]
    fn a_generic_type_costs_by_its_cpu_and_memory() {
        let list = builtin().unwrap();
        let small = list.get("c-2x-amd64-linux").unwrap();
        let price = |capacity_type: CapacityType| {
            let offering = small
                .offerings
                .iter()
                .find(|offering| offering.capacity_type == capacity_type);
            offering.unwrap().price.nanos()
        };
        // 2 cpu and 4 GiB, that is 4.294967296 times 10^9 bytes.
        assert_eq!(price(CapacityType::OnDemand), 54_294_967);
        assert_eq!(price(CapacityType::Spot), 38_006_477);
        assert_eq!(small.capacity.get(&ResourceName::Pods), 32);
        let allocatable = small.allocatable(&small.offerings[0]);
        assert_eq!(allocatable.get(&ResourceName::Cpu), 1900);
        assert_eq!(
            allocatable.get(&ResourceName::Memory),
            (4 << 30) - (10 << 20)
        );
    }

    fn one(offering: &str) -> String {
        format!(
            r#"[{{"name":"m5.large","architecture":"amd64","operatingSystems":["linux"],
                "resources":{{"cpu":"2","memory":"8Gi"}},"offerings":[{offering}]}}]"#
        )
    }

    #[test]
    fn a_file_in_the_upstream_form_is_read() {
        let text = one(r#"{"Price":0.096,"Available":false,"Requirements":[
                {"key":"karpenter.sh/capacity-type","operator":"In","values":["on-demand"]},
                {"key":"topology.kubernetes.io/zone","operator":"In","values":["a"]}]}"#);
        let list = read(&text).unwrap();
        let listed = list.get("m5.large").unwrap();
        assert!(listed.offerings[0].available);
        assert_eq!(listed.capacity.get(&ResourceName::Pods), 110);
        let label = |key: &str| {
            listed
                .requirements
                .get(key)
                .unwrap()
                .single()
                .unwrap()
                .to_string()
        };
        assert_eq!(label("karpenter.kwok.sh/instance-size"), "large");
        assert_eq!(label("karpenter.kwok.sh/instance-family"), "m5");
        assert_eq!(label("karpenter.kwok.sh/instance-memory"), "8Gi");
    }

    #[test]
    fn what_is_wrong_is_said_with_type_field_and_expectation() {
        let zoneless = one(r#"{"Price":0.1,"Requirements":[]}"#);
        assert_eq!(
            read(&zoneless).unwrap_err().to_string(),
            "instance type m5.large: offerings[0].Requirements name no single topology.kubernetes.io/zone; expected one value"
        );
        let free = one(r#"{"Price":0,"Requirements":[]}"#);
        assert_eq!(
            read(&free).unwrap_err().to_string(),
            "instance type m5.large: offerings[0].Price is 0; expected dollars per hour above 0"
        );
        assert_eq!(
            read("[]").unwrap_err().to_string(),
            "the list of instance types is empty; expected at least one"
        );
    }
}
