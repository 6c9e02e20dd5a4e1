//! Launch templates. Their content is kept as it was sent and read when instances are launched.

use serde_json::{Value, json};

use super::filter::{filters, passes};
use super::page::{Sizes, page};
use super::{tag_set, tags_for, texts};
use crate::clock::rfc3339;
use crate::fault::Fault;
use crate::world::{LaunchTemplate, World};

/// Most bytes of user data.
const MOST_USER_DATA: usize = 16_384;

const SIZES: Sizes = Sizes {
    least: 1,
    most: 200,
    usual: usize::MAX,
};

pub(super) fn create(world: &mut World, input: &Value) -> Result<Value, Fault> {
    let name = input["LaunchTemplateName"].as_str();
    let name = name.ok_or_else(|| Fault::missing("LaunchTemplateName"))?;
    let data = &input["LaunchTemplateData"];
    if data.is_null() {
        return Err(Fault::missing("LaunchTemplateData"));
    }
    check_name(name)?;
    check_user_data(data)?;
    if world.launch_templates.iter().any(|own| own.name == name) {
        let message = "Launch template name already in use.";
        let code = "InvalidLaunchTemplateName.AlreadyExistsException";
        return Err(Fault::new(code, message));
    }
    let template = LaunchTemplate {
        id: world.next_id("lt"),
        name: name.to_owned(),
        created: world.now(),
        tags: tags_for(input, "launch-template"),
        data: data.clone(),
    };
    let answer = json!({"launchTemplate": described(world, &template)});
    world.launch_templates.push(template);
    Ok(answer)
}

fn check_name(name: &str) -> Result<(), Fault> {
    let allowed = |letter: char| letter.is_ascii_alphanumeric() || "()./_-".contains(letter);
    if (3..=128).contains(&name.len()) && name.chars().all(allowed) {
        return Ok(());
    }
    let message = "A launch template name must be between 3 and 128 characters, and may contain letters, numbers, and the following characters: - ( ) . / _.";
    let code = "InvalidLaunchTemplateName.MalformedException";
    Err(Fault::new(code, message))
}

/// User data is base64; its length says how long it is without.
fn check_user_data(data: &Value) -> Result<(), Fault> {
    let encoded = data["UserData"].as_str().unwrap_or_default();
    let bytes = encoded.trim_end_matches('=').len() * 3 / 4;
    let message = if !encoded.len().is_multiple_of(4) {
        "Invalid BASE64 encoding of user data."
    } else if bytes > MOST_USER_DATA {
        "User data is limited to 16384 bytes"
    } else {
        return Ok(());
    };
    Err(Fault::new("InvalidUserData.Malformed", message))
}

pub(super) fn describe(world: &World, input: &Value) -> Result<Value, Fault> {
    let (names, ids) = (
        texts(input, "LaunchTemplateName"),
        texts(input, "LaunchTemplateId"),
    );
    for name in &names {
        named(world, name)?;
    }
    for id in &ids {
        of_id(world, id)?;
    }
    let filters = filters(input)?;
    let mut found = Vec::new();
    for template in &world.launch_templates {
        let is_asked = names.is_empty() && ids.is_empty()
            || names.contains(&&*template.name)
            || ids.contains(&&*template.id);
        let values = |name: &str| match name {
            "launch-template-name" => Some(vec![template.name.clone()]),
            _ => None,
        };
        if is_asked && passes(&filters, &template.tags, values)? {
            found.push(template);
        }
    }
    page(input, "launchTemplates", &SIZES, &found, |own| {
        described(world, own)
    })
}

pub(super) fn delete(world: &mut World, input: &Value) -> Result<Value, Fault> {
    let template = of_specification(world, input)?.clone();
    world.launch_templates.retain(|own| own.id != template.id);
    Ok(json!({"launchTemplate": described(world, &template)}))
}

/// The template that an input names, by id or by name.
pub(super) fn of_specification<'w>(
    world: &'w World,
    input: &Value,
) -> Result<&'w LaunchTemplate, Fault> {
    let text = |key: &str| input[key].as_str();
    match (text("LaunchTemplateId"), text("LaunchTemplateName")) {
        (Some(id), None) => of_id(world, id),
        (None, Some(name)) => named(world, name),
        (None, None) => Err(Fault::missing("LaunchTemplateId or LaunchTemplateName")),
        (Some(_), Some(_)) => {
            let message =
                "Either LaunchTemplateId or LaunchTemplateName must be specified, but not both";
            Err(Fault::new("InvalidParameterCombination", message))
        }
    }
}

fn named<'w>(world: &'w World, name: &str) -> Result<&'w LaunchTemplate, Fault> {
    let found = world.launch_templates.iter().find(|own| own.name == name);
    found.ok_or_else(|| {
        let message =
            format!("The specified launch template, with template name {name}, does not exist.");
        Fault::new("InvalidLaunchTemplateName.NotFoundException", message)
    })
}

fn of_id<'w>(world: &'w World, id: &str) -> Result<&'w LaunchTemplate, Fault> {
    let found = world.launch_templates.iter().find(|own| own.id == id);
    found.ok_or_else(|| {
        let message =
            format!("The specified launch template, with template ID {id}, does not exist.");
        Fault::new("InvalidLaunchTemplateId.NotFound", message)
    })
}

