//! Actions that the controller's role lacks, one by one: each is told where the user looks, and nothing else is lost for it.

use super::*;

/// The condition that stands for an action that is denied, as `type=status reason "message"`.
async fn told(action: &str) -> Vec<String> {
    let scene = Scene::on(World::demo("demo")).await;
    let denied = Fault::new("UnauthorizedOperation", "You are not authorized").with_status(403);
    let fault = ScriptedFault::error(action, denied).times(100);
    scene.cloud.with(|world| world.faults.push(fault));
    let status = scene.reconciled(&class(&json!({}))).await.status;
    let conditions = status.conditions.iter();
    let unmet = conditions.filter(|own| own.status != "True" && own.kind != "Ready");
    let shown = unmet.map(|own| format!("{}={} {}", own.kind, own.status, own.message));
    shown.collect()
}

#[tokio::test]
async fn a_class_names_the_action_that_is_denied_in_the_condition_that_waits_for_it() {
    for (service, action, condition) in [
        ("ec2", "DescribeSubnets", "SubnetsReady"),
        ("ec2", "DescribeSecurityGroups", "SecurityGroupsReady"),
        ("ec2", "DescribeImages", "AMIsReady"),
        ("ssm", "GetParameter", "AMIsReady"),
        ("iam", "GetInstanceProfile", "InstanceProfileReady"),
        ("iam", "CreateInstanceProfile", "InstanceProfileReady"),
        ("iam", "AddRoleToInstanceProfile", "InstanceProfileReady"),
    ] {
        let told = told(action).await;
        let words =
            format!("{condition}=Unknown {service}:{action}: UnauthorizedOperation; expected");
        assert!(told[0].starts_with(&words), "{told:?}");
        assert!(
            told[1].starts_with("ValidationSucceeded=Unknown"),
            "{told:?}"
        );
        assert_eq!(told.len(), 2, "the others are known: {told:?}");
    }
}

#[tokio::test]
async fn a_call_that_is_denied_is_refused_with_its_action_and_changes_nothing() {
    let scene = Scene::new().await;
    assert_eq!(ids(&claims(scene.launch(&two(OnDemand)).await)).len(), 2);
    let instance = scene.first();
    let mut next = two(OnDemand);
    next.batch.token = "00ab-1".into();
    let launch = || CloudCall::Launch(next.clone());
    let tag = CloudCall::Tag {
        instance: instance.clone(),
        claim: "a".into(),
        node: "node-1".into(),
    };
    let get = CloudCall::Get {
        instance: instance.clone(),
    };
    let end = || CloudCall::Terminate {
        instance: instance.clone(),
    };
    // Another launch template than the first.
    scene
        .serve(&json!({"userData": "#!/bin/sh\necho other"}))
        .await;
    for (action, call) in [
        ("DescribeInstances", get),
        ("DescribeInstances", CloudCall::List),
        ("DescribeInstances", CloudCall::Find(next.clone())),
        ("DescribeInstances", end()),
        ("TerminateInstances", end()),
        ("CreateTags", tag),
        ("DescribeLaunchTemplates", launch()),
        ("CreateLaunchTemplate", launch()),
        ("CreateFleet", launch()),
    ] {
        let denied = Fault::new("UnauthorizedOperation", "You are not authorized");
        let fault = ScriptedFault::error(action, denied.with_status(403)).times(100);
        scene.cloud.with(|world| world.faults.push(fault));
        let ended = scene.ec2.call(&call).await;
        scene.cloud.with(|world| world.faults.clear());
        let Outcome::Refused(Reason::Other(words) | Reason::LaunchFailed { words, .. }) = &ended
        else {
            unreachable!("{action}: {ended:?}")
        };
        let expected = format!(
            "ec2:{action}: UnauthorizedOperation: You are not authorized; give the controller's role the policies of the chart"
        );
        assert_eq!(*words, expected);
    }
    let instances = scene.instances();
    assert_eq!(instances.len(), 2, "nothing was launched");
    assert!(instances.iter().all(|own| own.ends.is_none()));
    assert!(instances.iter().all(|own| !own.tags.contains_key("Name")));
}

