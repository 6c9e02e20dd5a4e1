//! Notes of what a file has that is not used as it is written, each fact once with the objects that it is about.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_api::Severity;

use super::Gatherer;
use crate::note::Note;

impl Gatherer {
    /// Notes of everything that was skipped.
    pub(crate) fn notes(&self) -> Vec<Note> {
        let kinds = self
            .unknown_kinds
            .iter()
            .map(|(kind, count)| Note::UnknownKind {
                kind: kind.clone(),
                count: *count,
            });
        let fields = self.unknown_fields.iter();
        let fields = fields.map(|((kind, path), objects)| Note::UnknownField {
            kind,
            path: path.clone(),
            objects: objects.clone(),
        });
        let remarks = self.remarks.iter();
        let remarks = remarks.map(|((severity, kind, sentence), objects)| Note::Remark {
            kind: kind.clone(),
            objects: objects.clone(),
            sentence: sentence.clone(),
            works: *severity == Severity::Advice,
        });
        let unreadable = self.unreadable.iter().cloned();
        let said = unreadable.chain(kinds).chain(fields).chain(remarks);
        said.chain(self.problems()).collect()
    }

    fn problems(&self) -> Vec<Note> {
        let mut problems: BTreeMap<&Arc<str>, (String, usize)> = BTreeMap::new();
        for pod in &self.objects.pods {
            if let Some(problem) = &pod.spec.problem {
                let first = problems
                    .entry(problem)
                    .or_insert_with(|| (pod.name.to_string(), 0));
                first.1 += 1;
            }
        }
        let note = |(problem, (pod, count)): (&Arc<str>, (String, usize))| Note::PodProblem {
            pod,
            problem: problem.to_string(),
            count,
        };
        problems.into_iter().map(note).collect()
    }
}
