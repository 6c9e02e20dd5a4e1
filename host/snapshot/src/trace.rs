//! The published table of a production trace, as a recording.
//!
//! Each task becomes a pod that arrives when the task was created and runs for as long as the task existed: of best effort, the pod of
//! a Job, whose work is lost when it is evicted; else the one replica of a service, which another replaces for the rest of its time.
//! Shares of a GPU become whole ones, since no device plugin shares them; a kind of GPU that no instance type has becomes any kind.

use std::io::Read;
use std::sync::Arc;

use plimsoll_api::{Interner, Object};
use plimsoll_base::ids::{ObjectName, Uid};
use plimsoll_base::labels::LabelKey;
use plimsoll_base::requirement::Requirement;
use plimsoll_base::resources::{ResourceName, Resources};
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_model::{Owner, OwnerKind, Pod, PodSpec};
use serde::Deserialize;

use crate::error::SnapshotError;
use crate::recording::{Change, TimedChange};

/// Namespace of the pods.
const NAMESPACE: &str = "trace";
/// The resource that stands for a GPU.
const GPU: &str = "nvidia.com/gpu";
/// The label that names a node's GPU.
const GPU_NAME: &str = "karpenter.k8s.aws/instance-gpu-name";
/// Kinds of GPU in the trace that instance types have, and what these call them.
const GPU_NAMES: [(&str, &str); 4] = [
    ("A10", "a10g"),
    ("T4", "t4"),
    ("V100M16", "v100"),
    ("V100M32", "v100"),
];
/// Quality of service of tasks that run to their end.
const BEST_EFFORT: &str = "BE";
/// Largest number of GPUs a task may ask for.
const MAX_GPUS: i64 = 1024;
/// Largest cpu in milli-cores and memory in MiB a task may ask for.
const MAX_AMOUNT: i64 = 1 << 40;
/// Largest instant in seconds.
const MAX_SECONDS: i64 = 1 << 40;

/// One row of the table.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct TraceRow {
    /// Name of the task.
    pub name: String,
    /// Milli-cores.
    pub cpu_milli: i64,
    /// MiB of memory.
    pub memory_mib: i64,
    /// GPUs.
    pub num_gpu: i64,
    /// Thousandths of each GPU.
    pub gpu_milli: i64,
    /// Kinds of GPU it can use, separated by bars; any when empty.
    #[serde(default)]
    pub gpu_spec: Option<String>,
    /// Quality of service: `BE` for best effort, `LS` for what is sensitive to latency, and others.
    #[serde(default)]
    pub qos: Option<String>,
    /// Seconds since the trace began, when the task was created.
    pub creation_time: i64,
    /// Seconds since the trace began, when the task was deleted.
    pub deletion_time: i64,
}

impl TraceRow {
    /// How long the task existed.
    pub fn lifetime(&self) -> Span {
        Span::from_secs(self.deletion_time - self.creation_time)
    }

    fn check(&self) -> Result<(), String> {
        for (column, value, most) in [
            ("cpu_milli", self.cpu_milli, MAX_AMOUNT),
            ("memory_mib", self.memory_mib, MAX_AMOUNT),
            ("num_gpu", self.num_gpu, MAX_GPUS),
            ("gpu_milli", self.gpu_milli, MAX_AMOUNT),
            ("creation_time", self.creation_time, MAX_SECONDS),
            ("deletion_time", self.deletion_time, MAX_SECONDS),
        ] {
            if !(0..=most).contains(&value) {
                let task = &self.name;
                return Err(format!("{task}: {column} is {value}; expected 0 to {most}"));
            }
        }
        if self.deletion_time < self.creation_time {
            return Err(format!(
                "{}: deletion_time is {}; expected no time before creation_time, {}",
                self.name, self.deletion_time, self.creation_time
            ));
        }
        Ok(())
    }
}

/// Reads the rows of a table one at a time.
pub fn rows(table: impl Read) -> impl Iterator<Item = Result<TraceRow, SnapshotError>> {
    let mut reader = csv::Reader::from_reader(table);
    let header = reader.headers().cloned();
    let mut record = csv::StringRecord::new();
    let mut has_ended = false;
    std::iter::from_fn(move || {
        if has_ended {
            return None;
        }
        let next = match &header {
            Err(error) => Err(table_error(error, 1)),
            Ok(header) => match reader.read_record(&mut record) {
                Ok(false) => return None,
                Err(error) => Err(table_error(&error, reader.position().line())),
                Ok(true) => row(&record, header, reader.position().line()),
            },
        };
        has_ended = next.is_err();
        Some(next)
    })
}

fn row(
    record: &csv::StringRecord,
    header: &csv::StringRecord,
    next_line: u64,
) -> Result<TraceRow, SnapshotError> {
    let line = record.position().map_or(next_line, csv::Position::line);
    let row: TraceRow = record
        .deserialize(Some(header))
        .map_err(|error| table_error(&error, line))?;
    match row.check() {
        Ok(()) => Ok(row),
        Err(sentence) => Err(SnapshotError::Trace { line, sentence }),
    }
}

fn table_error(error: &csv::Error, line: u64) -> SnapshotError {
    let line = error.position().map_or(line, csv::Position::line);
    let sentence = match error.kind() {
        csv::ErrorKind::Deserialize { err, .. } => {
            let column = err.field().map_or(0, |field| field + 1);
            format!("column {column}: {}", err.kind())
        }
        csv::ErrorKind::UnequalLengths {
            expected_len, len, ..
        } => {
            format!("has {len} columns; expected {expected_len}, as in the first line")
        }
        csv::ErrorKind::Utf8 { .. } => "the bytes are not UTF-8 text".to_owned(),
        _ => error.to_string(),
    };
    SnapshotError::Trace { line, sentence }
}

