//! Commands that find no cluster: what they say first, and how it can be mended.

use std::path::Path;

use crate::server::kubeconfig;
use crate::user::{Folder, Ran, command};

/// Runs the program where nothing names a cluster or a namespace, with more variables.
fn ran(arguments: &[&str], home: &Path, more: &[(&str, &str)]) -> Ran {
    let mut command = command(arguments);
    for name in [
        "KUBECONFIG",
        "KUBERNETES_SERVICE_HOST",
        "KUBERNETES_SERVICE_PORT",
        "LEADER_ELECTION_NAMESPACE",
        "SYSTEM_NAMESPACE",
        "DISABLE_LEADER_ELECTION",
        "CLUSTER_NAME",
    ] {
        command.env_remove(name);
    }
    command.env("HOME", home).envs(more.iter().copied());
    command.output().expect("the program starts").into()
}

const RUN: [&str; 3] = ["run", "--provider", "kwok"];
const NONE: &str = "no cluster: there is no kubeconfig at $KUBECONFIG or ~/.kube/config, and this is no pod; expected --kubeconfig FILE";

#[test]
fn a_kubeconfig_that_is_missing_is_told_before_the_lease() {
    let folder = Folder::new();
    let home = folder.path("");
    let missing = "no cluster: --kubeconfig /nope cannot be read: No such file or directory (expected a kubeconfig file)";
    let explain = ["explain", "pod", "web"];
    for start in [&RUN[..], &explain] {
        let named = ran(&[start, &["--kubeconfig", "/nope"]].concat(), &home, &[]);
        assert_eq!((named.code, named.error()), (3, missing), "{named:?}");
        let none = ran(start, &home, &[]);
        assert_eq!((none.code, none.error()), (3, NONE), "{none:?}");
        let none = ran(start, &home, &[("KUBECONFIG", "/nope")]);
        let words = NONE.replace("$KUBECONFIG or ~/.kube/config", "/nope ($KUBECONFIG)");
        assert_eq!((none.code, none.error()), (3, &*words), "{none:?}");
    }
}

#[test]
fn a_kubeconfig_that_is_no_kubeconfig_is_told_with_its_place() {
    let folder = Folder::new();
    let home = folder.path("");
    let broken = folder.file("broken.yaml", "[");
    let told = ran(&[&RUN[..], &["--kubeconfig", &broken]].concat(), &home, &[]);
    let begin = format!("no cluster: --kubeconfig {broken} cannot be read: ");
    assert!(told.error().starts_with(&begin), "{told:?}");
    assert!(
        told.error().ends_with(" (expected a kubeconfig file)"),
        "{told:?}"
    );
    let good = kubeconfig(&folder, 1);
    let other = ["--kubeconfig", &good, "--context", "other"];
    let told = ran(&[&RUN[..], &other].concat(), &home, &[]);
    let words = format!(
        "no cluster: --kubeconfig {good} has no context other; expected one of its contexts"
    );
    assert_eq!((told.code, told.error()), (3, &*words), "{told:?}");
}

/// The namespace is asked for once there is a cluster.
#[test]
fn with_a_cluster_the_lease_is_next() {
    let folder = Folder::new();
    let good = kubeconfig(&folder, 1);
    let told = ran(
        &[&RUN[..], &["--kubeconfig", &good]].concat(),
        &folder.path(""),
        &[],
    );
    let begin = "no namespace for the lease is known outside a cluster; expected --leader-election-namespace";
    assert!(told.error().starts_with(begin), "{told:?}");
}

#[cfg(feature = "aws")]
#[test]
fn a_cluster_without_a_name_is_told_before_the_lease() {
    let folder = Folder::new();
    let good = kubeconfig(&folder, 1);
    let arguments = ["run", "--provider", "aws", "--kubeconfig", &good];
    let told = ran(&arguments, &folder.path(""), &[]);
    let words = "no name of the cluster; expected one as --cluster-name or CLUSTER_NAME";
    assert_eq!(told.error(), words, "{told:?}");
}
