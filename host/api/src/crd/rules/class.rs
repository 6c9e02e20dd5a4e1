//! Rules of EC2NodeClass.
//!
//! Where the API's own rule has a hole (an exclusion that holds only if every term breaks it), so has ours.

use super::{Rule, Rules, has_any, listed, rule};
use crate::schema::known::{CLUSTER_TAG, FAMILIES, OWN_TAGS};

pub(super) fn class() -> Rules {
    let mut rules = Rules::from([
        ("spec", spec()),
        ("spec.amiSelectorTerms", images()),
        ("spec.amiSelectorTerms[].alias", alias()),
        ("spec.blockDeviceMappings", devices()),
        ("spec.blockDeviceMappings[].ebs", volume()),
        ("spec.capacityReservationSelectorTerms", reservations()),
        ("spec.connectionTracking", tracking()),
        ("spec.networkInterfaces", interfaces()),
        ("spec.placementGroupSelector", placement()),
        ("spec.securityGroupSelectorTerms", groups()),
        ("spec.subnetSelectorTerms", subnets()),
        ("spec.tags", own_tags()),
        ("spec.amiSelectorTerms[].name", filled_in("name")),
        ("spec.amiSelectorTerms[].owner", filled_in("owner")),
        (
            "spec.amiSelectorTerms[].ssmParameter",
            filled_in("ssmParameter"),
        ),
        ("spec.securityGroupSelectorTerms[].name", filled_in("name")),
        (
            "spec.role",
            vec![rule("self != ''", "role: expected the name of a role")],
        ),
        (
            "spec.instanceProfile",
            vec![rule(
                "self != ''",
                "instanceProfile: expected the name of an instance profile",
            )],
        ),
    ]);
    let tags = [
        "spec.amiSelectorTerms[].tags",
        "spec.capacityReservationSelectorTerms[].tags",
        "spec.securityGroupSelectorTerms[].tags",
        "spec.subnetSelectorTerms[].tags",
    ];
    rules.extend(tags.map(|path| (path, term_tags())));
    rules
}

fn spec() -> Vec<Rule> {
    let mut rules = vec![rule(
        "has(self.role) != has(self.instanceProfile)",
        "expected exactly one of role and instanceProfile",
    )];
    rules.extend(FAMILIES.map(|(alias, family)| {
        rule(
            format!(
                "!has(self.amiFamily) || self.amiFamily in ['{family}', 'Custom'] || !self.amiSelectorTerms.exists(x, has(x.alias) && x.alias.startsWith('{alias}@'))"
            ),
            format!("amiFamily: expected {family} or Custom, or none, with an alias of family {alias}"),
        )
    }));
    rules.push(rule(
        "has(self.amiFamily) || self.amiSelectorTerms.exists(x, has(x.alias))",
        "amiFamily: expected a family such as AL2023 or Custom; images without an alias do not say how they are booted",
    ));
    rules
}

/// Every term chooses by one of these.
fn chooses(fields: &[&str]) -> Rule {
    rule(
        format!("self.all(x, {})", has_any("x", fields)),
        format!("expected one of {} in every term", fields.join(", ")),
    )
}

/// No term has a field beside one of the others.
fn alone(field: &str, others: &[&str]) -> Rule {
    rule(
        format!(
            "!self.exists(x, has(x.{field}) && ({}))",
            has_any("x", others)
        ),
        format!(
            "expected {field} alone in its term, without {}",
            others.join(", ")
        ),
    )
}

/// Not every term has a field beside one of the others.
fn not_always_beside(field: &str, others: &[&str]) -> Rule {
    rule(
        format!("!self.all(x, has(x.{field}) && ({}))", has_any("x", others)),
        format!(
            "expected {field} alone in its term, without {}",
            others.join(", ")
        ),
    )
}

fn filled() -> Rule {
    rule("self.size() != 0", "expected at least one term")
}

/// An empty map would ask for everything that there is.
fn term_tags() -> Vec<Rule> {
    vec![
        rule(
            "self.size() != 0",
            "tags: expected at least one tag; an empty map selects nothing",
        ),
        rule(
            "self.all(x, x != '' && self[x] != '')",
            "tags: expected neither empty keys nor empty values; * stands for any value",
        ),
    ]
}

/// Text by which a term chooses.
fn filled_in(field: &str) -> Vec<Rule> {
    vec![rule(
        "self != ''",
        format!("{field}: expected text; an empty one selects nothing"),
    )]
}

