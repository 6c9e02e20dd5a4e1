//! A launch as EC2 is asked for it: which templates, and through each which ways to buy, in order. Nothing here asks.
//!
//! Types that boot the same image and have the same room share a template, since image and kubelet settings are all that a type decides in
//! one.

use std::collections::BTreeMap;

use plimsoll_api::kinds::Tags;
use plimsoll_api::write::amounts;
use plimsoll_base::labels::CAPACITY_TYPE;
use plimsoll_base::resources::{ResourceName, Resources};
use plimsoll_model::action::{LAUNCH_TOKEN_ANNOTATION, LaunchRequest};
use plimsoll_model::catalogue::CapacityType;
use plimsoll_model::plan::LaunchOption;
use plimsoll_model::{Effect, NodeClaim, Taint};
use serde_json::{Value, json};

use super::draft_error::{ClassFault, DraftError};
use super::fleet::{FleetRequest, Override, keeps_order, of_one_kind, priority};
use super::template::{LaunchTemplate, disks, interfaces, is_spot, listed, metadata};
use crate::class::family::Family;
use crate::class::tags;
use crate::instance::{efa, is_dedicated};
use crate::served::ServedClass;
use crate::user_data::release::Release;
use crate::user_data::{ClusterAccess, NodeSetup, UserDataError, user_data};

/// Taint of a node until it is registered: the controller takes it away.
const UNREGISTERED: &str = "karpenter.sh/unregistered";
/// Most ways to buy that EC2 takes in one request.
const MOST_OVERRIDES: usize = 300;
/// Label by which a node's own taints are left to the controller.
const DO_NOT_SYNC_TAINTS: &str = "karpenter.sh/do-not-sync-taints";

/// A launch, ready to be asked for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Draft {
    /// Templates that must be there, each with the ways to buy through it.
    pub templates: Vec<(LaunchTemplate, Vec<Override>)>,
    /// Spot or on demand.
    pub capacity_type: CapacityType,
    /// `true` if EC2 is to keep to the order of the options.
    pub keeps_order: bool,
    /// Tags of all that is launched.
    pub tags: Tags,
    /// Addresses that an instance will need at least, by subnet.
    pub addresses: BTreeMap<String, i64>,
    /// Network interfaces of type EFA that an instance gets, by its type; types that get none are left out.
    pub efa: BTreeMap<String, u32>,
}

/// What a type decides in a template.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Group {
    image: String,
    /// Network interfaces of type EFA.
    efa: u32,
    pods: i64,
    kube_reserved: Resources,
    system_reserved: Resources,
}

/// The launch of claims that are alike, of a class that is ready, into the first subnet of each zone. A refusal where there is nothing that
/// could be asked for.
pub(crate) fn draft(
    class: &ServedClass,
    cluster: &ClusterAccess,
    request: &LaunchRequest,
) -> Result<Draft, DraftError> {
    let subnets = class.status().subnets.iter().rev();
    let subnets = subnets.map(|own| (own.zone.as_str(), own.id.as_str()));
    draft_into(&subnets.collect(), class, cluster, request)
}

