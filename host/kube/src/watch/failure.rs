//! Failures of lists and watches, by what has to be done about them.

use std::fmt;

use kube::Error;
use plimsoll_api::Kind;
use plimsoll_base::event_reason::EventReason;

/// Why a kind is not seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    kind: Kind,
    /// `list` or `watch`.
    verb: &'static str,
    cause: Cause,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Cause {
    /// The right is missing.
    Forbidden,
    /// The API server knows no such kind.
    NotServed,
    /// Whatever ends by itself, in words.
    Interrupted(String),
}

impl Failure {
    /// A failure of a request; without an error the server has said nothing, or ended its answer at once.
    pub fn of(kind: Kind, verb: &'static str, error: Option<&Error>) -> Self {
        let cause = match error {
            Some(Error::Api(status)) if status.code == 403 => Cause::Forbidden,
            Some(Error::Api(status)) if status.code == 404 => Cause::NotServed,
            Some(Error::Api(status)) => Cause::Interrupted(status.message.clone()),
            Some(error) => Cause::Interrupted(error.to_string()),
            None => Cause::Interrupted("the API server does not answer".to_owned()),
        };
        Self { kind, verb, cause }
    }

    /// The kind that is not seen.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// `true` if it lasts until somebody changes rights or definitions.
    pub fn needs_people(&self) -> bool {
        self.reason().is_some()
    }

    /// The reason of an event about it; `None` for what passes by itself.
    pub fn reason(&self) -> Option<EventReason> {
        match self.cause {
            Cause::Forbidden => Some(EventReason::Forbidden),
            Cause::NotServed => Some(EventReason::NotFound),
            Cause::Interrupted(_) => None,
        }
    }
}

impl fmt::Display for Failure {
    /// A sentence with the kind, the verb and the way out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (plural, group, verb) = (self.kind.plural(), self.kind.group(), self.verb);
        match &self.cause {
            Cause::Forbidden => write!(
                f,
                "no right to {verb} {plural}; expected a ClusterRole of the controller's service account with apiGroups [\"{group}\"], resources [\"{plural}\"], verbs [\"list\", \"watch\"]"
            ),
            Cause::NotServed => write!(
                f,
                "{plural} of {} cannot be {}: the API server does not serve them; expected their definition to be installed",
                self.kind.api_version(),
                past(verb)
            ),
            Cause::Interrupted(words) => write!(f, "{plural} cannot be {}: {words}", past(verb)),
        }
    }
}

fn past(verb: &str) -> String {
    format!("{verb}ed")
}

#[cfg(test)]
mod tests {
    use super::*;
    use kube::core::Status;

    fn failure(code: u16) -> Failure {
        let status = Status {
            code,
            message: "etcd is gone".to_owned(),
            ..Status::default()
        };
        let error = Error::Api(status.boxed());
        Failure::of(Kind::PodDisruptionBudget, "watch", Some(&error))
    }

    #[test]
    fn a_missing_right_is_told_with_kind_verb_and_the_way_out() {
        let words = failure(403).to_string();
        for part in [
            "watch poddisruptionbudgets",
            "ClusterRole",
            "apiGroups [\"policy\"]",
            "verbs [\"list\", \"watch\"]",
        ] {
            assert!(words.contains(part), "{part} in {words}");
        }
        assert!(failure(403).needs_people() && failure(404).needs_people());
    }

    #[test]
    fn what_passes_by_itself_is_nobodys_task() {
        let interrupted = failure(503);
        assert!(!interrupted.needs_people());
        let words = "poddisruptionbudgets cannot be watched: etcd is gone";
        assert_eq!(interrupted.to_string(), words);
    }
}
