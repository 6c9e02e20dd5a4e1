//! Assumptions and omissions of a reader: warnings that do not stop anybody.

use std::fmt;

use plimsoll_base::words::SHOWN;

use crate::replicas::ASSUMED_DRIVER;

/// Objects that a note speaks of: the first few by name, and how many there are.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Named {
    shown: Vec<String>,
    count: usize,
}

impl Named {
    /// Takes in one more.
    pub(crate) fn add(&mut self, name: String) {
        self.count += 1;
        if self.shown.len() < SHOWN {
            self.shown.push(name);
        }
    }

    /// Takes in one more unless it is the same as the last.
    pub(crate) fn add_once(&mut self, name: String) {
        if self.shown.last() != Some(&name) {
            self.add(name);
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.count
    }
}

impl FromIterator<String> for Named {
    fn from_iter<Names: IntoIterator<Item = String>>(names: Names) -> Self {
        let mut result = Self::default();
        names.into_iter().for_each(|name| result.add(name));
        result
    }
}

impl fmt::Display for Named {
    /// `a, b`; of many the first few and a count: `a, b, c, d, e and 12 more`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown.join(", "))?;
        match self.count - self.shown.len() {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

/// Reasons why no pods are planned for a workload that has none in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Idle {
    /// It is to have none.
    Empty,
    /// A Deployment that is paused before its first pods.
    Paused,
    /// A Job that is suspended.
    Suspended,
    /// A CronJob, which has pods only while it runs.
    Scheduled,
    /// An API server has seen it, and the file does not say that it is a capture of a cluster.
    OfServer,
    /// An API server has seen it, and the file is a capture: there are no pods. Nothing is told of it.
    Captured,
}

impl fmt::Display for Idle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "no replicas are asked for, so no pods are planned",
            Self::Paused => "paused, so no pods are planned",
            Self::Suspended => "suspended, so no pods are planned",
            Self::Scheduled => "its pods exist only while it runs, so none are planned",
            Self::OfServer => {
                "read from a server and without pods in this file, so none are planned; add the pods, or remove metadata.uid and \
                 metadata.resourceVersion to plan its replicas"
            }
            Self::Captured => "without pods in the cluster",
        })
    }
}

/// A workload that is planned as the pods that its controller would make.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PlannedWorkload {
    /// Kind, namespace and name.
    pub name: String,
    /// How many pods it has at once.
    pub pods: u64,
    /// `true` if it is a Job, whose pods are no replicas.
    pub is_job: bool,
}

/// One thing worth telling.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Note {
    /// An object that an API server has accepted and that cannot be read.
    Unreadable {
        /// The kind.
        kind: String,
        /// Namespace and name.
        name: String,
        /// The field, the value and what was expected.
        sentence: String,
    },
    /// Objects of a kind that decisions do not read.
    UnknownKind {
        /// `apiVersion` and `kind`.
        kind: String,
        /// How many there were.
        count: usize,
    },
    /// A field that the kind does not have.
    UnknownField {
        /// The kind.
        kind: &'static str,
        /// The field, with indexes left out.
        path: String,
        /// The objects that have it.
        objects: Named,
    },
    /// Something about objects of a kind that their author should know.
    Remark {
        /// The kind.
        kind: String,
        /// Their names.
        objects: Named,
        /// The field and what is odd about it.
        sentence: String,
        /// `true` if they work as written all the same.
        works: bool,
    },
    /// Workloads of manifests that are planned as their pods.
    PlannedReplicas(Vec<PlannedWorkload>),
    /// Workloads that are planned as nothing.
    IdleWorkloads {
        /// Their kinds and names.
        workloads: Named,
        /// Why.
        why: Idle,
    },
    /// A workload of a manifest that no API server would take.
    BadWorkload {
        /// Kind and name.
        workload: String,
        /// The field and what is wrong with it.
        problem: String,
    },
    /// The storage class of claims that are planned is not in the file.
    AssumedClass {
        /// Its name; `None` for a default class.
        class: Option<String>,
        /// The workloads whose volumes are of it.
        workloads: Named,
    },
    /// A field that our section does not have.
    UnknownSectionField {
        /// The field.
        path: String,
        /// The field that was probably meant.
        meant: Option<String>,
    },
    /// The file has no pools.
    DefaultPool,
    /// Pools name classes that are not among those of the file.
    MissingClasses {
        /// The classes, each with its pools: `cheap (NodePool batch)`.
        classes: Named,
    },
    /// The file names no instant.
    AssumedTime {
        /// The newest instant in it.
        time: String,
    },
    /// The file names no catalogue.
    AssumedRegion {
        /// The region taken.
        region: String,
        /// `true` if its nodes say so.
        from_nodes: bool,
        /// The region of its nodes, where no prices of that are known.
        unpriced: Option<String>,
    },
    /// A pod cannot be planned.
    PodProblem {
        /// Namespace and name of the first.
        pod: String,
        /// The fault in words.
        problem: String,
        /// How many pods have the same problem.
        count: usize,
    },
}

