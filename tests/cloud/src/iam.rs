//! IAM: instance profiles and their roles.

use serde_json::{Value, json};

use crate::fault::Fault;
use crate::world::{InstanceProfile, Tags, World};

pub(crate) fn answer(world: &mut World, operation: &str, input: &Value) -> Result<Value, Fault> {
    let name = input["InstanceProfileName"].as_str().unwrap_or_default();
    match operation {
        "GetInstanceProfile" => {
            let profile = found(world, name)?.clone();
            Ok(json!({"InstanceProfile": described(world, name, &profile)}))
        }
        "CreateInstanceProfile" => create(world, name, input),
        "AddRoleToInstanceProfile" => add_role(world, name, input),
        "RemoveRoleFromInstanceProfile" => {
            let role = input["RoleName"].as_str();
            let profile = found(world, name)?;
            if profile.role.as_deref() != role {
                let role = role.unwrap_or_default();
                let message = format!("Role {role} cannot be found in instance profile {name}.");
                return Err(Fault::new("NoSuchEntity", message).with_status(404));
            }
            profile.role = None;
            Ok(Value::Null)
        }
        "DeleteInstanceProfile" => {
            let profile = found(world, name)?;
            if profile.role.is_some() {
                let message =
                    "Cannot delete entity, must remove roles from instance profile first.";
                return Err(Fault::new("DeleteConflict", message).with_status(409));
            }
            world.instance_profiles.remove(name);
            Ok(Value::Null)
        }
        "ListInstanceProfiles" => list(world, input),
        other => Err(Fault::unknown(other)),
    }
}

fn found<'w>(world: &'w mut World, name: &str) -> Result<&'w mut InstanceProfile, Fault> {
    world.instance_profiles.get_mut(name).ok_or_else(|| {
        let message = format!("Instance Profile {name} cannot be found.");
        Fault::new("NoSuchEntity", message).with_status(404)
    })
}

/// Profiles below a path, page by page; a page has a hundred where the call does not say.
fn list(world: &World, input: &Value) -> Result<Value, Fault> {
    let number = |key: &str, usual: usize| match input[key].as_str() {
        None => Ok(usual),
        Some(text) => text.parse::<usize>().map_err(|_| {
            let message = format!("Invalid {key}: {text}");
            Fault::new("ValidationError", message)
        }),
    };
    let (from, most) = (number("Marker", 0)?, number("MaxItems", 100)?);
    let prefix = input["PathPrefix"].as_str().unwrap_or("/");
    let all = world.instance_profiles.iter();
    let mut below = all.filter(|(_, profile)| profile.path.starts_with(prefix));
    let page = below.by_ref().skip(from).take(most);
    let page: Vec<Value> = page
        .map(|(name, profile)| described(world, name, profile))
        .collect();
    let is_truncated = below.next().is_some();
    let marker = is_truncated.then(|| (from + most).to_string());
    Ok(json!({"InstanceProfiles": page, "IsTruncated": is_truncated, "Marker": marker}))
}

fn create(world: &mut World, name: &str, input: &Value) -> Result<Value, Fault> {
    if world.instance_profiles.contains_key(name) {
        let message = format!("Instance Profile {name} already exists.");
        return Err(Fault::new("EntityAlreadyExists", message).with_status(409));
    }
    let profile = InstanceProfile {
        path: input["Path"].as_str().unwrap_or("/").to_owned(),
        role: None,
        tags: tags_of(input),
    };
    let told = described(world, name, &profile);
    world.instance_profiles.insert(name.to_owned(), profile);
    Ok(json!({"InstanceProfile": told}))
}

/// Tags of a list `Tags` of an input.
pub(crate) fn tags_of(input: &Value) -> Tags {
    let tags = input["Tags"].as_array().into_iter().flatten();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    tags.map(|tag| (text(&tag["Key"]), text(&tag["Value"])))
        .collect()
}

fn add_role(world: &mut World, name: &str, input: &Value) -> Result<Value, Fault> {
    let role = input["RoleName"].as_str().unwrap_or_default();
    if !world.roles.iter().any(|known| known == role) {
        let message = format!("The role with name {role} cannot be found.");
        return Err(Fault::new("NoSuchEntity", message).with_status(404));
    }
    let profile = found(world, name)?;
    if profile.role.is_some() {
        let message = "Cannot exceed quota for InstanceSessionsPerInstanceProfile: 1";
        return Err(Fault::new("LimitExceeded", message).with_status(409));
    }
    profile.role = Some(role.to_owned());
    Ok(Value::Null)
}

fn described(world: &World, name: &str, profile: &InstanceProfile) -> Value {
    let account = &world.account;
    let roles = profile.role.iter().map(|role| {
        json!({
            "RoleName": role, "RoleId": "AROA00000000000000001", "Path": "/", "CreateDate": "2026-01-01T00:00:00Z",
            "Arn": format!("arn:aws:iam::{account}:role/{role}"),
        })
    });
    let tags = profile.tags.iter();
    let tags = tags.map(|(key, value)| json!({"Key": key, "Value": value}));
    json!({
        "InstanceProfileName": name,
        "InstanceProfileId": "AIPA00000000000000001",
        "Path": profile.path,
        "Arn": format!("arn:aws:iam::{account}:instance-profile{}{name}", profile.path),
        "CreateDate": "2026-01-01T00:00:00Z",
        "Roles": roles.collect::<Vec<_>>(),
        "Tags": tags.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_are_listed_by_the_hundred() {
        let mut world = World::new();
        for number in 0..101 {
            let name = format!("profile-{number}");
            let input = json!({"InstanceProfileName": name, "Path": "/own/"});
            answer(&mut world, "CreateInstanceProfile", &input).expect("a profile");
        }
        let mut ask = |marker: Option<&str>| {
            let input = json!({"PathPrefix": "/own/", "Marker": marker});
            let told = answer(&mut world, "ListInstanceProfiles", &input).expect("profiles");
            let count = told["InstanceProfiles"].as_array().map_or(0, Vec::len);
            (count, told["IsTruncated"].clone(), told["Marker"].clone())
        };
        assert_eq!(ask(None), (100, json!(true), json!("100")));
        assert_eq!(ask(Some("100")), (1, json!(false), Value::Null));
    }

    #[test]
    fn a_profile_has_one_role_and_goes_without_it() {
        let mut world = World::new();
        world.roles = ["node", "other"].map(str::to_owned).into();
        let mut ask = |operation: &str, role: &str| {
            let input = json!({"InstanceProfileName": "own", "RoleName": role});
            let told = answer(&mut world, operation, &input);
            told.map_err(|fault| fault.code).err().unwrap_or_default()
        };
        for (operation, role, code) in [
            ("AddRoleToInstanceProfile", "node", "NoSuchEntity"),
            ("CreateInstanceProfile", "", ""),
            ("CreateInstanceProfile", "", "EntityAlreadyExists"),
            ("AddRoleToInstanceProfile", "none", "NoSuchEntity"),
            ("AddRoleToInstanceProfile", "node", ""),
            ("AddRoleToInstanceProfile", "other", "LimitExceeded"),
            ("DeleteInstanceProfile", "", "DeleteConflict"),
            ("RemoveRoleFromInstanceProfile", "other", "NoSuchEntity"),
            ("RemoveRoleFromInstanceProfile", "node", ""),
            ("RemoveRoleFromInstanceProfile", "node", "NoSuchEntity"),
            ("DeleteInstanceProfile", "", ""),
            ("GetInstanceProfile", "", "NoSuchEntity"),
        ] {
            assert_eq!(ask(operation, role), code, "{operation} {role}");
        }
    }
}
