//! Keys of annotations, taints and finalizers, beside the label keys of [`plimsoll_base::labels`].

/// Asks that a pod, node or claim not be disrupted: `true`, or on pods a duration counted from the pod's start.
pub const DO_NOT_DISRUPT: &str = "karpenter.sh/do-not-disrupt";
/// Annotation of a claim: when its drain must be over, as RFC 3339.
pub const TERMINATION_TIMESTAMP: &str = "karpenter.sh/nodeclaim-termination-timestamp";
/// How pods are packed onto a pool's new nodes: `price` or `compatible`.
pub const PACKING: &str = "plimsoll.dev/packing";
/// On a capacity buffer: from when on it asks for its room, five cron fields in UTC; without it, always.
pub const SPARE_SCHEDULE: &str = "plimsoll.dev/spare-schedule";
/// On a capacity buffer: for how long from each hit of [`SPARE_SCHEDULE`].
pub const SPARE_DURATION: &str = "plimsoll.dev/spare-duration";
/// On a pod, pool or claim written by us into a file: why its specification could not be understood when it was read.
pub const PROBLEM: &str = "plimsoll.dev/problem";
/// On a pool or claim written by us into a file: parts that were ignored when it was read, as a JSON list.
pub const IGNORED: &str = "plimsoll.dev/ignored";
/// Annotation of a pod: the cost of losing it rather than another of its workload, a whole number; 0 when absent.
pub const POD_DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";
/// Marks the storage class used by claims that name none.
pub const DEFAULT_CLASS: &str = "storageclass.kubernetes.io/is-default-class";
/// Older spelling of [`DEFAULT_CLASS`], still honoured.
pub const DEFAULT_CLASS_BETA: &str = "storageclass.beta.kubernetes.io/is-default-class";
/// The class of a claim, in the spelling from before `spec.storageClassName`.
pub const CLAIM_CLASS_BETA: &str = "volume.beta.kubernetes.io/storage-class";
/// Set on a volume claim once its binding is complete.
pub const BIND_COMPLETED: &str = "pv.kubernetes.io/bind-completed";

/// Domain of the keys that Karpenter's provider for AWS gives a meaning, and group of its kinds.
pub const AWS_DOMAIN: &str = "karpenter.k8s.aws";

/// Taint of nodes chosen for disruption or being terminated.
pub const TAINT_DISRUPTED: &str = "karpenter.sh/disrupted";
/// Taint of nodes from their start until they have registered.
pub const TAINT_UNREGISTERED: &str = "karpenter.sh/unregistered";
/// Finalizer of claims and nodes: drain, detach and terminate first.
pub const FINALIZER: &str = "karpenter.sh/termination";

/// `true` if decisions may read an annotation: those of Karpenter's and our own domains. The rest is not kept.
pub fn is_read_annotation(key: &str) -> bool {
    let domain = key.split_once('/').map_or("", |(domain, _)| domain);
    ["karpenter.sh", AWS_DOMAIN, "plimsoll.dev"]
        .iter()
        .any(|ours| {
            domain
                .strip_suffix(ours)
                .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_annotations_of_known_domains_are_read() {
        for (key, read) in [
            (DO_NOT_DISRUPT, true),
            ("compatibility.karpenter.k8s.aws/cluster-name-tagged", true),
            (PACKING, true),
            ("notkarpenter.sh/x", false),
            ("kubectl.kubernetes.io/last-applied-configuration", false),
            ("plain", false),
        ] {
            assert_eq!(is_read_annotation(key), read, "{key}");
        }
    }
}
