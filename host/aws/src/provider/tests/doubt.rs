//! Calls for a fleet whose outcome is unknown: an answer that is cut, and a refusal after a try whose answer was lost, say nothing.

use super::*;

/// Ways for an answer to be lost.
const LOSSES: [fn(&str) -> ScriptedFault; 3] = [
    ScriptedFault::lost_answer,
    ScriptedFault::cut_answer,
    ScriptedFault::halved_answer,
];

#[tokio::test]
async fn an_answer_that_is_cut_or_halved_is_none_and_the_next_call_gives_the_same() {
    for lost in LOSSES {
        let scene = Scene::new().await;
        let fault = lost("CreateFleet").times(3);
        scene.cloud.with(|world| world.faults.push(fault.clone()));
        let outcome = scene.launch(&two(OnDemand)).await;
        assert_eq!(outcome, Outcome::Unknown, "{fault:?}");
        scene.cloud.with(|world| world.faults.clear());
        assert_eq!(scene.instances().len(), 2, "{fault:?}");
        let again = claims(scene.launch(&two(OnDemand)).await);
        assert_eq!(ids(&again).len(), 2, "{fault:?}");
        assert_eq!(scene.instances().len(), 2, "{fault:?}");
    }
}

#[tokio::test]
async fn a_refusal_after_a_try_whose_answer_was_lost_is_no_proof() {
    for (code, status) in [
        ("UnauthorizedOperation", 403),
        ("MaxFleetCountExceeded", 400),
        ("RequestLimitExceeded", 503),
    ] {
        let scene = Scene::new().await;
        let refused = Fault::new(code, "not now").with_status(status);
        let refused = ScriptedFault::error("CreateFleet", refused).times(3);
        let lost = ScriptedFault::lost_answer("CreateFleet");
        scene
            .cloud
            .with(|world| world.faults.extend([lost, refused]));
        let outcome = scene.launch(&two(OnDemand)).await;
        assert_eq!(outcome, Outcome::Unknown, "{code}");
        assert_eq!(scene.instances().len(), 2, "{code}");
        scene.cloud.with(|world| world.faults.clear());
        assert_eq!(ids(&scene.find(&two(OnDemand)).await).len(), 2, "{code}");
    }
}

#[tokio::test]
async fn a_refusal_without_a_code_of_ec2_is_somebody_elses() {
    let scene = Scene::new().await;
    let fault = Fault::new("", "blocked by a proxy").with_status(403);
    let fault = ScriptedFault::error("CreateFleet", fault);
    scene.cloud.with(|world| world.faults.push(fault));
    assert_eq!(scene.launch(&two(Spot)).await, Outcome::Unknown);
}

#[tokio::test]
async fn a_list_that_lacks_its_end_is_no_list() {
    let scene = Scene::new().await;
    assert_eq!(ids(&claims(scene.launch(&two(OnDemand)).await)).len(), 2);
    let fault = ScriptedFault::halved_answer("DescribeInstances").times(3);
    scene.cloud.with(|world| world.faults.push(fault));
    assert_eq!(scene.ec2.call(&CloudCall::List).await, Outcome::Unknown);
}
