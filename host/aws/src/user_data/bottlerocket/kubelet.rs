//! Kubelet settings of a node in Bottlerocket's words: names, and values in the form that it reads.

use plimsoll_api::duration;
use serde_json::Value as Json;
use toml::{Table, Value};

use super::super::NodeSetup;

/// The form that a setting is written in.
#[derive(Clone, Copy, Debug)]
enum Form {
    Whole,
    Flag,
    /// A number, in quotes.
    WholeAsText,
    /// The first of a list.
    First,
    /// Texts by name.
    Texts,
    /// Durations by name, with every part from the largest on.
    Durations,
}

/// Fields of `spec.kubelet` with Bottlerocket's names.
const SETTINGS: [(&str, &str, Form); 11] = [
    ("maxPods", "max-pods", Form::Whole),
    ("clusterDNS", "cluster-dns-ip", Form::First),
    ("systemReserved", "system-reserved", Form::Texts),
    ("kubeReserved", "kube-reserved", Form::Texts),
    ("evictionHard", "eviction-hard", Form::Texts),
    ("evictionSoft", "eviction-soft", Form::Texts),
    (
        "evictionSoftGracePeriod",
        "eviction-soft-grace-period",
        Form::Durations,
    ),
    (
        "evictionMaxPodGracePeriod",
        "eviction-max-pod-grace-period",
        Form::Whole,
    ),
    (
        "imageGCHighThresholdPercent",
        "image-gc-high-threshold-percent",
        Form::WholeAsText,
    ),
    (
        "imageGCLowThresholdPercent",
        "image-gc-low-threshold-percent",
        Form::WholeAsText,
    ),
    ("cpuCFSQuota", "cpu-cfs-quota-enforced", Form::Flag),
];

/// A setting of kubelet that is written into the document.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct KubeletSetting {
    /// Bottlerocket's name.
    pub key: &'static str,
    /// Field of `spec.kubelet`.
    pub field: &'static str,
    /// The node's value.
    pub value: Value,
    /// The value that `spec.kubelet` has itself; `None` where the node's was computed, or is the cluster's.
    pub class_says: Option<Value>,
}

/// Settings of a node that are said, and not as nothing.
pub(super) fn kubelet_settings(node: &NodeSetup) -> Vec<KubeletSetting> {
    let one = |(field, key, form): (&'static str, &'static str, Form)| {
        let own = node.class_kubelet.get(field);
        Some(KubeletSetting {
            key,
            field,
            value: form.of(node.kubelet.get(field)?)?,
            class_says: own.and_then(|own| form.of(own)),
        })
    };
    SETTINGS.into_iter().filter_map(one).collect()
}

impl Form {
    /// A value in this form; `None` for nothing, and for what a check of the class has refused.
    fn of(self, value: &Json) -> Option<Value> {
        match self {
            Self::Whole => value.as_i64().map(Value::Integer),
            Self::Flag => value.as_bool().map(Value::Boolean),
            Self::WholeAsText => value.as_i64().map(|number| number.to_string().into()),
            Self::First => Some(value.as_array()?.first()?.as_str()?.into()),
            Self::Texts => table(value, str::to_owned),
            Self::Durations => table(value, |text| {
                let span = duration::parse(text);
                span.map_or_else(|| text.to_owned(), duration::write_whole)
            }),
        }
    }
}

/// Texts by name; `None` where there are none.
fn table(value: &Json, write: impl Fn(&str) -> String) -> Option<Value> {
    let entries = value.as_object()?.iter().filter_map(|(name, entry)| {
        let text = entry.as_str()?;
        Some((name.clone(), Value::from(write(text))))
    });
    let entries: Table = entries.collect();
    (!entries.is_empty()).then_some(Value::Table(entries))
}
