//! Rights that calls ask for, by service.

use serde_json::Value;

use super::launch;
use super::right::AskedRight;
use crate::call::Service;
use crate::ec2::{tags_for, tags_of, texts};
use crate::iam::tags_of as tags_of_iam;
use crate::sqs::queue_name;
use crate::world::{Tags, World};

/// Rights that a call asks for, which was signed for a region; none where no right is needed.
pub(super) fn of_call(
    world: &World,
    (service, region): (Service, &str),
    operation: &str,
    input: &Value,
) -> Vec<AskedRight> {
    let action = format!("{}:{operation}", service.name());
    let own = |arn: String| vec![AskedRight::new(region, &action, arn)];
    let account = &world.account;
    match service {
        Service::Ec2 => of_ec2(world, region, operation, input),
        Service::Eks => {
            let name = input["name"].as_str().unwrap_or_default();
            own(format!("arn:aws:eks:{region}:{account}:cluster/{name}"))
        }
        Service::Iam => of_iam(world, region, operation, input),
        Service::Pricing => own("*".to_owned()),
        Service::Sqs => {
            let named = input["QueueName"].as_str();
            let name = named.unwrap_or_else(|| queue_name(input));
            // A call about several messages needs the right to the call about one.
            let action = action.trim_end_matches("Batch");
            let arn = format!("arn:aws:sqs:{region}:{account}:{name}");
            vec![AskedRight::new(region, action, arn)]
        }
        Service::Ssm => own(parameter(world, region, input)),
        // Any caller with credentials may ask who it is.
        Service::Sts => Vec::new(),
    }
}

/// ARN of a parameter; those that AWS publishes are of no account.
fn parameter(world: &World, region: &str, input: &Value) -> String {
    let name = input["Name"].as_str().unwrap_or_default();
    if name.starts_with("arn:") {
        return name.to_owned();
    }
    let is_published = name.starts_with("/aws/");
    let account = if is_published { "" } else { &world.account };
    let slash = if name.starts_with('/') { "" } else { "/" };
    format!("arn:aws:ssm:{region}:{account}:parameter{slash}{name}")
}

fn of_ec2(world: &World, region: &str, operation: &str, input: &Value) -> Vec<AskedRight> {
    let action = format!("ec2:{operation}");
    let on = |kind: &str, id: &str, tags: &Tags| {
        AskedRight::new(region, &action, launch::arn(world, region, kind, id)).on(tags)
    };
    match operation {
        "CreateFleet" => launch::of_fleet(world, region, input),
        "RunInstances" => launch::of_instances(world, region, input),
        "CreateLaunchTemplate" => {
            let tags = tags_for(input, "launch-template");
            let made = launch::arn(world, region, "launch-template", "*");
            launch::making(region, operation, &made, &tags)
        }
        "DeleteLaunchTemplate" => {
            let found = launch::template(world, input);
            let own = found.map(|own| on("launch-template", &own.id, &own.tags));
            own.into_iter().collect()
        }
        "TerminateInstances" => {
            let ids = texts(input, "InstanceId").into_iter();
            let found = ids.filter_map(|id| world.instances.get(id));
            found
                .map(|own| on("instance", &own.id, &own.tags))
                .collect()
        }
        "CreateTags" => {
            let put = tags_of(input);
            let ids = texts(input, "ResourceId").into_iter();
            let found = ids.filter_map(|id| tagged(world, id).map(|(kind, tags)| (kind, id, tags)));
            found
                .map(|(kind, id, tags)| on(kind, id, tags).putting(&put))
                .collect()
        }
        _ => vec![AskedRight::new(region, &action, "*")],
    }
}

/// Kind and tags of what has an id; `None` if there is nothing of that id.
fn tagged<'w>(world: &'w World, id: &str) -> Option<(&'static str, &'w Tags)> {
    if let Some(own) = world.instances.get(id) {
        return Some(("instance", &own.tags));
    }
    let of_subnets = world
        .subnets
        .iter()
        .map(|own| ("subnet", &own.id, &own.tags));
    let of_groups = world.security_groups.iter();
    let of_groups = of_groups.map(|own| ("security-group", &own.id, &own.tags));
    let of_images = world.images.iter().map(|own| ("image", &own.id, &own.tags));
    let of_templates = world.launch_templates.iter();
    let of_templates = of_templates.map(|own| ("launch-template", &own.id, &own.tags));
    let mut all = of_subnets
        .chain(of_groups)
        .chain(of_images)
        .chain(of_templates);
    all.find(|(_, own, _)| *own == id)
        .map(|(kind, _, tags)| (kind, tags))
}

fn of_iam(world: &World, region: &str, operation: &str, input: &Value) -> Vec<AskedRight> {
    let name = input["InstanceProfileName"].as_str().unwrap_or_default();
    let below = format!("arn:aws:iam::{}:instance-profile", world.account);
    let ask = |action: &str, arn: String| AskedRight::new(region, &format!("iam:{action}"), arn);
    let known = world.instance_profiles.get(name);
    match (operation, known) {
        ("CreateInstanceProfile", _) => {
            let path = input["Path"].as_str().unwrap_or("/");
            let (arn, tags) = (format!("{below}{path}{name}"), tags_of_iam(input));
            let mut asked = vec![ask(operation, arn.clone()).putting(&tags)];
            if !tags.is_empty() {
                // Tags that it comes with count as those that it has.
                asked.push(ask("TagInstanceProfile", arn).putting(&tags).on(&tags));
            }
            asked
        }
        ("ListInstanceProfiles", _) => {
            let path = input["PathPrefix"].as_str().unwrap_or("/");
            vec![ask(operation, format!("{below}{path}"))]
        }
        ("GetInstanceProfile", None) => vec![ask(operation, format!("{below}/{name}"))],
        (_, None) => Vec::new(),
        (_, Some(profile)) => {
            let arn = format!("{below}{}{name}", profile.path);
            let mut asked = vec![ask(operation, arn).on(&profile.tags)];
            if operation == "AddRoleToInstanceProfile" {
                let role = input["RoleName"].as_str().unwrap_or_default();
                asked.push(launch::passing(world, region, role));
            }
            asked
        }
    }
}