fn described(world: &World, template: &LaunchTemplate) -> Value {
    json!({
        "launchTemplateId": template.id,
        "launchTemplateName": template.name,
        "createTime": rfc3339(template.created),
        "createdBy": format!("arn:aws:iam::{}:root", world.account),
        "defaultVersionNumber": 1,
        "latestVersionNumber": 1,
        "tagSet": tag_set(&template.tags),
    })
}

#[cfg(test)]
mod tests {
    use super::super::answer;
    use super::*;

    fn input(name: &str, token: &str) -> Value {
        json!({
            "LaunchTemplateName": name, "ClientToken": token, "LaunchTemplateData": {"ImageId": "ami-1"},
            "TagSpecification": [
                {"ResourceType": "launch-template", "Tag": [{"Key": "cluster", "Value": "demo"}]},
                {"ResourceType": "instance", "Tag": [{"Key": "other", "Value": "x"}]},
            ],
        })
    }

    fn world() -> World {
        let mut world = World::new();
        for name in ["one", "two"] {
            answer(&mut world, "CreateLaunchTemplate", &input(name, name)).expect("made");
        }
        world
    }

    fn names(answer: &Value) -> Vec<&str> {
        let found = answer["launchTemplates"].as_array().into_iter().flatten();
        found
            .filter_map(|own| own["launchTemplateName"].as_str())
            .collect()
    }

    fn code(answered: Result<Value, Fault>) -> String {
        answered.expect_err("refused").code
    }

    #[test]
    fn a_name_is_given_once_unless_the_same_call_comes_again() {
        let mut world = world();
        let first = world.launch_templates[0].id.clone();
        let again = answer(&mut world, "CreateLaunchTemplate", &input("one", "one"));
        assert_eq!(
            again.expect("the same")["launchTemplate"]["launchTemplateId"],
            *first
        );
        assert_eq!(world.launch_templates.len(), 2);
        let other = answer(&mut world, "CreateLaunchTemplate", &input("one", "three"));
        assert_eq!(
            code(other),
            "InvalidLaunchTemplateName.AlreadyExistsException"
        );
        let mismatch = answer(&mut world, "CreateLaunchTemplate", &input("three", "one"));
        assert_eq!(code(mismatch), "IdempotentParameterMismatch");
    }

    #[test]
    fn templates_are_found_by_name_id_and_tag() {
        let world = world();
        let ask = |input: Value| describe(&world, &input);
        assert_eq!(names(&ask(json!({})).expect("all")), ["one", "two"]);
        let two = json!({"LaunchTemplateName": ["two"]});
        assert_eq!(names(&ask(two).expect("one")), ["two"]);
        let id = &world.launch_templates[0].id;
        let one = json!({"LaunchTemplateId": [id]});
        assert_eq!(names(&ask(one).expect("one")), ["one"]);
        for (key, count) in [("tag:cluster", 2), ("tag:other", 0)] {
            let filter = json!({"Filter": [{"Name": key, "Value": ["demo"]}]});
            assert_eq!(names(&ask(filter).expect("some")).len(), count, "{key}");
        }
        let none = json!({"LaunchTemplateName": ["one", "none"]});
        assert_eq!(
            code(ask(none)),
            "InvalidLaunchTemplateName.NotFoundException"
        );
        let none = json!({"LaunchTemplateId": ["lt-none"]});
        assert_eq!(code(ask(none)), "InvalidLaunchTemplateId.NotFound");
    }

    #[test]
    fn a_template_is_deleted_once() {
        let mut world = world();
        let id = json!({"LaunchTemplateId": world.launch_templates[0].id});
        answer(&mut world, "DeleteLaunchTemplate", &id).expect("deleted");
        assert_eq!(world.launch_templates.len(), 1);
        let again = answer(&mut world, "DeleteLaunchTemplate", &id);
        assert_eq!(code(again), "InvalidLaunchTemplateId.NotFound");
        let name = json!({"LaunchTemplateName": "one"});
        let again = answer(&mut world, "DeleteLaunchTemplate", &name);
        assert_eq!(code(again), "InvalidLaunchTemplateName.NotFoundException");
    }

    #[test]
    fn names_and_user_data_have_limits() {
        let mut world = World::new();
        let mut make = |name: &str, user_data: String| {
            let data = json!({"ImageId": "ami-1", "UserData": user_data});
            let input = json!({"LaunchTemplateName": name, "LaunchTemplateData": data});
            answer(&mut world, "CreateLaunchTemplate", &input)
        };
        for (name, user_data, refused) in [
            (
                "ab",
                String::new(),
                "InvalidLaunchTemplateName.MalformedException",
            ),
            (
                "a b c",
                String::new(),
                "InvalidLaunchTemplateName.MalformedException",
            ),
            ("odd", "AAA".to_owned(), "InvalidUserData.Malformed"),
            // 16,385 bytes.
            (
                "long",
                format!("{}AAA=", "AAAA".repeat(5_461)),
                "InvalidUserData.Malformed",
            ),
        ] {
            assert_eq!(code(make(name, user_data)), refused, "{name}");
        }
        make("fits", format!("{}AA==", "AAAA".repeat(5_461))).expect("16,384 bytes");
    }
}
