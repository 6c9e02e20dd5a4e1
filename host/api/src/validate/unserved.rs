//! Kinds and versions that no server takes any more.

use super::finding::Findings;
use crate::schema::TABLES;

/// Kinds of older versions and what took their place.
const REPLACED: [(&str, &str); 3] = [
    ("Provisioner", "NodePool of karpenter.sh/v1"),
    ("Machine", "NodeClaim of karpenter.sh/v1"),
    ("AWSNodeTemplate", "EC2NodeClass of karpenter.k8s.aws/v1"),
];

/// Tells that a kind or version is old; other kinds are none of our business.
pub(super) fn check(group: &str, kind: &str, version: &str, findings: &mut Findings) {
    if let Some((_, now)) = REPLACED.iter().find(|(old, _)| *old == kind)
        && ["karpenter.sh", "karpenter.k8s.aws"].contains(&group)
    {
        return findings.error("", format!("kind {kind} is not served; expected {now}"));
    }
    let known = TABLES
        .iter()
        .find(|table| (table.group, table.kind) == (group, kind));
    if let Some(table) = known {
        findings.error(
            "apiVersion",
            format!(
                "is \"{group}/{version}\", which is not served; expected {group}/{}",
                table.version
            ),
        );
    }
}
