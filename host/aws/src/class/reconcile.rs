//! A class brought up to date: everything that its selectors stand for is asked of AWS, and what came of it is the status.
//!
//! One thing that AWS does not say leaves the others as they are; what was found before stands until AWS says otherwise.

use std::collections::BTreeSet;
use std::time::Duration;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;
use plimsoll_api::kinds::{Ec2NodeClass, Ec2NodeClassSpec, Ec2NodeClassStatus, ImageTerm, Tags};
use plimsoll_model::catalogue::Subnet;

use super::conditions::{Finding, QUEUE, conditions};
use super::dry_run::Refusal;
use super::family::{Family, LAUNCHED_FAMILIES};
use super::kubelet;
use super::queue::QueueStanding;
use super::tags;
use crate::client::{CallError, Clients};
use crate::error::ErrorClass;
use crate::resolve::alias::parameters;
use crate::resolve::empty_terms;
use crate::resolve::images::{Published, images, queries};
use crate::resolve::network::{
    Subnet as FoundByEc2, security_group_queries, security_groups, subnet_queries, subnets,
};
use crate::resolve::profile::{Owner, role_name};
use crate::user_data::ClusterAccess;

/// From one look at AWS to the next: Karpenter's time for subnets, the shortest of all.
const REFRESH: Duration = Duration::from_mins(1);
/// Type of the condition that launches would succeed.
const VALIDATED: &str = "ValidationSucceeded";
/// After a call that failed.
const RETRY: Duration = Duration::from_secs(15);

/// A class after a look at AWS.
#[derive(Debug)]
pub struct Looked {
    /// Its status, with the conditions as they were.
    pub status: Ec2NodeClassStatus,
    /// Free addresses of its subnets.
    pub free: Vec<Subnet>,
    /// Calls that failed.
    pub failed: Vec<CallError>,
    findings: Vec<(&'static str, Finding)>,
    generation: Option<i64>,
    now: Timestamp,
}

/// A class that was looked at, with its conditions.
#[derive(Debug)]
pub struct Reconciled {
    /// Its status.
    pub status: Ec2NodeClassStatus,
    /// Free addresses of its subnets.
    pub free: Vec<Subnet>,
    /// Calls that failed.
    pub failed: Vec<CallError>,
    /// When to look again.
    pub again: Duration,
}

/// Looks at AWS for a class, at a time.
pub async fn look(
    class: &Ec2NodeClass,
    cluster: &ClusterAccess,
    clients: &Clients,
    now: plimsoll_base::time::Timestamp,
) -> Looked {
    let now = Timestamp::from_millisecond(now.millis()).unwrap_or_default();
    let mut look = Look {
        class,
        cluster,
        clients,
        now,
        status: class.status.clone().unwrap_or_default(),
        free: Vec::new(),
        failed: Vec::new(),
    };
    let mut findings = vec![
        ("AMIsReady", look.images().await),
        ("SubnetsReady", look.subnets().await),
        ("SecurityGroupsReady", look.security_groups().await),
        ("InstanceProfileReady", look.profile().await),
    ];
    findings.push((VALIDATED, validated(class, cluster, &findings)));
    for (kind, field) in NOT_LAUNCHED_INTO {
        findings.push((kind, named_in(&class.spec, field)));
    }
    Looked {
        status: look.status,
        free: look.free,
        failed: look.failed,
        findings,
        generation: class.metadata.generation,
        now,
    }
}

impl Looked {
    /// `true` if nothing is wrong with it so far: then it is tried out.
    pub fn is_sound(&self) -> bool {
        let mut findings = self.findings.iter();
        findings.all(|(kind, finding)| *kind == QUEUE || *finding == Finding::Holds)
    }

    /// The same with how the interruption queue stands.
    #[must_use]
    pub fn with_queue(mut self, queue: &QueueStanding) -> Self {
        self.findings.push((QUEUE, queue.finding()));
        self
    }