/// The same into these subnets, by zone.
pub(crate) fn draft_into(
    subnets: &BTreeMap<&str, &str>,
    class: &ServedClass,
    cluster: &ClusterAccess,
    request: &LaunchRequest,
) -> Result<Draft, DraftError> {
    let Some(claim) = request.claims.first() else {
        return Err(DraftError::NoClaims);
    };
    let (options, capacity_type) = of_one_kind(&request.options);
    let tags = tags_of(class, cluster, claim, request.batch.token.as_str())?;
    let keeps_order = keeps_order(claim, options);
    let uses_efa = request.claims.iter().any(|claim| asks_for_efa(claim));
    let mut groups: BTreeMap<Group, Vec<Override>> = BTreeMap::new();
    let (mut addresses, mut efa) = (BTreeMap::new(), BTreeMap::new());
    let ways = options.iter().enumerate().filter_map(|(number, option)| {
        let subnet = subnets.get(&*option.zone)?;
        let group = group(class, option.instance_type.as_str(), uses_efa)?;
        Some((number, option, subnet, group))
    });
    for (number, option, subnet, group) in ways.take(MOST_OVERRIDES) {
        let name = option.instance_type.as_str();
        let least = addresses.entry((*subnet).to_owned());
        let least = least.or_insert(group.pods);
        *least = group.pods.min(*least);
        if group.efa > 0 {
            efa.insert(name.to_owned(), group.efa);
        }
        let way = Override {
            instance_type: name.to_owned(),
            subnet: (*subnet).to_owned(),
            zone: option.zone.to_string(),
            image: group.image.clone(),
            priority: priority(number, option.list_price, keeps_order),
        };
        groups.entry(group).or_default().push(way);
    }
    if groups.is_empty() {
        let offerings = options.iter().map(LaunchOption::offering).collect();
        return Err(DraftError::NothingToBuy(offerings));
    }
    let template = |group: &Group| template(class, cluster, claim, group, capacity_type, &tags);
    let templates = groups
        .into_iter()
        .map(|(group, ways)| Ok((template(&group)?, ways)));
    let templates: Result<Vec<_>, UserDataError> = templates.collect();
    Ok(Draft {
        templates: templates.map_err(|error| fault(class, error))?,
        capacity_type,
        keeps_order,
        tags,
        addresses,
        efa,
    })
}

/// `true` for a claim whose pods ask for EFA.
fn asks_for_efa(claim: &NodeClaim) -> bool {
    claim.requests.get(&efa()) > 0
}

impl Draft {
    /// The fleet that is asked for so many instances under a token.
    pub(crate) fn fleet(
        &self,
        token: &str,
        count: usize,
        context: Option<&String>,
    ) -> FleetRequest {
        let named =
            |(template, ways): &(LaunchTemplate, Vec<Override>)| (template.name(), ways.clone());
        FleetRequest {
            token: token.to_owned(),
            count: i32::try_from(count).unwrap_or(i32::MAX),
            is_spot: is_spot(self.capacity_type),
            keeps_order: self.keeps_order,
            templates: self.templates.iter().map(named).collect(),
            tags: self.tags.clone(),
            context: context.cloned(),
        }
    }
}

fn fault(class: &ServedClass, fault: impl Into<ClassFault>) -> DraftError {
    DraftError::Class {
        class: class.name().to_owned(),
        fault: fault.into(),
    }
}

/// Tags of the launch, its token among them: by it the instances of a call whose answer was lost are found.
fn tags_of(
    class: &ServedClass,
    cluster: &ClusterAccess,
    claim: &NodeClaim,
    token: &str,
) -> Result<Tags, DraftError> {
    let spec = class.object.spec.tags.as_ref();
    let tags = tags::of_launch(spec, &cluster.name, claim.pool.as_str(), class.name());
    let mut tags = tags.map_err(|error| fault(class, error))?;
    tags.insert(LAUNCH_TOKEN_ANNOTATION.to_owned(), token.to_owned());
    Ok(tags)
}

/// What a type decides; `None` where it has no image, or its room is not known.
fn group(class: &ServedClass, name: &str, uses_efa: bool) -> Option<Group> {
    let image = class.image_of(class.catalogue.get(name)?)?;
    let room = class.room_of(name)?;
    let most = room.capacity.get(&efa());
    let lists_interfaces = listed(class.object.spec.network_interfaces.as_ref()).is_some();
    Some(Group {
        image: image.to_owned(),
        efa: if uses_efa || lists_interfaces {
            u32::try_from(most).unwrap_or(0)
        } else {
            0
        },
        pods: room.capacity.get(&ResourceName::Pods),
        kube_reserved: room.overhead.kube_reserved,
        system_reserved: room.overhead.system_reserved,
    })
}

