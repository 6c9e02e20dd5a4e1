//! Nothing is launched by what a class was: claims of one that has changed wait until it was looked at.

use plimsoll_model::action::LaunchBatch;

use super::*;

#[tokio::test]
async fn a_claim_of_a_class_that_has_changed_waits_until_it_was_looked_at() {
    let scene = Scene::new().await;
    assert_eq!(ids(&claims(scene.launch(&two(OnDemand)).await)).len(), 2);
    scene.ec2.set_outdated(["default".to_owned()]);
    let next = LaunchRequest {
        batch: LaunchBatch {
            token: "00cd-0".into(),
            size: 2,
        },
        ..two(OnDemand)
    };
    let refused = scene.launch(&next).await;
    let Outcome::Refused(Reason::LaunchFailed { reason, words }) = &refused else {
        unreachable!("{refused:?}")
    };
    assert_eq!(&**reason, "NodeClassReadinessUnknown");
    let expected =
        "EC2NodeClass default is not known to be ready: AWS was not asked yet what it stands for";
    assert!(words.starts_with(expected), "{words}");
    assert_eq!(scene.instances().len(), 2);
    // Instances are told of by what is known.
    let instance = scene.first();
    let told = scene.ec2.call(&CloudCall::Get { instance }).await;
    assert!(matches!(told, Outcome::Done(_)), "{told:?}");
    scene.serve(&json!({"tags": {"team": "shop"}})).await;
    scene.ec2.set_outdated([]);
    assert_eq!(ids(&claims(scene.launch(&next).await)).len(), 2);
    let teams = scene.instances().into_iter();
    let teams = teams.filter(|own| own.tags.get("team").is_some_and(|team| team == "shop"));
    assert_eq!(teams.count(), 2);
}