    /// The class with its conditions, after what came of trying it out; an error of AWS says nothing, and what was said before stands.
    pub fn conclude(mut self, tried: Result<Result<(), Refusal>, CallError>) -> Reconciled {
        let finding = match tried {
            Ok(Ok(())) => None,
            Ok(Err(Refusal { reason, message })) => Some(Finding::Fails(reason, message)),
            Err(error) => Some(unanswered(&mut self.failed, error)),
        };
        if let Some(finding) = finding {
            self.findings.retain(|(kind, _)| *kind != VALIDATED);
            self.findings.push((VALIDATED, finding));
        }
        let before = &self.status.conditions;
        let conditions = conditions(before, &self.findings, self.generation, &Time(self.now));
        self.status.conditions = conditions;
        Reconciled {
            status: self.status,
            free: self.free,
            again: if self.failed.is_empty() {
                REFRESH
            } else {
                RETRY
            },
            failed: self.failed,
        }
    }
}

/// A look under way.
struct Look<'a> {
    class: &'a Ec2NodeClass,
    cluster: &'a ClusterAccess,
    clients: &'a Clients,
    now: Timestamp,
    status: Ec2NodeClassStatus,
    free: Vec<Subnet>,
    failed: Vec<CallError>,
}

impl<'a> Look<'a> {
    fn spec(&self) -> &'a Ec2NodeClassSpec {
        &self.class.spec
    }

    /// The class as it is now: one that was changed asks anew.
    fn key(&self) -> String {
        let metadata = &self.class.metadata;
        let uid = metadata.uid.as_deref().unwrap_or_default();
        format!("{uid}-{}", metadata.generation.unwrap_or_default())
    }

    fn unchanged(&mut self, error: CallError) -> Finding {
        unanswered(&mut self.failed, error)
    }

    async fn subnets(&mut self) -> Finding {
        if let Some(empty) = empty_terms::of_subnets(self.spec()) {
            return empty;
        }
        let (mut found, key) = (Vec::new(), self.key());
        for query in subnet_queries(&self.spec().subnet_selector_terms) {
            let asked = self.clients.subnets_of(&key, &query, self.now);
            match asked.await {
                Ok(more) => found.extend(more),
                // One that is named and is not there is one that is not found.
                Err(error) if error.code == "InvalidSubnetID.NotFound" => {}
                Err(error) => return self.unchanged(error),
            }
        }
        self.free = found.iter().map(free).collect();
        self.free.sort();
        self.free.dedup();
        self.status.subnets = subnets(found);
        if self.status.subnets.is_empty() {
            return nothing(
                "SubnetsNotFound",
                "subnet",
                "subnetSelectorTerms",
                &self.spec().subnet_selector_terms,
            );
        }
        Finding::Holds
    }

    async fn security_groups(&mut self) -> Finding {
        if let Some(empty) = empty_terms::of_security_groups(self.spec()) {
            return empty;
        }
        let (mut found, key) = (Vec::new(), self.key());
        for query in security_group_queries(&self.spec().security_group_selector_terms) {
            let asked = self.clients.security_groups_of(&key, &query, self.now);
            match asked.await {
                Ok(more) => found.extend(more),
                Err(error) => return self.unchanged(error),
            }
        }
        self.status.security_groups = security_groups(found);
        if self.status.security_groups.is_empty() {
            let terms = &self.spec().security_group_selector_terms;
            return nothing(
                "SecurityGroupsNotFound",
                "security group",
                "securityGroupSelectorTerms",
                terms,
            );
        }
        Finding::Holds
    }

    async fn images(&mut self) -> Finding {
        if let Some(empty) = empty_terms::of_images(self.spec()) {
            return empty;
        }
        let terms = &self.spec().ami_selector_terms;
        let (published, latest) = match self.published(terms).await {
            Ok(published) => published,
            Err(finding) => return finding,
        };
        let named = match self.named_by_parameters(terms).await {
            Ok(named) => named,
            Err(error) => return self.unchanged(error),
        };
        let (mut found, key) = (Vec::new(), self.key());
        for query in queries(terms, published.keys().cloned().chain(named)) {
            let asked = self.clients.images_of(&key, &query, &latest, self.now);
            match asked.await {
                Ok(more) => found.extend(more),
                Err(error) => return self.unchanged(error),
            }
        }
        self.clients.forget_outdated(&latest, &found, self.now);
        self.status.amis = images(found, &published, self.now);
        if self.status.amis.is_empty() {
            return nothing("AMINotFound", "image", "amiSelectorTerms", terms);
        }
        Finding::Holds
    }

    /// Images that aliases stand for, and the names of parameters that may come to name others.
    async fn published(
        &mut self,
        terms: &[ImageTerm],
    ) -> Result<(Published, BTreeSet<String>), Finding> {
        let (mut published, mut latest) = (Published::new(), BTreeSet::new());
        for alias in terms.iter().filter_map(|term| term.alias.as_ref()) {
            let own = parameters(alias, &self.cluster.kubernetes);
            let own = own.map_err(|error| {
                Finding::Fails(
                    "UnsupportedAlias",
                    format!("spec.amiSelectorTerms: {error}"),
                )
            })?;
            for parameter in own {
                let value = self.clients.published_parameter(&parameter, self.now);
                match value.await {
                    Ok(Some(id)) => {
                        let variants = published.entry(id).or_default();
                        variants.extend(parameter.variants);
                        if parameter.moves {
                            latest.insert(parameter.name);
                        }
                    }
                    // A release need not have images of every variant.
                    Ok(None) => {}
                    Err(error) => return Err(self.unchanged(error)),
                }
            }
        }
        Ok((published, latest))
    }

    /// Ids of images in parameters of the user's; one that is not there, or holds something else, names none.
    async fn named_by_parameters(&self, terms: &[ImageTerm]) -> Result<Vec<String>, CallError> {
        let mut ids = Vec::new();
        for name in terms.iter().filter_map(|term| term.ssm_parameter.as_ref()) {
            let value = self.clients.own_parameter(name, self.now).await?;
            ids.extend(value.filter(|value| value.starts_with("ami-")));
        }
        Ok(ids)
    }

    async fn profile(&mut self) -> Finding {
        let (profile, role) = (&self.spec().instance_profile, &self.spec().role);
        match (profile, role) {
            (Some(profile), Some(role)) => {
                let words = format!(
                    "spec has role \"{role}\" and instanceProfile \"{profile}\"; expected one of them"
                );
                return Finding::Fails("InstanceProfileAmbiguous", words);
            }
            (Some(profile), None) => self.status.instance_profile = Some(profile.clone()),
            (None, Some(role)) => match self.made_profile(role_name(role)).await {
                Ok(name) => self.status.instance_profile = Some(name),
                Err(error) if error.class() == ErrorClass::NotFound => {
                    let words = format!(
                        "spec.role is \"{role}\": {error}; expected a role of this account that instances may take"
                    );
                    return Finding::Fails("RoleNotFound", words);
                }
                Err(error) => return self.unchanged(error),
            },
            (None, None) => {
                let words = "spec has neither role nor instanceProfile; expected one of them";
                return Finding::Fails("InstanceProfileNotFound", words.to_owned());
            }
        }
        Finding::Holds
    }

    /// The profile of a role, made where it is not there.
    async fn made_profile(&self, role: &str) -> Result<String, CallError> {
        let metadata = &self.class.metadata;
        let owner = Owner {
            region: self.clients.region(),
            cluster: &self.cluster.name,
            class: metadata.name.as_deref().unwrap_or_default(),
            uid: metadata.uid.as_deref().unwrap_or_default(),
        };
        let name = owner.name(role);
        let found = self.clients.profile(&name).await?;
        if found.is_none() {
            let tags = owner.tags(self.spec().tags.as_ref());
            let path = owner.path();
            self.clients.create_profile(&name, &path, &tags).await?;
        }
        let has = found.and_then(|profile| profile.role);
        if has.as_deref() == Some(role) {
            return Ok(name);
        }
        if let Some(other) = has {
            self.clients.remove_role(&name, &other).await?;
        }
        self.clients.add_role(&name, role).await?;
        Ok(name)
    }
}

