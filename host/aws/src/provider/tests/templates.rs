//! Launch templates, which are made for launches and go after them.

use super::*;

#[tokio::test]
async fn launch_templates_that_nobody_uses_are_deleted_and_made_again_when_they_are_needed() {
    let scene = Scene::new().await;
    let launch = async |attempt: u32| {
        let mut request = two(OnDemand);
        request.batch.token = format!("00ab-{attempt}").as_str().into();
        assert_eq!(ids(&claims(scene.launch(&request).await)).len(), 2);
    };
    let templates = || scene.cloud.with(|world| world.launch_templates.len());
    let asked = || {
        let calls = scene.cloud.calls().into_iter();
        let asked = calls.filter(|call| call.operation == "DescribeLaunchTemplates");
        asked.count()
    };
    launch(0).await;
    let before = asked();
    launch(1).await;
    assert_eq!((templates(), asked()), (1, before), "it is known");
    let now = Instant::now();
    let later = now + Duration::from_mins(2);
    scene.ec2.delete_unused_templates(now).await.expect("done");
    assert_eq!(templates(), 1);
    scene
        .ec2
        .delete_unused_templates(later)
        .await
        .expect("done");
    assert_eq!(templates(), 0);
    launch(2).await;
    // Somebody else deletes it.
    scene.cloud.with(|world| world.launch_templates.clear());
    launch(3).await;
    assert_eq!(templates(), 1);

    // The next process finds what this one leaves behind.
    let next = Ec2::new(scene.ec2.clients().clone(), (*scene.ec2.cluster()).clone());
    next.delete_unused_templates(later).await.expect("done");
    assert_eq!(templates(), 1, "nothing is known of it");
    next.find_templates().await.expect("found");
    next.delete_unused_templates(later).await.expect("done");
    assert_eq!(templates(), 0);
}
