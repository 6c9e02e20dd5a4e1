//! Instance profiles that are made for the role of a class: their names, paths and tags.

use plimsoll_api::kinds::Tags;
use plimsoll_base::structure_hash::of_text;

use crate::class::tags;

/// Label of the region, also a tag of profiles.
const REGION: &str = "topology.kubernetes.io/region";

/// Letters that the name of an instance profile may have.
const LONGEST_NAME: usize = 128;

/// A class, as its instance profile has to know it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owner<'a> {
    /// The region.
    pub region: &'a str,
    /// Name of the cluster.
    pub cluster: &'a str,
    /// Name of the class.
    pub class: &'a str,
    /// Uid of the class.
    pub uid: &'a str,
}

impl Owner<'_> {
    /// Path of all profiles of the class.
    pub(crate) fn path(&self) -> String {
        format!("/karpenter/{}/{}/{}/", self.region, self.cluster, self.uid)
    }

    /// Name of its profile for a role. The same role gives the same name, so that a profile that was made before a crash is found again; another
    /// role gives another, which nodes of the first one do not notice.
    pub(crate) fn name(&self, role: &str) -> String {
        let Self {
            region, class, uid, ..
        } = self;
        let hash = of_text(&format!("{region}{class}{uid}{role}"));
        format!("{}_{hash}", self.cluster)
    }

    /// Name of the one profile that releases of Karpenter before 1.0 have made for a class of this name; `None` where IAM takes no such name.
    pub(crate) fn legacy_name(&self) -> Option<String> {
        let hash = of_text(&format!("{}{}", self.region, self.class));
        let name = format!("{}_{hash}", self.cluster);
        let is_valid = |letter: char| letter.is_ascii_alphanumeric() || "_+=,.@-".contains(letter);
        (name.len() <= LONGEST_NAME && name.chars().all(is_valid)).then_some(name)
    }

    /// Tags of its profiles: those of the class, and those by which rights tell them from others.
    pub(crate) fn tags(&self, spec: Option<&Tags>) -> Tags {
        let mut all = spec.cloned().unwrap_or_default();
        all.insert(tags::owned(self.cluster), "owned".to_owned());
        for (key, value) in [
            (tags::CLUSTER, self.cluster),
            (tags::CLASS, self.class),
            (REGION, self.region),
        ] {
            all.insert(key.to_owned(), value.to_owned());
        }
        all
    }
}

/// Name of a role without its path, as it is added to a profile.
pub(crate) fn role_name(role: &str) -> &str {
    role.rsplit('/').next().unwrap_or(role)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_is_named_after_its_cluster_class_and_role() {
        let owner = Owner {
            region: "us-east-1",
            cluster: "demo",
            class: "default",
            uid: "u-1",
        };
        assert_eq!(owner.path(), "/karpenter/us-east-1/demo/u-1/");
        let name = owner.name("nodes");
        assert!(
            name.starts_with("demo_") && name == owner.name("nodes"),
            "{name}"
        );
        assert_ne!(name, owner.name("others"));
        assert_ne!(
            name,
            Owner {
                class: "other",
                ..owner
            }
            .name("nodes")
        );
        let keys: Vec<String> = owner.tags(None).into_keys().collect();
        assert_eq!(
            keys,
            [
                "eks:eks-cluster-name",
                "karpenter.k8s.aws/ec2nodeclass",
                "kubernetes.io/cluster/demo",
                "topology.kubernetes.io/region"
            ]
        );
        assert_eq!(
            (role_name("path/to/nodes"), role_name("nodes")),
            ("nodes", "nodes")
        );
    }

    #[test]
    fn a_legacy_profile_is_named_after_cluster_region_and_class_where_iam_takes_the_name() {
        let owner = |cluster: &'static str, class: &'static str| Owner {
            region: "us-east-1",
            cluster,
            class,
            uid: "u-1",
        };
        let name = owner("demo", "default").legacy_name();
        assert_eq!(name.as_deref(), Some("demo_15843455441266977890"));
        let other_uid = Owner {
            uid: "u-2",
            ..owner("demo", "default")
        };
        assert_eq!(other_uid.legacy_name(), name);
        assert_ne!(owner("demo", "other").legacy_name(), name);
        assert_ne!(
            owner("demo", "default").name("default"),
            name.expect("a name")
        );
        let long = "x".repeat(120);
        for cluster in ["arn:aws:eks", "a/b", "é", &long] {
            let owner = Owner {
                cluster,
                ..owner("demo", "default")
            };
            assert_eq!(owner.legacy_name(), None, "{cluster}");
        }
    }
}