/// The finding that a call which failed leaves, among those that have failed.
fn unanswered(failed: &mut Vec<CallError>, error: CallError) -> Finding {
    let action = error.action;
    let words = match (error.code.as_str(), error.class(), error.way_out()) {
        ("", _, Some(way_out)) => format!("{action}: {way_out}"),
        (code, _, Some(way_out)) => format!("{action}: {code}; {way_out}"),
        ("", ..) => format!("{action}: no answer"),
        // Without the message: EC2 words the same denial differently each time.
        (code, ErrorClass::Denied, _) => format!(
            "{action}: {code}; expected the controller's role to be allowed it, as charts/aws/policy.json says"
        ),
        // The fault is in what the class says, and the message tells it.
        (code, ErrorClass::Other, _) => format!("{action}: {code}: {}", error.message),
        (code, ..) => format!("{action}: {code}"),
    };
    failed.push(error);
    Finding::Unchanged(words)
}

fn free(found: &FoundByEc2) -> Subnet {
    Subnet {
        id: found.id.as_str().into(),
        zone: found.zone.as_str().into(),
        free: u32::try_from(found.free_addresses).unwrap_or(0),
    }
}

/// The finding that terms find nothing, with the terms and the way out.
fn nothing(
    reason: &'static str,
    what: &str,
    field: &str,
    terms: &impl serde::Serialize,
) -> Finding {
    let terms = serde_json::to_string(terms).unwrap_or_default();
    Finding::Fails(
        reason,
        format!(
            "spec.{field} is {terms} and finds no {what}; expected at least one in this region and account"
        ),
    )
}

