//! Labels that a kubelet gives its node, also as one argument of the kubelet.

use plimsoll_base::labels::Labels;

/// Domains whose labels the API server takes from no kubelet (admission plug-in `NodeRestriction`).
const RESTRICTED: [&str; 3] = ["kubernetes.io", "k8s.io", "node-restriction.kubernetes.io"];

/// Labels as the kubelet's argument has them, by key; `None` where there are none.
pub(crate) fn argument(labels: &Labels) -> Option<String> {
    let pairs = allowed(labels).map(|(key, value)| format!("{key}={value}"));
    let pairs: Vec<String> = pairs.collect();
    (!pairs.is_empty()).then(|| format!("--node-labels=\"{}\"", pairs.join(",")))
}

/// Labels that a kubelet may give its node, by key.
pub(super) fn allowed(labels: &Labels) -> impl Iterator<Item = (&str, &str)> {
    let all = labels.iter().map(|(key, value)| (&**key, &**value));
    all.filter(|(key, _)| is_allowed(key))
}

fn is_allowed(key: &str) -> bool {
    let Some((domain, _)) = key.split_once('/') else {
        return true;
    };
    !RESTRICTED.iter().any(|restricted| {
        let rest = domain.strip_suffix(restricted);
        rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn labels_that_a_kubelet_may_not_give_itself_are_left_out() {
        let labels: Labels = [
            ("team", "shop"),
            ("karpenter.sh/nodepool", "general"),
            ("kubernetes.io/arch", "arm64"),
            ("topology.k8s.aws/zone-id", "use1-az1"),
            ("node.kubernetes.io/instance-type", "m7g.large"),
            ("kops.k8s.io/x", "y"),
            ("notkubernetes.io/x", "y"),
        ]
        .map(|(key, value)| (Arc::from(key), Arc::from(value)))
        .into();
        let expected = "--node-labels=\"karpenter.sh/nodepool=general,notkubernetes.io/x=y,team=shop,topology.k8s.aws/zone-id=use1-az1\"";
        assert_eq!(argument(&labels).as_deref(), Some(expected));
        assert_eq!(argument(&Labels::default()), None);
    }
}