impl Note {
    /// `true` if something is wrong or was not understood; the rest are assumptions and advice.
    pub fn is_wrong(&self) -> bool {
        match self {
            Self::Unreadable { .. }
            | Self::UnknownField { .. }
            | Self::UnknownSectionField { .. }
            | Self::PodProblem { .. }
            | Self::BadWorkload { .. }
            | Self::Remark { works: false, .. } => true,
            Self::UnknownKind { .. }
            | Self::PlannedReplicas(_)
            | Self::IdleWorkloads { .. }
            | Self::AssumedClass { .. }
            | Self::DefaultPool
            | Self::MissingClasses { .. }
            | Self::AssumedTime { .. }
            | Self::AssumedRegion { .. }
            | Self::Remark { works: true, .. } => false,
        }
    }

    /// `true` if it is of objects that cannot be read, wholly or in part, or that do not work as they are written.
    pub fn is_of_unread(&self) -> bool {
        matches!(
            self,
            Self::Unreadable { .. } | Self::Remark { works: false, .. }
        )
    }

    /// `true` if it is advice on what works as written.
    pub fn is_advice(&self) -> bool {
        matches!(self, Self::Remark { works: true, .. })
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable {
                kind,
                name,
                sentence,
            } => write!(f, "{kind} {name} cannot be read: {sentence}"),
            Self::UnknownKind { kind, count } => {
                write!(
                    f,
                    "{kind}: {count} ignored, decisions do not read this kind"
                )
            }
            Self::UnknownField {
                kind,
                path,
                objects,
            } => write!(f, "{kind} {objects}: {path} is not a known field"),
            Self::Remark {
                kind,
                objects,
                sentence,
                ..
            } => write!(f, "{kind} {objects}: {sentence}"),
            Self::PlannedReplicas(workloads) => planned_replicas(workloads, f),
            Self::IdleWorkloads { workloads, why } => write!(f, "{workloads}: {why}"),
            Self::BadWorkload { workload, problem } => {
                write!(f, "{workload}: {problem}: no pods are planned")
            }
            Self::AssumedClass { class, workloads } => {
                match class {
                    Some(class) => {
                        write!(f, "{workloads}: storage class {class} is not in this file")?;
                    }
                    None => write!(f, "{workloads}: this file has no default storage class")?,
                }
                write!(
                    f,
                    ", taking volumes of {ASSUMED_DRIVER} in the zones of their pods"
                )
            }
            Self::UnknownSectionField { path, meant } => {
                write!(f, "plimsoll.{path} is not a known field")?;
                match meant {
                    Some(meant) => write!(f, "; did you mean {meant}?"),
                    None => Ok(()),
                }
            }
            Self::DefaultPool => f.write_str(
                "no NodePool: taking one named default (linux, amd64, on-demand, no limits)",
            ),
            Self::MissingClasses { classes } => write!(
                f,
                "EC2NodeClass {classes} is not in the file: taking default kubelet settings and disks"
            ),
            Self::AssumedTime { time } => {
                write!(
                    f,
                    "no plimsoll.time: taking {time}, the newest instant in the file"
                )
            }
            Self::AssumedRegion {
                region,
                from_nodes: true,
                ..
            } => {
                write!(
                    f,
                    "no plimsoll.catalogue: taking {region}, the region of the nodes"
                )
            }
            Self::AssumedRegion {
                region,
                from_nodes: false,
                unpriced,
            } => {
                write!(f, "no plimsoll.catalogue: taking region {region}")?;
                match unpriced {
                    Some(own) => write!(
                        f,
                        "; no prices of {own}, the region of the nodes, are known"
                    ),
                    None => Ok(()),
                }
            }
            Self::PodProblem {
                pod,
                problem,
                count: 1,
            } => write!(f, "pod {pod}: {problem}"),
            Self::PodProblem {
                pod,
                problem,
                count,
            } => {
                write!(f, "pod {pod}: {problem} (and {} more pods)", count - 1)
            }
        }
    }
}

/// `Deployment shop/web has no pods in this file: planned as its 3 replicas`, or the same of several.
fn planned_replicas(workloads: &[PlannedWorkload], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if let [only] = workloads {
        let what = match (only.is_job, only.pods) {
            (true, 1) => "pod",
            (true, _) => "pods",
            (false, 1) => "replica",
            (false, _) => "replicas",
        };
        let PlannedWorkload { name, pods, .. } = only;
        return write!(
            f,
            "{name} has no pods in this file: planned as its {pods} {what}"
        );
    }
    let names = workloads.iter();
    let names: Named = names
        .map(|own| format!("{} ({})", own.name, own.pods))
        .collect();
    let pods: u64 = workloads.iter().map(|own| own.pods).sum();
    write!(
        f,
        "{names} have no pods in this file: planned as their {pods} replicas"
    )
}