/// A recording of the tasks: arrivals in order of time, with the trace beginning at `start`.
pub fn recording(
    rows: impl IntoIterator<Item = Result<TraceRow, SnapshotError>>,
    start: Timestamp,
) -> Result<Vec<TimedChange>, SnapshotError> {
    let mut interner = Interner::new();
    let mut changes = Vec::new();
    for row in rows {
        let row = row?;
        let at = start + Span::from_secs(row.creation_time);
        let pod = pod(&row, at, &mut interner);
        changes.push(TimedChange {
            at,
            change: Change::Upsert {
                object: Object::Whole(pod.into()),
                runs_for: Some(row.lifetime()),
            },
        });
    }
    changes.sort_by_key(|change| change.at);
    Ok(changes)
}

fn pod(row: &TraceRow, created: Timestamp, interner: &mut Interner) -> Pod {
    let mut spec = PodSpec {
        requests: requests(row),
        ..PodSpec::default()
    };
    if let Some(names) = gpu_names(row) {
        spec.node_selector
            .add(Requirement::one_of(LabelKey::from(GPU_NAME), names));
    }
    Pod {
        labels: interner.labels([]),
        spec: interner.spec(spec),
        owner: Some(Owner {
            kind: if row.qos.as_deref() == Some(BEST_EFFORT) {
                OwnerKind::Job
            } else {
                OwnerKind::ReplicaSet
            },
            name: Arc::from(row.name.as_str()),
            uid: Uid::from(row.name.as_str()),
        }),
        ..Pod::pending(
            Uid::from(row.name.as_str()),
            ObjectName::new(interner.text(NAMESPACE), row.name.as_str()),
            created,
        )
    }
}

fn requests(row: &TraceRow) -> Resources {
    let mut requests = Resources::new()
        .with(ResourceName::Cpu, row.cpu_milli)
        .with(ResourceName::Memory, row.memory_mib << 20)
        .with(ResourceName::Pods, 1);
    if row.num_gpu > 0 {
        requests.set(ResourceName::from(GPU), row.num_gpu);
    }
    requests
}

/// The GPUs the task can use, as instance types name them; `None` for any.
fn gpu_names(row: &TraceRow) -> Option<Vec<&'static str>> {
    let kinds = row.gpu_spec.as_deref().filter(|kinds| !kinds.is_empty());
    let known = |kind: &str| {
        let found = GPU_NAMES.iter().find(|(ours, _)| *ours == kind);
        found.map(|(_, name)| *name)
    };
    kinds
        .filter(|_| row.num_gpu > 0)?
        .split('|')
        .map(known)
        .collect()
}

#[cfg(test)]
mod tests {

    use super::*;

    const HEADER: &str = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n";

    fn import(rows_text: &str) -> Result<Vec<TimedChange>, String> {
        let table = format!("{HEADER}{rows_text}");
        recording(rows(table.as_bytes()), Timestamp::default()).map_err(|error| error.to_string())
    }

    fn pod_of(change: &TimedChange) -> (&Pod, Span) {
        match &change.change {
            Change::Upsert {
                object: Object::Whole(plimsoll_model::Object::Pod(pod)),
                runs_for: Some(span),
            } => (pod, *span),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn tasks_arrive_in_order_and_run_as_long_as_they_existed() {
        let changes = import(
            "late,6000,12288,1,460,,LS,Running,427061,12902960,427061\n\
             early,1000,512,0,0,,BE,Pending,60,3660,\n",
        )
        .unwrap();
        let (early, runs_for) = pod_of(&changes[0]);
        assert_eq!(early.name.to_string(), "trace/early");
        assert_eq!(changes[0].at.millis(), 60_000);
        assert_eq!(runs_for, Span::from_secs(3600));
        assert_eq!(
            early.spec.requests.to_string(),
            "cpu 1, memory 512Mi, pods 1"
        );
        assert!(early.unschedulable, "nothing has placed it yet");
        assert!(
            early.is_owned_by(OwnerKind::Job),
            "its work is lost when it moves"
        );
        let (late, _) = pod_of(&changes[1]);
        let gpus = late.spec.requests.get(&ResourceName::from(GPU));
        assert_eq!(gpus, 1, "0.46 of a GPU is a whole one");
    }

    #[test]
    fn known_kinds_of_gpu_are_asked_for_and_unknown_ones_are_any() {
        let changes = import(
            "a,1,1,2,1000,V100M16|V100M32,LS,Running,0,1,0\n\
             b,1,1,2,1000,G2|T4,LS,Running,0,1,0\n",
        )
        .unwrap();
        let selector = |at: usize| pod_of(&changes[at]).0.spec.node_selector.to_string();
        assert_eq!(selector(0), "karpenter.k8s.aws/instance-gpu-name In [v100]");
        assert_eq!(selector(1), "");
    }

    #[test]
    fn rows_that_make_no_sense_are_refused_with_their_line() {
        for (row, sentence) in [
            (
                "a,-1,1,0,0,,LS,Running,0,1,0\n",
                "line 2: a: cpu_milli is -1; expected 0 to 1099511627776",
            ),
            (
                "a,1,1,0,0,,LS,Running,5,1,0\n",
                "line 2: a: deletion_time is 1; expected no time before creation_time, 5",
            ),
            (
                "a,1,1,0,0\n",
                "line 2: has 5 columns; expected 11, as in the first line",
            ),
            (
                "a,x,1,0,0,,LS,Running,0,1,0\n",
                "line 2: column 2: invalid digit found in string",
            ),
        ] {
            assert_eq!(import(row).unwrap_err(), sentence);
        }
    }
}
