//! Assumptions and omissions of a reader: warnings that do not stop anybody.

use std::fmt;

/// One thing worth telling.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Note {
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
        /// How many objects have it.
        count: usize,
    },
    /// Something about an object that its author should know.
    Remark {
        /// Kind and name of the first such object.
        object: String,
        /// The field and what is odd about it.
        sentence: String,
        /// `true` if the object works as written all the same.
        works: bool,
        /// How many objects have it.
        count: usize,
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
        /// Their names.
        names: String,
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
            Self::UnknownField { .. }
            | Self::UnknownSectionField { .. }
            | Self::PodProblem { .. }
            | Self::Remark { works: false, .. } => true,
            Self::UnknownKind { .. }
            | Self::DefaultPool
            | Self::MissingClasses { .. }
            | Self::AssumedTime { .. }
            | Self::AssumedRegion { .. }
            | Self::Remark { works: true, .. } => false,
        }
    }

    /// `true` if it is advice on what works as written.
    pub fn is_advice(&self) -> bool {
        matches!(self, Self::Remark { works: true, .. })
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownKind { kind, count } => {
                write!(
                    f,
                    "{kind}: {count} passed over, decisions do not read this kind"
                )
            }
            Self::UnknownField { kind, path, count } => {
                let objects = if *count == 1 { "object" } else { "objects" };
                write!(f, "{kind}: {path} is not a known field ({count} {objects})")
            }
            Self::Remark {
                object,
                sentence,
                count,
                ..
            } => {
                write!(f, "{object}: {sentence}")?;
                match count {
                    0 | 1 => Ok(()),
                    count => write!(f, " (and {} more objects)", count - 1),
                }
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
            Self::MissingClasses { names } => write!(
                f,
                "EC2NodeClass {names} is named by NodePools and not in the file: taking default kubelet settings and disks"
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