/// The condition of launches after a class was tried out while an action fails so, and how often it was tried.
async fn tried(action: &str, fault: Fault) -> (Option<Refusal>, usize) {
    let scene = Scene::new().await;
    let class = scene.ec2.class("default").expect("a class");
    let fault = ScriptedFault::error(action, fault).times(100);
    scene.cloud.with(|world| world.faults.push(fault));
    let mut refusal = None;
    for _ in 0..2 {
        refusal = scene.ec2.try_out(&class).await.expect("an answer").err();
    }
    let calls = scene.cloud.calls().into_iter();
    let calls = calls.filter(|call| call.operation == action).count();
    assert!(scene.instances().is_empty(), "nothing was launched");
    (refusal, calls)
}

#[tokio::test]
async fn a_class_is_tried_out_once_and_names_the_call_that_launches_may_not_make() {
    let denied = || Fault::new("UnauthorizedOperation", "You are not authorized").with_status(403);
    for (action, reason, calls) in [
        (
            "CreateLaunchTemplate",
            "CreateLaunchTemplateAuthCheckFailed",
            1,
        ),
        ("CreateFleet", "CreateFleetAuthCheckFailed", 1),
        // It is tried in each of the three subnets.
        ("RunInstances", "RunInstancesAuthCheckFailed", 3),
    ] {
        let (refusal, tried) = tried(action, denied()).await;
        let refusal = refusal.expect(action);
        assert_eq!((refusal.reason, tried), (reason, calls));
        let words = format!("ec2:{action}: UnauthorizedOperation: You are not authorized; ");
        assert!(refusal.message.starts_with(&words), "{refusal:?}");
    }
    let long = "User data is limited to 16384 bytes";
    let long = Fault::new("InvalidUserData.Malformed", long);
    let (refusal, _) = tried("CreateLaunchTemplate", long).await;
    let reason = refusal.map(|refusal| refusal.reason);
    assert_eq!(reason, Some("UserDataSizeLimitExceeded"));
}

#[tokio::test]
async fn a_class_that_can_be_launched_is_found_so_and_leaves_nothing_behind() {
    let scene = Scene::new().await;
    let class = scene.ec2.class("default").expect("a class");
    assert_eq!(scene.ec2.try_out(&class).await, Ok(Ok(())));
    assert!(scene.instances().is_empty());
    let later = Instant::now() + Duration::from_mins(2);
    scene
        .ec2
        .delete_unused_templates(later)
        .await
        .expect("done");
    let left = scene.cloud.with(|world| world.launch_templates.len());
    assert_eq!(left, 0);
    let refused = Refusal {
        reason: "CreateFleetAuthCheckFailed",
        message: "denied".to_owned(),
    };
    let own = super::class(&json!({}));
    let looked = look(&own, &scene.ec2.cluster(), scene.ec2.clients(), NOW).await;
    assert!(looked.is_sound());
    let status = looked.conclude(Ok(Err(refused))).status;
    let said = |kind: &str| {
        let found = status.conditions.iter().find(|own| own.kind == kind);
        found.map(|own| (own.status.as_str(), own.reason.as_str()))
    };
    let reason = "CreateFleetAuthCheckFailed";
    assert_eq!(said("ValidationSucceeded"), Some(("False", reason)));
    assert_eq!(said("Ready"), Some(("False", "UnhealthyDependents")));
}

#[tokio::test]
async fn a_class_that_cannot_be_tried_out_is_not_taken_for_sound() {
    let scene = Scene::new().await;
    let slow = Fault::new("RequestLimitExceeded", "Request limit exceeded.").with_status(503);
    let fault = ScriptedFault::error("CreateFleet", slow);
    scene.cloud.with(|world| world.faults.push(fault));
    let class = scene.ec2.class("default").expect("a class");
    let tried = scene.ec2.try_out(&class).await;
    assert!(tried.is_err(), "{tried:?}");
    let own = super::class(&json!({}));
    let looked = look(&own, &scene.ec2.cluster(), scene.ec2.clients(), NOW).await;
    let reconciled = looked.conclude(tried);
    let conditions = reconciled.status.conditions.iter();
    let mut validated = conditions.filter(|own| own.kind == "ValidationSucceeded");
    let validated = validated.next().expect("a condition");
    let words = "ec2:CreateFleet: RequestLimitExceeded";
    assert_eq!(
        (&*validated.status, &*validated.message),
        ("Unknown", words)
    );
    assert_eq!(reconciled.failed.len(), 1, "it is tried again soon");
    assert_eq!(scene.ec2.try_out(&class).await, Ok(Ok(())));
}
