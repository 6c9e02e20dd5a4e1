//! Documents: what they say together, what is refused in one, and what one says with less in it.

use super::*;

#[test]
fn a_statement_that_denies_wins_and_is_told_apart() {
    let mut world = World::new();
    let policy = |effect: &str| {
        let text = json!({"Version": "2012-10-17", "Statement": {
            "Effect": effect, "Action": "EC2:describe*", "Resource": ["*"],
        }});
        Policy::parse(&text.to_string()).expect("a policy")
    };
    let mut ask = |policies: Option<Vec<Policy>>| {
        world.policies = policies;
        let told = denial(
            &mut world,
            (Service::Ec2, REGION),
            "DescribeImages",
            &json!({}),
        );
        told.map(|fault| fault.message).unwrap_or_default()
    };
    assert_eq!(ask(None), "");
    assert_eq!(ask(Some(vec![policy("Allow")])), "");
    let user = "You are not authorized to perform this operation. User: arn:aws:sts::111122223333:assumed-role/plimsoll/test is not authorized to perform: ec2:DescribeImages";
    assert_eq!(
        ask(Some(Vec::new())),
        format!("{user} because no identity-based policy allows the ec2:DescribeImages action")
    );
    assert_eq!(
        ask(Some(vec![policy("Allow"), policy("Deny")])),
        format!("{user} with an explicit deny in an identity-based policy")
    );
}

#[test]
fn a_document_that_is_not_understood_names_statement_and_field() {
    let of = |statement: Value| {
        let sound = json!({"Effect": "Allow", "Action": "a:B", "Resource": "*"});
        json!({"Version": "2012-10-17", "Statement": [sound, statement]}).to_string()
    };
    let with = |field: &str, value: Value| {
        let mut sound = json!({"Sid": "Own", "Effect": "Allow", "Action": "a:B", "Resource": "*"});
        sound[field] = value;
        of(sound)
    };
    for (text, words) in [
        ("{".to_owned(), "policy document: it is no JSON: "),
        (
            "{}".to_owned(),
            "policy document: Version: it is null; expected \"2012-10-17\"",
        ),
        (
            r#"{"Version": "2012-10-17", "Statement": []}"#.to_owned(),
            "policy document: Statement: there is none",
        ),
        (
            of(json!(1)),
            "policy document: statement 2: it is 1; expected an object",
        ),
        (
            of(json!({"Effect": "allow"})),
            "statement 2: Effect: it is \"allow\"; expected \"Allow\" or \"Deny\"",
        ),
        (
            with("Actions", json!("a:B")),
            "statement Own: Actions: the field is not known; expected one of Sid, Effect, Action, Resource, Condition",
        ),
        (
            with("Action", json!([])),
            "statement Own: Action: the list is empty",
        ),
        (
            with("Action", json!("Describe")),
            "statement Own: Action: \"Describe\" is no action",
        ),
        (
            with("Action", json!([1])),
            "statement Own: Action: 1 is no text",
        ),
        (
            with("Resource", Value::Null),
            "statement Own: Resource: null is no text",
        ),
        (
            with("Resource", json!("instance/*")),
            "statement Own: Resource: \"instance/*\" is no resource",
        ),
        (
            with("Resource", json!("arn:${Partition}:ec2:::a")),
            "statement Own: Resource: \"arn:${Partition}:ec2:::a\" has a placeholder",
        ),
        (
            with("Condition", json!([])),
            "statement Own: Condition: it is []",
        ),
        (
            with("Condition", json!({"StringEquals": "a"})),
            "statement Own: Condition.StringEquals: it is \"a\"; expected an object of keys",
        ),
        (
            with("Condition", json!({"Bool": {"aws:TagKeys": "a"}})),
            "statement Own: Condition.Bool: operator \"Bool\" is not known",
        ),
        (
            with("Condition", json!({"StringLike": {"aws:RequestTag/": "a"}})),
            "statement Own: Condition.StringLike: key \"aws:RequestTag/\" is not known; expected one of aws:RequestedRegion",
        ),
        (
            with("Condition", json!({"StringLike": {"aws:TagKeys": true}})),
            "statement Own: Condition.StringLike: true is no text",
        ),
    ] {
        let told = Policy::parse(&text).expect_err(words).to_string();
        assert!(told.contains(words), "{words}\n{told}");
    }
}

#[test]
fn a_document_is_lessened_by_each_action_and_resource() {
    let text = json!({"Version": "2012-10-17", "Statement": {
        "Sid": "Own", "Effect": "Allow", "Action": ["ec2:A", "ec2:B"], "Resource": "*",
    }});
    let policy = Policy::parse(&text.to_string()).expect("a policy");
    let right = |action: &str| AskedRight::new(REGION, action, "*");
    let less: Vec<(String, bool, bool)> = policy
        .lessened()
        .into_iter()
        .map(|(name, less)| {
            (
                name,
                less.allows(&right("ec2:A")),
                less.allows(&right("ec2:B")),
            )
        })
        .collect();
    let expected = [
        ("Own: ec2:A".to_owned(), false, true),
        ("Own: ec2:B".to_owned(), true, false),
        ("Own: *".to_owned(), false, false),
    ];
    assert_eq!(less, expected);
}
