//! Tags of what is made for a class: by them instances are known as ours, to us, to people and to the rights of the controller's role.

use plimsoll_api::kinds::Tags;
use plimsoll_model::action::LAUNCH_TOKEN_ANNOTATION;

/// Tag of all that belongs to a cluster, by its name.
pub const CLUSTER: &str = "eks:eks-cluster-name";
/// Tag of instances with the name of their pool.
pub const NODE_POOL: &str = "karpenter.sh/nodepool";
/// Tag of instances with the name of their claim, once they have a node.
pub const NODE_CLAIM: &str = "karpenter.sh/nodeclaim";
/// Tag of instances with the name of their class.
pub const CLASS: &str = "karpenter.k8s.aws/ec2nodeclass";

/// Tag by which people know an instance.
const NAME: &str = "Name";

/// A tag of a class that only the controller may write.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("spec.tags has the key \"{0}\"; expected keys that the controller does not write itself")]
pub struct RestrictedTag(pub String);

/// More tags than an instance may have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "spec.tags has {has} keys, and the controller writes {ours} more on an instance, which may have {MOST}; expected at most {}",
    MOST - ours
)]
pub struct TooManyTags {
    /// Keys of the class.
    pub has: usize,
    /// Keys beside these that an instance gets, once its node is known.
    pub ours: usize,
}

/// Tags that EC2 takes on one resource.
const MOST: usize = 50;

/// Fails where an instance cannot have the tags of a class beside those of the controller.
pub fn fit(spec: Option<&Tags>, cluster: &str) -> Result<(), TooManyTags> {
    let own = [
        CLUSTER,
        NODE_POOL,
        NODE_CLAIM,
        CLASS,
        NAME,
        LAUNCH_TOKEN_ANNOTATION,
    ];
    let of_cluster = owned(cluster);
    let ours = own.into_iter().chain([of_cluster.as_str()]);
    let ours = ours.filter(|key| spec.is_none_or(|spec| !spec.contains_key(*key)));
    let (has, ours) = (spec.map_or(0, Tags::len), ours.count());
    if has + ours > MOST {
        return Err(TooManyTags { has, ours });
    }
    Ok(())
}

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
    let wanted = [(NAME, node), (NODE_CLAIM, claim), (CLUSTER, cluster)];
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
    fn a_class_leaves_room_for_the_tags_of_the_controller() {
        let many = |count: usize, more: &[(&str, &str)]| {
            let own = (0..count).map(|number| (format!("key-{number}"), String::new()));
            own.chain(tags(more)).collect::<Tags>()
        };
        for (own, refused) in [
            (many(43, &[]), None),
            (many(44, &[]), Some((44, 7))),
            // Its own name stays.
            (many(43, &[("Name", "web")]), None),
        ] {
            let fits = fit(Some(&own), "demo");
            let told = fits.err().map(|many| (many.has, many.ours));
            assert_eq!(told, refused);
        }
        let many = TooManyTags { has: 44, ours: 7 };
        assert_eq!(
            many.to_string(),
            "spec.tags has 44 keys, and the controller writes 7 more on an instance, which may have 50; expected at most 43"
        );
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