fn template(
    class: &ServedClass,
    cluster: &ClusterAccess,
    claim: &NodeClaim,
    group: &Group,
    capacity_type: CapacityType,
    tags: &Tags,
) -> Result<LaunchTemplate, UserDataError> {
    let (spec, status) = (&class.object.spec, class.status());
    let setup = setup(class, cluster, claim, group, capacity_type);
    let mut tags = tags.clone();
    // One template serves every launch of what it says.
    tags.remove(LAUNCH_TOKEN_ANNOTATION);
    Ok(LaunchTemplate {
        image: group.image.clone(),
        user_data: user_data(class.family, cluster, &setup)?,
        profile: status.instance_profile.clone().unwrap_or_default(),
        security_groups: status
            .security_groups
            .iter()
            .map(|own| own.id.clone())
            .collect(),
        interfaces: interfaces(spec.network_interfaces.as_ref(), group.efa),
        public_address: spec.associate_public_ip_address,
        ip_family: cluster.ip_family(),
        prefixes: spec.ip_prefix_count,
        tracking: spec.connection_tracking.clone(),
        nested_virtualization: spec
            .cpu_options
            .as_ref()
            .and_then(|own| own.nested_virtualization.clone()),
        enclaves: spec.enclave_options.as_ref().is_some_and(|own| own.enabled),
        disks: disks(spec.block_device_mappings.as_deref(), class.family),
        metadata: metadata(spec.metadata_options.as_ref()),
        monitoring: spec.detailed_monitoring.unwrap_or(false),
        fills_open_reservations: class.fills_open_reservations,
        is_dedicated: is_dedicated(claim),
        is_spot: is_spot(capacity_type),
        tags,
    })
}

/// The node as its instance is told to set itself up.
fn setup(
    class: &ServedClass,
    cluster: &ClusterAccess,
    claim: &NodeClaim,
    group: &Group,
    capacity_type: CapacityType,
) -> NodeSetup {
    let mut labels = claim.labels.clone();
    labels.insert(CAPACITY_TYPE.into(), capacity_type.as_str().into());
    if class.family != Family::Custom {
        labels.insert(DO_NOT_SYNC_TAINTS.into(), "true".into());
    }
    let mut taints: Vec<Taint> = claim
        .taints
        .iter()
        .chain(&claim.startup_taints)
        .cloned()
        .collect();
    if !taints.iter().any(|taint| &*taint.key == UNREGISTERED) {
        taints.push(Taint {
            key: UNREGISTERED.into(),
            value: "".into(),
            effect: Effect::NoExecute,
        });
    }
    let spec = &class.object.spec;
    let mut kubelet = spec.kubelet.clone();
    kubelet.insert("maxPods".to_owned(), group.pods.into());
    if let Some(dns) = &cluster.dns {
        kubelet
            .entry("clusterDNS".to_owned())
            .or_insert_with(|| json!([dns]));
    }
    for (key, resolved) in [
        ("kubeReserved", &group.kube_reserved),
        ("systemReserved", &group.system_reserved),
    ] {
        reserve(&mut kubelet, key, resolved);
    }
    let images = &class.status().amis;
    let image = images.iter().find(|own| own.id == group.image);
    let image = image.and_then(|own| own.name.as_deref());
    NodeSetup {
        labels,
        taints,
        kubelet,
        class_kubelet: spec.kubelet.clone(),
        release: Release::of(&spec.ami_selector_terms, image),
        joins_local_disks: spec.instance_store_policy.as_deref() == Some("RAID0"),
        custom: spec.user_data.clone(),
    }
}

