//! Writes records: looks on while policies decide, and writes down what it is told.
//!
//! Lines are whole and in order: what a line refers to stands before it. A line that cannot be written ends the writing and not the
//! deciding; the caller that began the file learns of it from [`Recorder::finish`].

use std::collections::BTreeSet;
use std::fmt;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use plimsoll_hooks::hook::PolicySettings;
use plimsoll_hooks::rank::Tables;
use plimsoll_model::command::Settled;
use plimsoll_model::snapshot::Snapshot;
use serde::Serialize;
use serde_json::{Value, json};

use super::digest::{digest_of_decision, digest_of_plan};
use super::fold::Folder;
use super::form::{
    Call, Heading, LedgerLine, Line, Made, ModuleLine, Part, Record, RunLine, VERSION, What,
};
use crate::consider::Considered;
use crate::decide::Decision;
use crate::engine::Engine;
use crate::manifest::Manifest;
use crate::module::Checked;
use crate::observer::{Asked, Observer};
use crate::outcome::Called;

/// Counts of a finished file of records.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Recorded {
    /// Calls of modules.
    pub decisions: u64,
    /// Plans and decisions about nodes.
    pub made: u64,
}

/// Writes records of whatever it looks on to.
pub struct Recorder {
    inner: Mutex<Inner>,
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").finish_non_exhaustive()
    }
}

/// Who is told when a file cannot be written any more.
type Tell = Box<dyn Fn(&io::Error) + Send>;

struct Inner {
    out: Box<dyn Write + Send>,
    folder: Folder,
    modules: BTreeSet<String>,
    /// The tables of the last question, which the next one may share.
    tables: Option<(Arc<Tables>, Value)>,
    recorded: Recorded,
    failed: Option<io::Error>,
    tell: Option<Tell>,
}

/// A call that has ended, whatever its hook.
struct Ended<'c, Raw, Typed> {
    call: Call,
    sha256: &'c str,
    manifest: &'c Manifest,
    settings: &'c PolicySettings,
    called: &'c Called<Checked<Raw, Typed>>,
}

impl Recorder {
    /// Begins a file.
    pub fn begin(
        out: Box<dyn Write + Send>,
        engine: &Engine,
        run: Option<RunLine>,
    ) -> io::Result<Self> {
        let mut inner = Inner {
            out,
            folder: Folder::default(),
            modules: BTreeSet::new(),
            tables: None,
            recorded: Recorded::default(),
            failed: None,
            tell: None,
        };
        inner.line(&Line::Records(Heading {
            version: VERSION.to_owned(),
            engine: engine.id(),
            run,
        }))?;
        inner.out.flush()?;
        Ok(Self {
            inner: Mutex::new(inner),
        })
    }

    /// The same, telling at once when it fails.
    #[must_use]
    pub fn telling(self, failed: impl Fn(&io::Error) + Send + 'static) -> Self {
        let mut inner = self
            .inner
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        inner.tell = Some(Box::new(failed));
        Self {
            inner: Mutex::new(inner),
        }
    }

    /// Finishes the file and counts it; fails with the first error of writing.
    pub fn finish(&self) -> io::Result<Recorded> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        match inner.failed.take() {
            Some(error) => Err(error),
            None => inner.out.flush().map(|()| inner.recorded),
        }
    }

    fn write(&self, lines: impl FnOnce(&mut Inner) -> io::Result<()>) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if inner.failed.is_none() {
            let written = lines(&mut inner).and_then(|()| inner.out.flush());
            inner.failed = written.err();
            if let (Some(error), Some(tell)) = (&inner.failed, &inner.tell) {
                tell(error);
            }
        }
    }
}

impl Observer for Recorder {
    fn asked(&self, asked: &Asked<'_>) {
        self.write(|inner| inner.asked(asked));
    }

    fn planned(&self, _snapshot: &Snapshot, decision: &Decision) {
        let sha256 = digest_of_plan(&decision.plan);
        self.write(|inner| inner.made(What::Plan, sha256));
    }

    fn considered(&self, _snapshot: &Snapshot, considered: &Considered) {
        let sha256 = digest_of_decision(&considered.decision);
        self.write(|inner| inner.made(What::Disruption, sha256));
    }

