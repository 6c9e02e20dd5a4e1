//! Instances that end before they have joined: EC2's reason is told once, with the way out, and a class whose next instance would end as well
//! is left alone until it is another one, or an instance of its has joined.

use plimsoll_cloud::StateReason;
use plimsoll_model::{ClaimPhase, Conditions, NodeClaim, Version};

use super::*;
use crate::ended::EndedEarly;

/// Why EC2 ends an instance whose volumes it may not decrypt.
fn no_key() -> StateReason {
    StateReason::new("Client.InternalError", "Client error on launch")
}

/// The claim of an instance, after so many steps.
fn claim(name: &str, instance: &ProviderId, phase: ClaimPhase) -> NodeClaim {
    NodeClaim {
        provider_id: Some(instance.clone()),
        conditions: Conditions::reached(phase, Timestamp::from_millis(0)),
        ..(*sample::claim(name, &json!([]))).clone()
    }
}

impl Scene {
    fn see(&self, claim: NodeClaim) {
        let object = Object::Claim(Arc::new(claim));
        self.ec2
            .observe(&Input::Applied(object, Version::default()));
    }

    /// Two instances of claims `a` and `b`, which have not joined.
    async fn joining(&self) -> Vec<ProviderId> {
        let given = ids(&claims(self.launch(&two(OnDemand)).await));
        let given: Vec<ProviderId> = given.into_iter().map(ProviderId::from).collect();
        for (name, instance) in ["a", "b"].iter().zip(&given) {
            self.see(claim(name, instance, ClaimPhase::Launched));
        }
        given
    }

    async fn ended(&self) -> Vec<EndedEarly> {
        let joining = self.ec2.joining();
        self.ec2.ended_early(&joining).await.expect("an answer")
    }

    /// What another launch comes to.
    async fn launched_again(&self, attempt: u32) -> Outcome {
        let mut next = two(OnDemand);
        next.batch.token = format!("00ab-{attempt}").as_str().into();
        self.launch(&next).await
    }

    fn fleets(&self) -> usize {
        let calls = self.cloud.calls().into_iter();
        calls.filter(|call| call.operation == "CreateFleet").count()
    }
}

#[tokio::test]
async fn instances_without_a_right_to_their_key_are_told_once_and_their_class_is_left_alone() {
    let scene = Scene::new().await;
    scene.cloud.with(|world| {
        world.start_failure = Some(no_key());
        world.delays.terminated = Duration::from_secs(30);
    });
    let given = scene.joining().await;
    let told = scene.ended().await;
    let mut names: Vec<&str> = told.iter().map(|own| own.claim.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["a", "b"]);
    for own in &told {
        assert!(given.contains(&own.instance));
        assert!(
            own.sentence
                .starts_with("Client.InternalError: Client error on launch; most often the key")
                && own.sentence.contains("kms:CreateGrant"),
            "{}",
            own.sentence
        );
    }
    assert_eq!(scene.ended().await, [], "each is told once");

    // Its subnets come in another order, by their free addresses.
    scene.serve(&json!({})).await;
    let fleets = scene.fleets();
    for attempt in 1..4 {
        let refused = scene.launched_again(attempt).await;
        let Outcome::Refused(Reason::ClassNotReady(words)) = refused else {
            unreachable!("{refused:?}")
        };
        assert!(words.contains("kms:CreateGrant"), "{words}");
    }
    assert_eq!(scene.fleets(), fleets, "EC2 is not asked");
    let class = scene.ec2.class("default").expect("a class");
    let tried = scene.ec2.try_out(&class).await.expect("an answer");
    let refusal = tried.expect_err("a refusal");
    assert_eq!(refusal.reason, "InstancesEndAtOnce");
    let own = super::class(&json!({}));
    let looked = look(&own, &scene.ec2.cluster(), scene.ec2.clients(), NOW).await;
    let status = looked.conclude(Ok(Err(refusal))).status;
    let mut conditions = status.conditions.iter();
    let told = conditions.find(|own| own.kind == "ValidationSucceeded");
    let told = told.map(|own| own.message.as_str()).unwrap_or_default();
    assert!(
        told.starts_with("its last instance has ended before it joined: Client.InternalError")
            && told.ends_with("nothing of the class is launched for up to 1 minute"),
        "{told}"
    );

    // Another key.
    scene.cloud.with(|world| world.start_failure = None);
    let key =
        json!({"deviceName": "/dev/xvda", "ebs": {"volumeSize": "20Gi", "kmsKeyID": "key-2"}});
    scene.serve(&json!({"blockDeviceMappings": [key]})).await;
    let given = claims(scene.launched_again(4).await);
    assert_eq!(ids(&given).len(), 2);
}

#[tokio::test]
async fn a_class_is_launched_again_once_an_instance_of_its_has_joined() {
    let scene = Scene::new().await;
    scene
        .cloud
        .with(|world| world.start_failure = Some(no_key()));
    let given = scene.joining().await;
    assert_eq!(scene.ended().await.len(), 2);
    let refused = scene.launched_again(1).await;
    assert!(matches!(refused, Outcome::Refused(_)), "{refused:?}");
    scene.cloud.with(|world| world.start_failure = None);
    // Of an older launch.
    scene.see(claim("a", &given[0], ClaimPhase::Registered));
    let given = claims(scene.launched_again(2).await);
    assert_eq!(ids(&given).len(), 2);
}

#[tokio::test]
async fn an_instance_that_somebody_else_ends_is_told_and_its_class_is_not_blamed() {
    let scene = Scene::new().await;
    let given = scene.joining().await;
    assert_eq!(scene.ended().await, [], "both run");
    let instance = given[0].clone();
    let ended = scene.ec2.call(&CloudCall::Terminate { instance }).await;
    assert_eq!(ended, Outcome::Done(Answer::Ending));
    let told = scene.ended().await;
    assert_eq!(told.len(), 1);
    assert!(told[0].sentence.contains("CloudTrail"), "{told:?}");
    let given = claims(scene.launched_again(1).await);
    assert_eq!(ids(&given).len(), 2);
}

#[tokio::test]
async fn instances_that_have_joined_or_whose_claims_go_are_not_asked_about() {
    let scene = Scene::new().await;
    let given = scene.joining().await;
    scene.see(claim("a", &given[0], ClaimPhase::Registered));
    let going = NodeClaim {
        deleting: Some(Timestamp::from_millis(0)),
        ..claim("b", &given[1], ClaimPhase::Launched)
    };
    scene.see(going);
    assert!(scene.ec2.joining().is_empty());
    scene.cloud.forget_calls();
    let told = scene.ec2.ended_early(&given.into_iter().collect()).await;
    assert_eq!(told, Ok(Vec::new()));
    assert!(scene.cloud.calls().is_empty());
}
