//! Unused instance profiles: those that were made for a class which has another by now, or is gone.
//!
//! A profile in use is never among them. A claim that does not say its profile yet may get any of its class's, so all of that class stay; and a
//! class that is there keeps the one of its role, whether its status names it yet or not. Profiles are read before classes and claims, so
//! that none is judged by a class as it was before the profile was made.

use std::collections::BTreeSet;

use plimsoll_api::kinds::Ec2NodeClass;

use super::profile::{Owner, role_name};

/// An instance profile, as a list of them tells of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundProfile {
    /// Its name.
    pub name: String,
    /// Its path, in which the uid of its class stands.
    pub path: String,
    /// Name of its role; `None` where it has none.
    pub role: Option<String>,
}

/// A claim, as far as it uses instance profiles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileUse {
    /// Name of its class.
    pub class: String,
    /// Name of the profile of its instance; `None` where it does not say.
    pub profile: Option<String>,
}

/// Path of all profiles of a cluster.
pub(crate) fn path_of_cluster(region: &str, cluster: &str) -> String {
    format!("/karpenter/{region}/{cluster}/")
}

/// Those of a cluster's profiles that no class and no claim uses, in the order in which they were found.
pub(crate) fn unused<'f>(
    found: &'f [FoundProfile],
    (region, cluster): (&str, &str),
    classes: &[Ec2NodeClass],
    claims: &[ProfileUse],
) -> Vec<&'f FoundProfile> {
    let (mut names, mut paths) = (BTreeSet::new(), BTreeSet::new());
    for class in classes {
        let metadata = &class.metadata;
        let owner = Owner {
            region,
            cluster,
            class: metadata.name.as_deref().unwrap_or_default(),
            uid: metadata.uid.as_deref().unwrap_or_default(),
        };
        names.extend(class.spec.instance_profile.clone());
        names.extend(
            class
                .status
                .as_ref()
                .and_then(|own| own.instance_profile.clone()),
        );
        names.extend(
            class
                .spec
                .role
                .as_deref()
                .map(|role| owner.name(role_name(role))),
        );
        let mut own = claims.iter().filter(|claim| claim.class == owner.class);
        if own.any(|claim| claim.profile.is_none()) {
            paths.insert(owner.path());
        }
    }
    names.extend(claims.iter().filter_map(|claim| claim.profile.clone()));
    let is_used = |own: &&FoundProfile| names.contains(&own.name) || paths.contains(&own.path);
    found.iter().filter(|own| !is_used(own)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const PLACE: (&str, &str) = ("us-east-1", "demo");

    fn class(name: &str, role: &str, profile: Option<&str>) -> Ec2NodeClass {
        let object = json!({
            "apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass",
            "metadata": {"name": name, "uid": format!("{name}-uid")},
            "spec": {
                "role": role, "amiSelectorTerms": [{"alias": "al2023@latest"}],
                "subnetSelectorTerms": [{"id": "subnet-1"}], "securityGroupSelectorTerms": [{"id": "sg-1"}],
            },
            "status": {"instanceProfile": profile},
        });
        serde_json::from_value(object).expect("a class")
    }

    fn found(name: &str, class: &str) -> FoundProfile {
        FoundProfile {
            name: name.to_owned(),
            path: format!("/karpenter/us-east-1/demo/{class}-uid/"),
            role: None,
        }
    }

    fn claim(class: &str, profile: Option<&str>) -> ProfileUse {
        ProfileUse {
            class: class.to_owned(),
            profile: profile.map(str::to_owned),
        }
    }

    fn names(
        found: &[FoundProfile],
        classes: &[Ec2NodeClass],
        claims: &[ProfileUse],
    ) -> Vec<String> {
        let unused = unused(found, PLACE, classes, claims).into_iter();
        unused.map(|own| own.name.clone()).collect()
    }

    #[test]
    fn a_profile_is_used_by_the_class_that_has_it_and_by_claims_that_name_it() {
        let all = ["now", "before", "of-a-claim"].map(|name| found(name, "a"));
        let classes = [class("a", "nodes", Some("now"))];
        let claims = [claim("a", Some("of-a-claim"))];
        assert_eq!(names(&all, &classes, &claims), ["before"]);
        assert_eq!(names(&all, &classes, &[]), ["before", "of-a-claim"]);
        assert_eq!(names(&all, &[], &claims), ["now", "before"]);
    }

    #[test]
    fn a_profile_that_was_just_made_is_used_before_its_class_says_so() {
        let owner = Owner {
            region: "us-east-1",
            cluster: "demo",
            class: "a",
            uid: "a-uid",
        };
        let made = owner.name("nodes");
        let all = [found(&made, "a"), found(&owner.name("others"), "a")];
        for role in ["nodes", "path/to/nodes"] {
            let classes = [class("a", role, None)];
            assert_eq!(names(&all, &classes, &[]), [owner.name("others")], "{role}");
        }
    }

    #[test]
    fn a_claim_that_does_not_say_its_profile_keeps_all_of_its_class() {
        let all = [found("a-old", "a"), found("b-old", "b"), found("lost", "c")];
        let classes = [class("a", "nodes", None), class("b", "nodes", None)];
        assert_eq!(
            names(&all, &classes, &[claim("a", None)]),
            ["b-old", "lost"]
        );
    }
}
