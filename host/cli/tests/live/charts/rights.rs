//! Rights of the chart, held against the requests that the program made.

use plimsoll_charts::{Right, Rights};

use super::installed::Installed;
use super::{NAME, NAMESPACE};

/// Rights that the test may have no use for, and what has.
const RARE: [(&str, &str); 4] = [
    (
        "patch nodepools.karpenter.sh",
        "a pool's nodes turn out smaller than their types",
    ),
    (
        "patch events.events.k8s.io",
        "the same happens to an object again within minutes",
    ),
    (
        "update nodepools/finalizers.karpenter.sh",
        "no request: admission asks for it when a claim names its pool as its owner",
    ),
    (
        "update nodeclaims/finalizers.karpenter.sh",
        "no request: admission asks for it when a node names its claim as its owner",
    ),
];

/// Holds the requests that came against the rights: each is allowed, and each right was of use or is known to be rare.
pub(super) fn judge(installed: &mut Installed) {
    let rendered = installed.release.render().expect("it renders");
    let rights = Rights::of(&rendered, NAMESPACE, NAME);
    let calls = installed.proxy.calls();
    // The version of the server is no object, and everybody's to read.
    let calls: Vec<_> = calls
        .iter()
        .filter(|call| !call.resource.is_empty())
        .collect();
    let refused: Vec<_> = calls.iter().filter(|call| !rights.allow(call)).collect();
    assert!(
        refused.is_empty(),
        "no right of the chart allows {refused:?}"
    );
    let is_used = |right: &&Right| calls.iter().any(|call| right.allows(call));
    let (used, unused): (Vec<&Right>, Vec<&Right>) = rights.0.iter().partition(is_used);
    let rare: Vec<&str> = RARE.iter().map(|(right, _)| *right).collect();
    let told = |rights: Vec<&Right>| rights.iter().map(ToString::to_string).collect::<Vec<_>>();
    let needless: Vec<String> = told(unused)
        .into_iter()
        .filter(|right| !rare.contains(&&**right))
        .collect();
    assert!(
        needless.is_empty(),
        "rights that nothing needs: {needless:?}"
    );
    eprintln!(
        "{} rights were of use to {} requests",
        used.len(),
        calls.len()
    );
    let log = installed.lab.log(NAME);
    assert!(
        !log.contains("forbidden") && !log.contains("no right to"),
        "{log}"
    );
}