/// Puts resolved amounts in place of those that are written, beside others such as `pid`. Nothing is written where nothing is kept.
fn reserve(kubelet: &mut BTreeMap<String, Value>, key: &str, resolved: &Resources) {
    let kept = resolved.iter().filter(|(_, amount)| *amount > 0);
    let kept: Resources = kept.map(|(name, amount)| (name.clone(), amount)).collect();
    let Value::Object(kept) = amounts(&kept) else {
        return;
    };
    let mut all = match kubelet.remove(key) {
        Some(Value::Object(written)) => written,
        _ => serde_json::Map::new(),
    };
    all.extend(kept);
    if !all.is_empty() {
        kubelet.insert(key.to_owned(), Value::Object(all));
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use plimsoll_model::action::Reason;
    use plimsoll_model::catalogue::CapacityType::{OnDemand, Spot};
    use plimsoll_model::catalogue::{LAUNCH_ORDER_BY_ANNOTATION, OrderedBy};

    use super::*;
    use crate::sample;

    fn drafted(spec: &Value, options: Vec<plimsoll_model::plan::LaunchOption>) -> Draft {
        let request = sample::request(&["a", "b"], options);
        draft(&sample::class(spec), &sample::cluster(), &request).expect("a draft")
    }

    fn ways(draft: &Draft) -> Vec<String> {
        let ways = draft.templates.iter().flat_map(|(template, ways)| {
            ways.iter().map(move |way| {
                format!(
                    "{} {} {} {} {}",
                    template.image, way.instance_type, way.subnet, way.zone, way.priority
                )
            })
        });
        ways.collect()
    }

    fn text(template: &LaunchTemplate) -> String {
        let decoded = STANDARD.decode(&template.user_data).expect("base64");
        String::from_utf8(decoded).expect("text")
    }

    #[test]
    fn types_of_one_image_and_room_share_a_template_and_prices_are_the_order() {
        let draft = drafted(
            &json!({}),
            vec![
                sample::option("m7g.large", "us-east-1a", Spot, 0.03),
                sample::option("m7i.large", "us-east-1b", Spot, 0.04),
                sample::option("m7i-flex.large", "us-east-1a", Spot, 0.05),
                sample::option("m7i.large", "us-east-1c", Spot, 0.06),
                sample::option("m7i.large", "us-east-1a", OnDemand, 0.1),
            ],
        );
        let expected = [
            "ami-amd m7i.large subnet-b us-east-1b 0.04",
            "ami-amd m7i-flex.large subnet-a us-east-1a 0.05",
            "ami-arm m7g.large subnet-a us-east-1a 0.03",
        ];
        assert_eq!(ways(&draft), expected);
        assert_eq!(
            (
                draft.templates.len(),
                draft.capacity_type,
                draft.keeps_order
            ),
            (2, Spot, false)
        );
        let fleet = draft.fleet("00ab-0", 2, None);
        assert!(fleet.is_spot && fleet.count == 2);
        assert_eq!(
            fleet
                .tags
                .get("plimsoll.dev/launch-token")
                .map(String::as_str),
            Some("00ab-0")
        );
    }

    #[test]
    fn an_order_of_a_policy_is_kept_by_number() {
        let draft = drafted(
            &json!({}),
            vec![
                sample::option("m7i.large", "us-east-1b", OnDemand, 0.2),
                sample::option("m7i.large", "us-east-1a", OnDemand, 0.1),
            ],
        );
        assert!(draft.keeps_order);
        let expected = [
            "ami-amd m7i.large subnet-b us-east-1b 0",
            "ami-amd m7i.large subnet-a us-east-1a 1",
        ];
        assert_eq!(ways(&draft), expected);
    }

    /// Whether EC2 is to keep to an order that is not that of today's prices, where the claim says so of it.
    fn keeps(says: Option<OrderedBy>) -> bool {
        let options = vec![
            sample::option("m7i.large", "us-east-1b", Spot, 0.2),
            sample::option("m7i.large", "us-east-1a", Spot, 0.1),
        ];
        let mut request = sample::request(&["a"], options);
        let claim = std::sync::Arc::make_mut(&mut request.claims[0]);
        if let Some(by) = says {
            let key = LAUNCH_ORDER_BY_ANNOTATION.into();
            claim.annotations.insert(key, by.as_str().into());
        }
        let draft = draft(&sample::class(&json!({})), &sample::cluster(), &request);
        draft.expect("a draft").keeps_order
    }

    #[test]
    fn prices_that_changed_while_a_claim_waited_do_not_make_its_order_a_policys() {
        assert!(!keeps(Some(OrderedBy::Price)));
        assert!(keeps(Some(OrderedBy::Policy)));
        assert!(keeps(None), "a claim of before");
    }

    #[test]
    fn a_node_is_told_its_room_its_dns_and_both_kinds_of_taints() {
        let kubelet =
            json!({"kubelet": {"maxPods": 42, "kubeReserved": {"memory": "1Gi", "pid": "100"}}});
        let options = vec![sample::option("m7i.large", "us-east-1a", OnDemand, 0.1)];
        let draft = drafted(&kubelet, options);
        let text = text(&draft.templates[0].0);
        let yaml = text
            .split("# Generated for this node\n")
            .nth(1)
            .expect("our part");
        let yaml = yaml.split("\n--//").next().expect("its end");
        let config: Value = serde_saphyr::from_str(yaml).expect("YAML");
        let kubelet = &config["spec"]["kubelet"];
        assert_eq!(kubelet["config"]["maxPods"], 42);
        assert_eq!(kubelet["config"]["clusterDNS"], json!(["10.100.0.10"]));
        let reserved =
            json!({"cpu": "70m", "memory": "1Gi", "ephemeral-storage": "1Gi", "pid": "100"});
        assert_eq!(kubelet["config"]["kubeReserved"], reserved);
        assert_eq!(kubelet["config"].get("systemReserved"), None);
        let taints = kubelet["config"]["registerWithTaints"]
            .as_array()
            .expect("taints");
        let keys: Vec<&Value> = taints.iter().map(|taint| &taint["key"]).collect();
        assert_eq!(keys, ["dedicated", "karpenter.sh/unregistered"]);
        let labels = kubelet["flags"][0].as_str().expect("labels");
        for label in [
            "karpenter.sh/capacity-type=on-demand",
            "karpenter.sh/do-not-sync-taints=true",
            "karpenter.sh/nodepool=general",
            "team=shop",
        ] {
            assert!(labels.contains(label), "{labels}");
        }
    }

    #[test]
    fn what_cannot_be_asked_for_is_refused_with_the_reason() {
        let class = sample::class(&json!({"tags": {"karpenter.sh/nodeclaim": "x"}}));
        let options = vec![sample::option("m7i.large", "us-east-1a", OnDemand, 0.1)];
        let request = sample::request(&["a"], options);
        let refused = draft(&class, &sample::cluster(), &request).expect_err("a restricted tag");
        let Reason::ClassNotReady(words) = refused.clone().into() else {
            unreachable!("{refused:?}")
        };
        assert!(
            words.starts_with("EC2NodeClass default: spec.tags has the key"),
            "{words}"
        );
        let nowhere = sample::request(
            &["a"],
            vec![sample::option("m7i.large", "us-east-1z", OnDemand, 0.1)],
        );
        let refused =
            draft(&sample::class(&json!({})), &sample::cluster(), &nowhere).expect_err("no subnet");
        assert!(
            matches!(&refused, DraftError::NothingToBuy(offerings) if offerings.len() == 1),
            "{refused:?}"
        );
    }

    #[test]
    fn templates_do_not_depend_on_the_launch_or_the_claim() {
        let options = || vec![sample::option("m7i.large", "us-east-1a", OnDemand, 0.1)];
        let one = drafted(&json!({}), options());
        let mut request = sample::request(&["z"], options());
        request.batch.token = "99-1".into();
        let other =
            draft(&sample::class(&json!({})), &sample::cluster(), &request).expect("a draft");
        assert_eq!(one.templates[0].0.name(), other.templates[0].0.name());
        let spot = drafted(
            &json!({}),
            vec![sample::option("m7i.large", "us-east-1a", Spot, 0.1)],
        );
        assert_ne!(one.templates[0].0.name(), spot.templates[0].0.name());
    }
}
