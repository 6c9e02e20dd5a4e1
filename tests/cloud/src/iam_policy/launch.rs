//! Rights that launches ask for: on what is made, with its tags, and on what it is made of.

use std::collections::BTreeSet;

use serde_json::Value;

use super::right::AskedRight;
use crate::ec2::{tags_for, texts};
use crate::world::{LaunchTemplate, Tags, World};

/// What an instance comes with.
const MADE: [&str; 3] = ["instance", "volume", "network-interface"];
const SPOT: &str = "spot-instances-request";

/// ARN of a resource of EC2; images and snapshots are of no account.
pub(super) fn arn(world: &World, region: &str, kind: &str, id: &str) -> String {
    let account = match kind {
        "image" | "snapshot" => "",
        _ => &world.account,
    };
    format!("arn:aws:ec2:{region}:{account}:{kind}/{id}")
}

/// The template that an input names, by id or by name; `None` if there is none.
pub(super) fn template<'w>(world: &'w World, input: &Value) -> Option<&'w LaunchTemplate> {
    let mut all = world.launch_templates.iter();
    all.find(|own| input["LaunchTemplateId"] == *own.id || input["LaunchTemplateName"] == *own.name)
}

/// Rights to make something with tags by an operation.
pub(super) fn making(region: &str, operation: &str, arn: &str, tags: &Tags) -> Vec<AskedRight> {
    let action = format!("ec2:{operation}");
    let mut asked = vec![AskedRight::new(region, &action, arn).putting(tags)];
    if !tags.is_empty() {
        let tagging = AskedRight::new(region, "ec2:CreateTags", arn).putting(tags);
        asked.push(tagging.with("ec2:CreateAction", operation));
    }
    asked
}

/// The right to hand a role to EC2.
pub(super) fn passing(world: &World, region: &str, role: &str) -> AskedRight {
    let arn = format!("arn:aws:iam::{}:role/{role}", world.account);
    AskedRight::new(region, "iam:PassRole", arn).with("iam:PassedToService", "ec2.amazonaws.com")
}

/// A launch, as far as rights have to know it.
struct Launch<'i> {
    world: &'i World,
    region: &'i str,
    input: &'i Value,
    templates: Vec<&'i LaunchTemplate>,
    /// Trees that name what instances are made of: the request's, its overrides, contents of templates.
    trees: Vec<&'i Value>,
    is_spot: bool,
}

impl<'i> Launch<'i> {
    fn read(world: &'i World, region: &'i str, input: &'i Value) -> Self {
        let configs = input["LaunchTemplateConfigs"].as_array();
        let configs = configs.into_iter().flatten();
        let named = configs
            .clone()
            .map(|own| &own["LaunchTemplateSpecification"]);
        let named = named.chain([&input["LaunchTemplate"]]);
        let mut templates: Vec<&LaunchTemplate> =
            named.filter_map(|own| template(world, own)).collect();
        templates.sort_by(|one, other| one.id.cmp(&other.id));
        templates.dedup_by(|one, other| one.id == other.id);
        let overrides = configs.flat_map(|own| own["Overrides"].as_array().into_iter().flatten());
        let contents = templates.iter().map(|own| &own.data);
        let target = &input["TargetCapacitySpecification"]["DefaultTargetCapacityType"];
        Self {
            world,
            region,
            input,
            trees: [input]
                .into_iter()
                .chain(overrides)
                .chain(contents)
                .collect(),
            is_spot: *target == "spot" || input["InstanceMarketOptions"]["MarketType"] == "spot",
            templates,
        }
    }

    fn arn(&self, kind: &str, id: &str) -> String {
        arn(self.world, self.region, kind, id)
    }

    /// What is made with each instance, and its tags.
    fn made(&self) -> Vec<(String, Tags)> {
        let kinds = MADE.into_iter().chain(self.is_spot.then_some(SPOT));
        let tagged = kinds.map(|kind| {
            let mut tags = Tags::new();
            let contents = self.templates.iter().map(|own| &own.data);
            for tree in contents.chain([self.input]) {
                tags.extend(tags_for(tree, kind));
            }
            (self.arn(kind, "*"), tags)
        });
        tagged.collect()
    }

    /// ARNs of images, subnets, security groups and snapshots.
    fn parts(&self) -> BTreeSet<String> {
        let mut parts = BTreeSet::new();
        for tree in &self.trees {
            let interfaces = tree["NetworkInterface"].as_array().into_iter().flatten();
            for tree in interfaces.chain([*tree]) {
                let subnet = tree["SubnetId"].as_str();
                parts.extend(subnet.map(|id| self.arn("subnet", id)));
                let groups = texts(tree, "SecurityGroupId").into_iter();
                parts.extend(groups.map(|id| self.arn("security-group", id)));
            }
            let image = tree["ImageId"].as_str();
            parts.extend(image.map(|id| self.arn("image", id)));
            let disks = tree["BlockDeviceMapping"].as_array().into_iter().flatten();
            let snapshots = disks.filter_map(|disk| disk["Ebs"]["SnapshotId"].as_str());
            parts.extend(snapshots.map(|id| self.arn("snapshot", id)));
        }
        parts
    }

    /// The right to an action on templates and all that instances are made of.
    fn using(&self, action: &str) -> Vec<AskedRight> {
        let ask = |arn: String| AskedRight::new(self.region, action, arn);
        let templates = self.templates.iter();
        let templates =
            templates.map(|own| ask(self.arn("launch-template", &own.id)).on(&own.tags));
        templates.chain(self.parts().into_iter().map(ask)).collect()
    }

    /// Roles of the instance profiles that instances get.
    fn roles(&self) -> BTreeSet<&'i str> {
        let profiles = self.trees.iter();
        let profiles = profiles.filter_map(|tree| tree["IamInstanceProfile"]["Name"].as_str());
        let profiles = profiles.filter_map(|name| self.world.instance_profiles.get(name));
        profiles.filter_map(|own| own.role.as_deref()).collect()
    }
}

/// Rights that the call for a fleet asks for; its instances ask for theirs when they are launched.
pub(super) fn of_fleet(world: &World, region: &str, input: &Value) -> Vec<AskedRight> {
    let launch = Launch::read(world, region, input);
    let fleet = launch.arn("fleet", "*");
    let mut asked = making(region, "CreateFleet", &fleet, &tags_for(input, "fleet"));
    asked.extend(launch.using("ec2:CreateFleet"));
    let made = launch.made().into_iter();
    asked.extend(
        made.map(|(arn, tags)| AskedRight::new(region, "ec2:CreateFleet", arn).putting(&tags)),
    );
    asked
}

/// Rights that instances ask for when they are launched, by themselves or in a fleet.
pub(super) fn of_instances(world: &World, region: &str, input: &Value) -> Vec<AskedRight> {
    let launch = Launch::read(world, region, input);
    let made = launch.made().into_iter();
    let mut asked: Vec<AskedRight> = made
        .flat_map(|(arn, tags)| making(region, "RunInstances", &arn, &tags))
        .collect();
    asked.extend(launch.using("ec2:RunInstances"));
    let roles = launch.roles().into_iter();
    asked.extend(roles.map(|role| passing(world, region, role)));
    asked
}
