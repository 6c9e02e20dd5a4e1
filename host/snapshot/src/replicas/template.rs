//! Workloads as far as they make pods: how many at once, of what, or why none.

use std::fmt;

use plimsoll_base::labels::Labels;
use plimsoll_model::WorkloadKind;
use serde_json::Value;

use crate::error::SnapshotError;
use crate::note::Idle;

/// Kinds of workloads that make pods of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Maker {
    Deployment,
    ReplicaSet,
    StatefulSet,
    ReplicationController,
    Job,
    CronJob,
}

/// Each with its API version, its kind and the plural of that.
const MAKERS: [(Maker, &str, &str, &str); 6] = [
    (Maker::Deployment, "apps/v1", "Deployment", "deployments"),
    (Maker::ReplicaSet, "apps/v1", "ReplicaSet", "replicasets"),
    (Maker::StatefulSet, "apps/v1", "StatefulSet", "statefulsets"),
    (
        Maker::ReplicationController,
        "v1",
        "ReplicationController",
        "replicationcontrollers",
    ),
    (Maker::Job, "batch/v1", "Job", "jobs"),
    (Maker::CronJob, "batch/v1", "CronJob", "cronjobs"),
];

impl Maker {
    fn parse(api_version: &str, kind: &str) -> Option<Self> {
        let known = |row: &&(Self, &str, &str, &str)| (row.1, row.2) == (api_version, kind);
        MAKERS.iter().find(known).map(|row| row.0)
    }

    fn row(self) -> &'static (Self, &'static str, &'static str, &'static str) {
        let own = |row: &&(Self, &str, &str, &str)| row.0 == self;
        MAKERS.iter().find(own).unwrap_or(&MAKERS[0])
    }

    /// `apiVersion` of its objects.
    pub(super) fn api_version(self) -> &'static str {
        self.row().1
    }

    /// The kind as the API writes it.
    pub(super) fn kind(self) -> &'static str {
        self.row().2
    }

    /// The kind among those that decisions read; `None` for the others.
    pub(super) fn read_as(self) -> Option<WorkloadKind> {
        Some(match self {
            Self::Deployment => WorkloadKind::Deployment,
            Self::ReplicaSet => WorkloadKind::ReplicaSet,
            Self::StatefulSet => WorkloadKind::StatefulSet,
            Self::ReplicationController => WorkloadKind::ReplicationController,
            Self::Job | Self::CronJob => return None,
        })
    }
}

/// A workload without a controller.
#[derive(Debug)]
pub(crate) struct Template {
    pub(super) maker: Maker,
    pub(super) namespace: String,
    pub(super) name: String,
    /// Position among objects of its kind.
    index: usize,
    /// `true` if an API server has seen the object.
    is_of_server: bool,
    /// Pods that it makes at once.
    pub(super) count: u64,
    /// Why it makes none, where it does not.
    pub(super) idle: Option<Idle>,
    /// The specification as it is written; null of an object that a server has seen.
    pub(super) spec: Value,
}

impl fmt::Display for Template {
    /// `Deployment shop/web`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}/{}", self.maker.kind(), self.namespace, self.name)
    }
}

impl Template {
    /// The template of an object, the `index`th of its kind; `None` for other kinds and for what others control.
    pub(crate) fn of(
        api_version: &str,
        kind: &str,
        index: usize,
        value: &Value,
    ) -> Option<Result<Self, SnapshotError>> {
        let maker = Maker::parse(api_version, kind)?;
        let meta = |field: &str| value["metadata"][field].as_str();
        let owners = value["metadata"]["ownerReferences"].as_array();
        let mut owners = owners.into_iter().flatten();
        if owners.any(|owner| owner["controller"] == true) {
            return None;
        }
        let is_of_server = meta("uid").or(meta("resourceVersion")).is_some();
        let spec = &value["spec"];
        let mut template = Self {
            maker,
            namespace: meta("namespace").unwrap_or("default").to_owned(),
            name: meta("name").unwrap_or_default().to_owned(),
            index,
            is_of_server,
            count: 0,
            idle: None,
            spec: if is_of_server {
                Value::Null
            } else {
                spec.clone()
            },
        };
        Some(match template.pods_at_once(spec) {
            Ok(count) => {
                template.count = count;
                template.idle = idle(maker, spec, count);
                Ok(template)
            }
            Err(sentence) => Err(template.refused(&sentence)),
        })
    }

    /// `true` if an API server has seen the object.
    pub(crate) fn is_of_server(&self) -> bool {
        self.is_of_server
    }

    fn pods_at_once(&self, spec: &Value) -> Result<u64, String> {
        let number = |field: &str| match &spec[field] {
            Value::Null => Ok(None),
            value => match value.as_u64() {
                Some(number) => Ok(Some(number)),
                None => Err(format!(
                    "spec.{field} is {value}; expected a number of at least 0"
                )),
            },
        };
        Ok(match self.maker {
            Maker::Job => {
                let at_once = number("parallelism")?.unwrap_or(1);
                at_once.min(number("completions")?.unwrap_or(at_once))
            }
            Maker::CronJob => 0,
            _ => number("replicas")?.unwrap_or(1),
        })
    }

    /// The field that says how many pods it makes.
    pub(super) fn counted_by(&self) -> &'static str {
        match self.maker {
            Maker::Job | Maker::CronJob => "spec.parallelism",
            _ => "spec.replicas",
        }
    }

    /// An error of the object.
    pub(super) fn refused(&self, sentence: &str) -> SnapshotError {
        SnapshotError::Object {
            list: self.maker.row().3.to_owned(),
            index: self.index,
            sentence: format!("{}/{}: {sentence}", self.namespace, self.name),
        }
    }

    /// Labels of its pods.
    pub(super) fn labels(&self) -> Labels {
        let labels = self.spec["template"]["metadata"]["labels"].as_object();
        let labels = labels.into_iter().flatten();
        let labels = labels.filter_map(|(key, value)| Some((key, value.as_str()?)));
        labels
            .map(|(key, value)| (key.as_str().into(), value.into()))
            .collect()
    }
}

/// Why a workload makes no pods, if it does not. A new Deployment that is paused gets no ReplicaSet.
fn idle(maker: Maker, spec: &Value, count: u64) -> Option<Idle> {
    match maker {
        Maker::CronJob => Some(Idle::Scheduled),
        Maker::Job if spec["suspend"] == true => Some(Idle::Suspended),
        Maker::Deployment if spec["paused"] == true => Some(Idle::Paused),
        _ => (count == 0).then_some(Idle::Empty),
    }
}
