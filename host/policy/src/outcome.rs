//! The end of a call: one label, the answer or a sentence, and what it used.

use std::fmt;

/// How a call ended. Its text is the label of metrics and records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// The answer passed all checks.
    Ok,
    /// The module declined to answer.
    PolicyError,
    /// The module trapped: a panic, a fault, too deep a recursion.
    Trap,
    /// The module used up its fuel. The same question does so on every machine.
    Fuel,
    /// The module used up its CPU time. Not the same on every machine.
    Deadline,
    /// The module failed after it was refused memory.
    Memory,
    /// The answer was of the wrong length, out of range, or could not be read.
    InvalidOutput,
    /// The machine was too busy: no place among the concurrent calls came free in time, or the call got too little CPU time.
    Saturated,
    /// The module is in quarantine: it was not called, or its answer is not followed.
    Quarantined,
}

impl Outcome {
    /// The label.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::PolicyError => "policy-error",
            Self::Trap => "trap",
            Self::Fuel => "fuel",
            Self::Deadline => "deadline",
            Self::Memory => "memory",
            Self::InvalidOutput => "invalid-output",
            Self::Saturated => "saturated",
            Self::Quarantined => "quarantined",
        }
    }

    /// `true` if the module failed: what counts towards its quarantine. One that declines has answered, and what the machine had
    /// no time for says nothing of the module.
    pub const fn blames_module(self) -> bool {
        matches!(
            self,
            Self::Trap | Self::Fuel | Self::Deadline | Self::Memory | Self::InvalidOutput
        )
    }

    /// `true` if another machine might have ended the same call otherwise.
    pub const fn depends_on_machine(self) -> bool {
        matches!(self, Self::Deadline | Self::Saturated)
    }

    /// `true` if the same question to the same module ends the same way everywhere, so that a replay must agree.
    pub const fn is_deterministic(self) -> bool {
        !matches!(self, Self::Deadline | Self::Saturated | Self::Quarantined)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.label())
    }
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The class; never [`Outcome::Ok`].
    pub outcome: Outcome,
    /// The fault as a part of a sentence; text of the module in it is cleaned and short.
    pub sentence: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

impl Fault {
    /// The failure of a policy of that name, in words that follow `but`.
    pub fn of_policy(&self, policy: &str) -> String {
        format!("policy {policy} failed ({}: {self})", self.outcome)
    }
}

/// A line that the module left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// How much it matters, in the module's eyes.
    pub level: LogLevel,
    /// The text, cleaned and short.
    pub message: String,
}

/// How much a line matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// For the module's author.
    Debug,
    /// For observers.
    Info,
    /// Something looks wrong.
    Warn,
    /// Something is wrong; a panic comes as this.
    Error,
}

/// A call that has ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Called<T> {
    /// The checked answer, or why there is none.
    pub result: Result<T, Fault>,
    /// Fuel used by the call, instantiation apart. Comparable within one engine version only.
    pub fuel: u64,
    /// Most linear memory the instance had, bytes.
    pub memory_peak: usize,
    /// Lines the module left, the first 64 of them and 8 KiB at most.
    pub log: Vec<LogLine>,
    /// Lines beyond those.
    pub log_dropped: u32,
}

impl<T> Called<T> {
    /// The class of the call.
    pub fn outcome(&self) -> Outcome {
        self.result
            .as_ref()
            .map_or_else(|fault| fault.outcome, |_| Outcome::Ok)
    }

    pub(crate) fn refused(outcome: Outcome, sentence: &str) -> Self {
        let fault = Fault {
            outcome,
            sentence: sentence.to_owned(),
        };
        Self {
            result: Err(fault),
            fuel: 0,
            memory_peak: 0,
            log: Vec::new(),
            log_dropped: 0,
        }
    }

    pub(crate) fn and_then<U>(self, check: impl FnOnce(T) -> Result<U, Fault>) -> Called<U> {
        let Self {
            result,
            fuel,
            memory_peak,
            log,
            log_dropped,
        } = self;
        Called {
            result: result.and_then(check),
            fuel,
            memory_peak,
            log,
            log_dropped,
        }
    }
}