/// Conditions of things that a class may name and that nothing is launched into yet, with the field that names them.
const NOT_LAUNCHED_INTO: [(&str, &str); 2] = [
    (
        "CapacityReservationsReady",
        "capacityReservationSelectorTerms",
    ),
    ("PlacementGroupReady", "placementGroupSelector"),
];

/// A class that does not name something has all that it asks for.
fn named_in(spec: &Ec2NodeClassSpec, field: &str) -> Finding {
    let written = serde_json::to_value(spec).unwrap_or_default();
    match written.get(field) {
        Some(named) if !named.is_null() && named != &serde_json::json!([]) => {
            let words = format!(
                "spec.{field} is {named}; nothing is launched into these yet, expected none"
            );
            Finding::Fails("NotSupported", words)
        }
        _ => Finding::Holds,
    }
}

/// What a launch would be refused for, as far as the class alone says it.
fn validated(
    class: &Ec2NodeClass,
    cluster: &ClusterAccess,
    found: &[(&'static str, Finding)],
) -> Finding {
    let name = class.metadata.name.as_deref().unwrap_or_default();
    let own: Option<&Tags> = class.spec.tags.as_ref();
    if let Err(restricted) = tags::of_launch(own, &cluster.name, "", name) {
        return Finding::Fails("TagValidationFailed", restricted.to_string());
    }
    if let Err(many) = tags::fit(own, &cluster.name) {
        return Finding::Fails("TagValidationFailed", many.to_string());
    }
    let family = Family::of(&class.spec);
    if let Err(Refusal { reason, message }) = kubelet::check(&class.spec, family) {
        return Finding::Fails(reason, message);
    }
    match family {
        Some(Family::Al2023) if cluster.service_cidr.is_none() => {
            let words = format!(
                "EKS does not tell the addresses of the services of cluster \"{}\"; expected the cluster to be there and eks:DescribeCluster to be allowed",
                cluster.name
            );
            return Finding::Fails("ClusterCIDRResolutionFailed", words);
        }
        Some(family) if family.is_launched() => {}
        Some(other) => {
            let words = format!(
                "spec.amiFamily is {}; expected {LAUNCHED_FAMILIES}",
                other.name()
            );
            return Finding::Fails("UnsupportedFamily", words);
        }
        None => {
            let words =
                "no image family: expected spec.amiFamily, or an alias in spec.amiSelectorTerms";
            return Finding::Fails("UnsupportedFamily", words.to_owned());
        }
    }
    let unmet = |fits: fn(&Finding) -> bool| {
        let unmet = found.iter().filter(|(_, finding)| fits(finding));
        unmet.map(|(kind, _)| *kind).collect::<Vec<_>>().join(", ")
    };
    let failed = unmet(|finding| matches!(finding, Finding::Fails(..)));
    if !failed.is_empty() {
        return Finding::Fails("DependenciesNotReady", format!("not ready: {failed}"));
    }
    let unknown = unmet(|finding| matches!(finding, Finding::Unchanged(_)));
    if !unknown.is_empty() {
        let words = format!("not known yet: {unknown}");
        return Finding::Waits("DependenciesNotReady", words);
    }
    Finding::Holds
}
