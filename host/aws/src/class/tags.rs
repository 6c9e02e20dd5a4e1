//! Tags of what is made for a class: by them instances are known as ours, to us, to people and to the rights of the controller's role.

use plimsoll_api::kinds::Tags;

/// Tag of all that belongs to a cluster, by its name.
pub const CLUSTER: &str = "eks:eks-cluster-name";
/// Tag of instances with the name of their pool.
pub const NODE_POOL: &str = "karpenter.sh/nodepool";
/// Tag of instances with the name of their claim, once they have a node.
pub const NODE_CLAIM: &str = "karpenter.sh/nodeclaim";
/// Tag of instances with the name of their class.
pub const CLASS: &str = "karpenter.k8s.aws/ec2nodeclass";

/// A tag of a class that only the controller may write.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("spec.tags has the key \"{0}\"; expected keys that the controller does not write itself")]
pub struct RestrictedTag(pub String);

/// Tag that says that something belongs to a cluster, as load balancers and volumes are told.
pub fn owned(cluster: &str) -> String {
    format!("kubernetes.io/cluster/{cluster}")
}

/// Tags of a launch: those of the class, and those that every call needs to be allowed to the controller's role. Tags of single claims are
/// not among them, so that claims that ask for the same share a call.
pub fn of_launch(
    spec: Option<&Tags>,
    cluster: &str,
    pool: &str,
    class: &str,
) -> Result<Tags, RestrictedTag> {
    let mut tags = spec.cloned().unwrap_or_default();
    if let Some(key) = tags.keys().find(|key| is_restricted(key)) {
        return Err(RestrictedTag(key.clone()));
    }
    tags.insert(owned(cluster), "owned".to_owned());
    for (key, value) in [(NODE_POOL, pool), (CLASS, class), (CLUSTER, cluster)] {
        tags.insert(key.to_owned(), value.to_owned());
    }
    Ok(tags)
}

fn is_restricted(key: &str) -> bool {
    let of_cluster = key.strip_prefix("kubernetes.io/cluster/");
    let named = of_cluster.is_some_and(|name| {
        let rest = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        name.bytes()
            .next()
            .is_some_and(|first| first.is_ascii_alphanumeric())
            && name.bytes().all(rest)
    });
    named || [CLUSTER, NODE_POOL, NODE_CLAIM, CLASS].contains(&key)
}

/// Tags that an instance still lacks once its node is known. A name that somebody gave it stays.
pub fn of_instance(has: &Tags, cluster: &str, claim: &str, node: &str) -> Tags {
    let wanted = [("Name", node), (NODE_CLAIM, claim), (CLUSTER, cluster)];
    let missing = wanted
        .into_iter()
        .filter(|(key, _)| !has.contains_key(*key));
    missing
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(pairs: &[(&str, &str)]) -> Tags {
        let own = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        pairs.iter().map(own).collect()
    }

    #[test]
    fn a_launch_has_the_tags_of_the_class_and_those_that_rights_ask_for() {
        let spec = tags(&[("team", "shop"), ("Name", "web")]);
        let all = of_launch(Some(&spec), "demo", "general", "default").expect("tags");
        let expected = tags(&[
            ("Name", "web"),
            ("eks:eks-cluster-name", "demo"),
            ("karpenter.k8s.aws/ec2nodeclass", "default"),
            ("karpenter.sh/nodepool", "general"),
            ("kubernetes.io/cluster/demo", "owned"),
            ("team", "shop"),
        ]);
        assert_eq!(all, expected);
    }

    #[test]
    fn tags_that_the_controller_writes_are_refused_by_name() {
        for key in [
            "kubernetes.io/cluster/demo",
            "karpenter.sh/nodepool",
            "karpenter.sh/nodeclaim",
            "karpenter.k8s.aws/ec2nodeclass",
            "eks:eks-cluster-name",
        ] {
            let refused = of_launch(Some(&tags(&[(key, "x")])), "demo", "general", "default");
            assert_eq!(refused, Err(RestrictedTag(key.to_owned())));
        }
        for key in [
            "kubernetes.io/cluster/",
            "kubernetes.io/clusters",
            "karpenter.sh/other",
        ] {
            assert!(
                of_launch(Some(&tags(&[(key, "x")])), "demo", "general", "default").is_ok(),
                "{key}"
            );
        }
    }

    #[test]
    fn an_instance_gets_the_tags_that_it_lacks() {
        let has = tags(&[("Name", "mine"), ("eks:eks-cluster-name", "demo")]);
        let missing = of_instance(&has, "demo", "general-x7k2p", "ip-10-0-0-1");
        assert_eq!(
            missing,
            tags(&[("karpenter.sh/nodeclaim", "general-x7k2p")])
        );
    }
}