fn images() -> Vec<Rule> {
    vec![
        chooses(&["tags", "id", "name", "alias", "ssmParameter"]),
        alone("id", &["alias", "tags", "name", "owner"]),
        alone("alias", &["id", "tags", "name", "owner"]),
        rule(
            "self.size() == 1 || !self.exists(x, has(x.alias))",
            "expected a term with alias to be the only one",
        ),
    ]
}

fn alias() -> Vec<Rule> {
    let families = FAMILIES.map(|(alias, _)| alias);
    vec![
        rule(
            "self.matches('^[a-zA-Z0-9]+@.+$')",
            "alias: expected family@version such as al2023@v20250403",
        ),
        rule(
            format!("self.split('@')[0] in {}", listed(families)),
            format!(
                "alias: expected one of the families {}",
                families.join(", ")
            ),
        ),
        rule(
            "!self.startsWith('windows') || self.split('@')[1] == 'latest'",
            "alias: expected version latest; images of Windows cannot be pinned",
        ),
    ]
}

fn subnets() -> Vec<Rule> {
    vec![
        filled(),
        chooses(&["tags", "id"]),
        not_always_beside("id", &["tags"]),
    ]
}

fn groups() -> Vec<Rule> {
    vec![
        filled(),
        chooses(&["tags", "id", "name"]),
        not_always_beside("id", &["tags", "name"]),
        not_always_beside("name", &["tags", "id"]),
    ]
}

/// An empty list has id beside others in each of its terms, so that it is refused, too.
fn reservations() -> Vec<Rule> {
    vec![
        chooses(&["tags", "id", "instanceMatchCriteria"]),
        not_always_beside("id", &["tags", "ownerID", "instanceMatchCriteria"]),
    ]
}

fn devices() -> Vec<Rule> {
    vec![rule(
        "self.filter(x, has(x.rootVolume) && x.rootVolume).size() <= 1",
        "rootVolume: expected true for one disk at most",
    )]
}

fn volume() -> Vec<Rule> {
    vec![
        rule(
            has_any("self", &["snapshotID", "volumeSize"]),
            "ebs: expected volumeSize or snapshotID",
        ),
        rule(
            "!has(self.volumeInitializationRate) || has(self.snapshotID) && self.snapshotID != ''",
            "volumeInitializationRate: expected snapshotID beside it, whose blocks are fetched",
        ),
    ]
}

fn tracking() -> Vec<Rule> {
    let timeouts = ["tcpEstablishedTimeout", "udpStreamTimeout", "udpTimeout"];
    vec![rule(
        has_any("self", &timeouts),
        format!(
            "connectionTracking: expected one of {}",
            timeouts.join(", ")
        ),
    )]
}

fn interfaces() -> Vec<Rule> {
    vec![
        rule(
            "self.size() == 0 || self.exists(x, x.networkCardIndex == 0 && x.deviceIndex == 0 && x.interfaceType == 'interface')",
            "expected networkCardIndex 0 with deviceIndex 0 and interfaceType interface among them",
        ),
        rule(
            "self.all(x, self.exists_one(y, y.networkCardIndex == x.networkCardIndex && y.deviceIndex == x.deviceIndex))",
            "deviceIndex: expected each pair of networkCardIndex and deviceIndex once",
        ),
        rule(
            "self.all(x, x.interfaceType != 'efa-only' || self.exists_one(y, y.networkCardIndex == x.networkCardIndex && y.interfaceType == 'efa-only'))",
            "interfaceType: expected efa-only once for a networkCardIndex",
        ),
    ]
}

fn placement() -> Vec<Rule> {
    vec![rule(
        "has(self.id) != has(self.name)",
        "placementGroupSelector: expected exactly one of id and name",
    )]
}

fn own_tags() -> Vec<Rule> {
    let own = listed(OWN_TAGS);
    vec![
        rule("self.all(x, x != '')", "tags: expected no empty key"),
        rule(
            format!("self.all(x, !(x in {own}))"),
            format!(
                "tags: expected keys other than {}, which the controller writes itself",
                OWN_TAGS.join(", ")
            ),
        ),
        rule(
            format!("self.all(x, !x.startsWith('{CLUSTER_TAG}'))"),
            format!(
                "tags: expected keys that do not begin with {CLUSTER_TAG}, by which resources belong to a cluster"
            ),
        ),
    ]
}
