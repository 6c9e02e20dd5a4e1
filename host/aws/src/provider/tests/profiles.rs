//! Instance profiles: read once in a while, made anew where somebody has deleted one, and deleted once nothing uses them.

use super::*;
use crate::class::retire::{delete_unused_profiles, retire};
use crate::resolve::profile::Owner;
use crate::resolve::unused_profiles::ProfileUse;

const ROLE: &str = "KarpenterNodeRole-demo";

fn profiles(scene: &Scene) -> Vec<String> {
    let names = |world: &mut World| world.instance_profiles.keys().cloned().collect();
    scene.cloud.with(names)
}

/// How often IAM was asked for a profile.
fn reads(scene: &Scene) -> usize {
    let calls = scene.cloud.calls().into_iter();
    let reads = calls.filter(|call| call.operation == "GetInstanceProfile");
    reads.count()
}

#[tokio::test]
async fn a_profile_is_read_once_until_ec2_says_that_it_is_not_there() {
    let scene = Scene::new().await;
    let (made, own) = (profiles(&scene), class(&json!({})));
    scene.reconciled(&own).await;
    assert_eq!((reads(&scene), made.len()), (1, 1));
    scene.cloud.with(|world| world.instance_profiles.clear());
    scene.reconciled(&own).await;
    assert_eq!((reads(&scene), profiles(&scene).len()), (1, 0));
    assert_eq!(ids(&claims(scene.launch(&two(OnDemand)).await)), [""; 0]);
    scene.reconciled(&own).await;
    assert_eq!((reads(&scene), profiles(&scene)), (2, made));
}

#[tokio::test]
async fn a_profile_of_a_role_that_is_not_there_yet_is_tried_each_time() {
    let scene = Scene::new().await;
    let own = class(&json!({"role": "late"}));
    let ready = async || {
        let status = scene.reconciled(&own).await.status;
        let mut conditions = status.conditions.into_iter();
        let found = conditions.find(|own| own.kind == "InstanceProfileReady");
        found.map(|own| own.status)
    };
    assert_eq!(ready().await.as_deref(), Some("False"));
    let add = |world: &mut World| world.roles.extend(["late".to_owned()]);
    scene.cloud.with(add);
    assert_eq!(ready().await.as_deref(), Some("True"));
}

#[tokio::test]
async fn the_profile_of_a_role_that_a_class_had_goes_once_no_claim_names_it() {
    let mut world = World::demo("demo");
    world.roles.extend(["others".to_owned()]);
    let scene = Scene::on(world).await;
    let clients = scene.ec2.clients();
    let path = "/karpenter/us-east-1/demo-2/uid/";
    let of_another = clients.create_profile("another", path, &[].into()).await;
    of_another.expect("a profile of another cluster");
    let mut made = Vec::new();
    for role in [ROLE, "others"] {
        let own = class(&json!({ "role": role }));
        made.extend(scene.reconciled(&own).await.status.instance_profile);
    }
    let classes = [class(&json!({"role": "others"}))];
    let delete = async |profile: Option<&String>| {
        let claims: Vec<ProfileUse> = profile
            .map(|profile| ProfileUse {
                class: "default".to_owned(),
                profile: Some(profile.clone()),
            })
            .into_iter()
            .collect();
        let found = clients.profiles_of_cluster("demo").await;
        let found = found.expect("profiles");
        let in_use = (classes.as_slice(), claims.as_slice());
        let deleted = delete_unused_profiles(&found, "demo", in_use, clients).await;
        let names = deleted.into_iter().map(|(name, outcome)| {
            outcome.expect("deleted");
            name
        });
        names.collect::<Vec<String>>()
    };
    assert_eq!(delete(Some(&made[0])).await, [""; 0]);
    assert_eq!(delete(None).await, made[..1]);
    assert_eq!(profiles(&scene), ["another".to_owned(), made[1].clone()]);
}

#[tokio::test]
async fn the_profile_that_an_early_release_has_made_goes_with_the_class_that_it_is_named_after() {
    for role in [Some(ROLE), None] {
        let scene = Scene::new().await;
        let owner = |class: &'static str| Owner {
            region: "us-east-1",
            cluster: "demo",
            class,
            uid: "class-uid",
        };
        let legacy = |class| owner(class).legacy_name().expect("a name");
        scene.cloud.with(|world| {
            for name in ["default", "other"].map(legacy) {
                let own = plimsoll_cloud::InstanceProfile {
                    role: role.map(str::to_owned),
                    ..Default::default()
                };
                world.instance_profiles.insert(name, own);
            }
        });
        assert_eq!(profiles(&scene).len(), 3);
        let own = class(&json!({}));
        let gone = retire(&own, "demo", scene.ec2.clients(), false).await;
        assert_eq!((gone, profiles(&scene)), (Ok(()), vec![legacy("other")]));
        // Once more: it is gone.
        let again = retire(&own, "demo", scene.ec2.clients(), false).await;
        assert_eq!(again, Ok(()));
    }
}

#[tokio::test]
async fn a_class_with_a_profile_of_somebody_else_s_goes_without_asking_iam() {
    let scene = Scene::new().await;
    let of_iam = || {
        let calls = scene.cloud.calls().into_iter();
        let of_iam = calls.filter(|call| call.service == plimsoll_cloud::Service::Iam);
        of_iam.count()
    };
    let before = of_iam();
    let own = class(&json!({"role": null, "instanceProfile": "own"}));
    let gone = retire(&own, "demo", scene.ec2.clients(), false).await;
    assert_eq!((gone, of_iam()), (Ok(()), before));
    // One that cannot have a profile of an early release is not asked for it.
    let long = "x".repeat(120);
    let gone = retire(&class(&json!({})), &long, scene.ec2.clients(), false).await;
    assert_eq!((gone, of_iam()), (Ok(()), before + 1));
}
