//! An excerpt of records: the decisions of one policy, with what they refer to and nothing else, for a module to carry as its vectors.
//!
//! What depends on the machine that recorded them is left out (its engine, the fuel, what was played), so that the same decisions give the
//! same bytes everywhere. Decisions are taken from the first on, as long as they fit.

use std::collections::BTreeSet;
use std::io::BufRead;

use serde_json::Value;

use super::fold::{DEPTH, FoldError, Parts, reference};
use super::form::{Heading, Line, ModuleLine, Part, Record, VERSION};
use super::question::Question;
use super::read::{Entry, Reader, RecordsError};
use super::vectors::SelfTest;
use crate::limits::SelfTestLimits;
use crate::manifest::Manifest;

/// Decisions for a module to carry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// The records.
    pub bytes: Vec<u8>,
    /// Contents of the records.
    pub holds: SelfTest,
    /// Answered decisions of the policy that there are in all.
    pub found: usize,
}

/// Takes the answered decisions of the policy of that manifest out of records, as many as a module may carry.
pub fn excerpt<R: BufRead>(
    mut reader: Reader<R>,
    manifest: &Manifest,
    limits: &SelfTestLimits,
) -> Result<Excerpt, RecordsError> {
    let (mut taken, mut found, mut is_full) = (Taken::begin(limits), 0, false);
    while let Some(entry) = reader.next_entry()? {
        let Entry::Decision(record) = entry else {
            continue;
        };
        // The reader passes no decision on without its module.
        let Some(module) = reader.modules().get(&record.module) else {
            continue;
        };
        let is_ours = (module.hook, &module.name) == (manifest.hook, &manifest.name);
        if !is_ours || record.answer.is_none() {
            continue;
        }
        found += 1;
        if is_full {
            continue;
        }
        match taken.with(*record, module, &reader.parts)? {
            Some(more) if more.fits(limits) => taken = more,
            _ => is_full = true,
        }
    }
    Ok(Excerpt {
        bytes: taken.bytes,
        holds: taken.holds,
        found,
    })
}

/// Records taken so far.
#[derive(Clone)]
struct Taken {
    bytes: Vec<u8>,
    holds: SelfTest,
    /// Digests of parts and of modules that are there.
    written: BTreeSet<String>,
    /// Values that questions may still have.
    values: usize,
}

impl Taken {
    fn begin(limits: &SelfTestLimits) -> Self {
        let mut taken = Self {
            bytes: Vec::new(),
            holds: SelfTest::default(),
            written: BTreeSet::new(),
            values: limits.values,
        };
        taken.line(&Line::Records(Heading {
            version: VERSION.to_owned(),
            engine: String::new(),
            run: None,
        }));
        taken
    }

    fn fits(&self, limits: &SelfTestLimits) -> bool {
        self.bytes.len() <= limits.bytes
            && self.holds.vectors <= limits.vectors
            && self.holds.rows <= limits.rows
    }

    /// The same with one decision more; nothing where its question has too many values.
    fn with(
        &self,
        record: Record,
        module: &ModuleLine,
        parts: &Parts,
    ) -> Result<Option<Self>, RecordsError> {
        let number = record.number;
        let torn = |field| {
            move |source| RecordsError::Parts {
                number,
                field,
                source,
            }
        };
        let mut more = self.clone();
        let question = match parts.unfold_within(&record.question, &mut more.values) {
            Err(FoldError::TooLarge) => return Ok(None),
            whole => whole.map_err(torn("its question"))?,
        };
        let question = Question::read(record.call, question)
            .map_err(|source| RecordsError::Question { number, source })?;
        more.holds.rows = more.holds.rows.saturating_add(question.len());
        more.holds.vectors += 1;
        if more.written.insert(module.sha256.clone()) {
            more.line(&Line::Module(module.clone()));
        }
        let add = more.add(&record.question, parts, DEPTH);
        add.map_err(torn("its question"))?;
        let answer = record.answer.as_ref().unwrap_or(&Value::Null);
        let add = more.add(answer, parts, DEPTH);
        add.map_err(torn("its answer"))?;
        more.line(&Line::Decision(Box::new(Record {
            number: more.holds.vectors as u64,
            fuel: 0,
            ..record
        })));
        Ok(Some(more))
    }

    /// Writes the parts that a value refers to, each after those that it refers to itself.
    fn add(&mut self, value: &Value, parts: &Parts, depth: usize) -> Result<(), FoldError> {
        if let Some(sha256) = reference(value) {
            if self.written.contains(sha256) {
                return Ok(());
            }
            let depth = depth.checked_sub(1).ok_or(FoldError::TooLarge)?;
            let part = parts.named(sha256)?;
            self.add(&part, parts, depth)?;
            self.written.insert(sha256.to_owned());
            self.line(&Line::Part(Part {
                sha256: sha256.to_owned(),
                value: part.as_ref().clone(),
            }));
            return Ok(());
        }
        match value {
            Value::Array(values) => values
                .iter()
                .try_for_each(|one| self.add(one, parts, depth)),
            Value::Object(fields) => fields
                .values()
                .try_for_each(|one| self.add(one, parts, depth)),
            _ => Ok(()),
        }
    }

    fn line(&mut self, line: &Line) {
        let text = serde_json::to_vec(line).expect("lines have texts as keys");
        self.bytes.extend_from_slice(&text);
        self.bytes.push(b'\n');
    }
}
