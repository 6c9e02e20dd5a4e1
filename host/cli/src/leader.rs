//! Settings of leader election, by flag and environment under Karpenter's names, and the identity of this process.

use std::fs;
use std::hash::{BuildHasher, RandomState};

use anyhow::{Result, bail};
use kube::Client;
use plimsoll_controller::lease::{Candidate, Timings};

use crate::flags::LeaderElection;

/// Karpenter's lease: the process that holds it acts, be it Karpenter's or ours.
pub(crate) const NAME: &str = "karpenter-leader-election";
/// Where a pod finds the namespace that it runs in.
const NAMESPACE_FILE: &str = "/var/run/secrets/kubernetes.io/serviceaccount/namespace";

/// A lease, by namespace and name.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LeaseName {
    namespace: String,
    name: String,
}

impl LeaseName {
    /// The lease to hold while acting; `None` where leader election is off. A flag wins over the environment.
    pub(crate) fn of(
        flags: &LeaderElection,
        environment: impl Fn(&str) -> Option<String>,
    ) -> Result<Option<Self>> {
        let environment = |name: &str| environment(name).filter(|value| !value.is_empty());
        let disabled = || environment("DISABLE_LEADER_ELECTION").is_some_and(|text| is_true(&text));
        if flags.disabled.unwrap_or_else(disabled) {
            return Ok(None);
        }
        let given = |flag: &Option<String>, name: &str| {
            let flag = flag.clone().filter(|value| !value.is_empty());
            flag.or_else(|| environment(name))
        };
        let Some(namespace) = namespace(flags, environment) else {
            bail!(
                "no namespace for the lease is known outside a cluster; expected --leader-election-namespace, or --disable-leader-election where no other process serves this cluster"
            );
        };
        let name = given(&flags.name, "LEADER_ELECTION_NAME");
        Ok(Some(Self {
            namespace,
            name: name.unwrap_or_else(|| NAME.to_owned()),
        }))
    }

    /// Name of the lease, without its namespace.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// This process as a candidate for the lease.
    pub(crate) fn candidate(self, client: Client) -> Candidate {
        Candidate {
            client,
            namespace: self.namespace,
            name: self.name,
            identity: identity(),
            timings: Timings::default(),
        }
    }
}

/// The namespace of this process; `None` where nothing names one, as outside a cluster. A flag wins over the environment.
pub(crate) fn namespace(
    flags: &LeaderElection,
    environment: impl Fn(&str) -> Option<String>,
) -> Option<String> {
    let environment = |name: &str| environment(name).filter(|value| !value.is_empty());
    let flag = flags.namespace.clone().filter(|value| !value.is_empty());
    flag.or_else(|| environment("LEADER_ELECTION_NAMESPACE"))
        .or_else(|| environment("SYSTEM_NAMESPACE"))
        .or_else(|| own_namespace(NAMESPACE_FILE))
}

fn own_namespace(path: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// `true` for the words that Karpenter takes for true in its environment.
pub(crate) fn is_true(text: &str) -> bool {
    ["1", "t", "T", "true", "TRUE", "True"].contains(&text)
}

/// `true` for the words that Karpenter takes for false in its environment.
pub(crate) fn is_false(text: &str) -> bool {
    ["0", "f", "F", "false", "FALSE", "False"].contains(&text)
}

/// Host and a random number, as in Karpenter: no two processes have the same.
fn identity() -> String {
    let host = hostname::get().unwrap_or_else(|_| "plimsoll".into());
    // Each of these has a key of the system's random bytes.
    let random = || RandomState::new().hash_one(());
    format!("{}_{:016x}{:016x}", host.display(), random(), random())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(disabled: Option<bool>, namespace: Option<&str>) -> LeaderElection {
        LeaderElection {
            disabled,
            name: None,
            namespace: namespace.map(ToOwned::to_owned),
        }
    }

    fn lease(flags: &LeaderElection, environment: &[(&str, &str)]) -> Option<String> {
        let value = |name: &str| {
            let mut known = environment.iter();
            known
                .find(|(known, _)| *known == name)
                .map(|(_, value)| (*value).to_owned())
        };
        let lease = LeaseName::of(flags, value).unwrap();
        lease.map(|lease| format!("{}/{}", lease.namespace, lease.name))
    }

    #[test]
    fn a_flag_wins_over_the_environment_and_both_over_the_default() {
        let environment = [
            ("LEADER_ELECTION_NAMESPACE", "theirs"),
            ("LEADER_ELECTION_NAME", "ours"),
            ("SYSTEM_NAMESPACE", "pod"),
        ];
        let flagged = flags(None, Some("mine"));
        assert_eq!(lease(&flagged, &environment).as_deref(), Some("mine/ours"));
        let plain = flags(None, None);
        assert_eq!(lease(&plain, &environment).as_deref(), Some("theirs/ours"));
        assert_eq!(
            lease(&plain, &environment[2..]).as_deref(),
            Some("pod/karpenter-leader-election")
        );
    }

    #[test]
    fn it_is_off_where_flag_or_environment_say_so() {
        let off = [
            ("DISABLE_LEADER_ELECTION", "1"),
            ("SYSTEM_NAMESPACE", "pod"),
        ];
        assert_eq!(lease(&flags(None, None), &off), None);
        assert_eq!(lease(&flags(Some(true), None), &[]), None);
        assert!(lease(&flags(Some(false), None), &off).is_some());
        let unread = [
            ("DISABLE_LEADER_ELECTION", "yes"),
            ("SYSTEM_NAMESPACE", "pod"),
        ];
        assert!(lease(&flags(None, None), &unread).is_some());
    }

    #[test]
    fn without_a_namespace_the_way_out_is_said() {
        let error = LeaseName::of(&flags(None, None), |_| None).unwrap_err();
        assert!(
            error.to_string().contains("--leader-election-namespace"),
            "{error}"
        );
    }

    #[test]
    fn no_two_identities_are_the_same() {
        assert_ne!(identity(), identity());
    }
}