    fn settled(&self, settled: &Settled) {
        let line = Line::Ledger(LedgerLine::of(settled));
        self.write(|inner| inner.line(&line));
    }
}

impl Inner {
    fn asked(&mut self, asked: &Asked<'_>) -> io::Result<()> {
        macro_rules! ended {
            ($call:ident, $ended:ident) => {
                Ended {
                    call: Call::$call,
                    sha256: $ended.module.sha256(),
                    manifest: $ended.module.manifest(),
                    settings: $ended.module.settings(),
                    called: $ended.called,
                }
            };
        }
        match asked {
            Asked::Price(ended) => {
                let tables = self.tables(&ended.question.tables)?;
                let (context, pools) = (&ended.question.context, &ended.question.pools);
                let question = json!({"context": context, "tables": tables, "pools": pools});
                self.record(&ended!(Price, ended), question)
            }
            Asked::Order(ended) => {
                let tables = self.tables(&ended.question.tables)?;
                let (context, claims) = (&ended.question.context, &ended.question.claims);
                let question = json!({"context": context, "tables": tables, "claims": claims});
                self.record(&ended!(Order, ended), question)
            }
            Asked::Score(ended) => {
                let question = serde_json::to_value(ended.question)?;
                self.record(&ended!(Score, ended), question)
            }
            Asked::Allow(ended) => {
                let question = serde_json::to_value(ended.question)?;
                self.record(&ended!(Allow, ended), question)
            }
        }
    }

    fn record<Raw: Serialize, Typed>(
        &mut self,
        asked: &Ended<'_, Raw, Typed>,
        question: Value,
    ) -> io::Result<()> {
        self.module(asked.sha256, asked.manifest)?;
        let question = self.fold(question)?;
        let called = asked.called;
        let (answer, fault) = match &called.result {
            Ok(checked) => (Some(self.fold(serde_json::to_value(&checked.raw)?)?), None),
            Err(fault) => (None, Some(fault.sentence.clone())),
        };
        self.recorded.decisions += 1;
        self.line(&Line::Decision(Box::new(Record {
            number: self.recorded.decisions,
            call: asked.call,
            module: asked.sha256.to_owned(),
            settings: asked.settings.clone(),
            question,
            outcome: called.outcome().label().to_owned(),
            fault,
            fuel: called.fuel,
            answer,
        })))
    }

    fn made(&mut self, what: What, sha256: String) -> io::Result<()> {
        self.recorded.made += 1;
        self.line(&Line::Made(Made {
            number: self.recorded.made,
            what,
            sha256,
        }))
    }

    /// The module, the first time that it is met.
    fn module(&mut self, sha256: &str, manifest: &Manifest) -> io::Result<()> {
        if !self.modules.insert(sha256.to_owned()) {
            return Ok(());
        }
        let reasons = manifest.reasons.iter().map(|reason| reason.text.clone());
        self.line(&Line::Module(ModuleLine {
            sha256: sha256.to_owned(),
            hook: manifest.hook,
            name: manifest.name.clone(),
            version: manifest.version.clone(),
            reasons: reasons.collect(),
        }))
    }

    /// The tables of a question, taken apart once for all questions that share them.
    fn tables(&mut self, tables: &Arc<Tables>) -> io::Result<Value> {
        if let Some((known, folded)) = &self.tables
            && Arc::ptr_eq(known, tables)
        {
            return Ok(folded.clone());
        }
        let folded = self.fold(serde_json::to_value(tables.as_ref())?)?;
        self.tables = Some((Arc::clone(tables), folded.clone()));
        Ok(folded)
    }

    fn fold(&mut self, value: Value) -> io::Result<Value> {
        let mut new = Vec::new();
        let folded = self.folder.fold(value, &mut new);
        for (sha256, value) in new {
            self.line(&Line::Part(Part { sha256, value }))?;
        }
        Ok(folded)
    }

    fn line(&mut self, line: &Line) -> io::Result<()> {
        serde_json::to_writer(&mut self.out, line)?;
        self.out.write_all(b"\n")
    }
}
