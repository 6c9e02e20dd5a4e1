//! Images, parameters and subnets are asked of AWS as seldom as they may be: a release of images does not replace nodes within a minute.

use k8s_openapi::jiff::SignedDuration;
use plimsoll_cloud::Image;

use super::*;
use crate::resolve::kept::RefreshIntervals;

const LATEST: &str =
    "/aws/service/eks/optimized-ami/1.36/amazon-linux-2023/x86_64/standard/recommended/image_id";

impl Scene {
    /// Calls of an operation that a look at a class takes, so many minutes after the first one, with the ids of the images that it finds.
    async fn look_after(
        &self,
        minutes: i64,
        operation: &str,
        spec: &Value,
    ) -> (usize, Vec<String>) {
        let now = Timestamp::from_millis(NOW.millis() + minutes * 60_000);
        self.cloud.forget_calls();
        let (cluster, clients) = (self.ec2.cluster(), self.ec2.clients());
        let looked = look(&class(spec), &cluster, clients, now).await;
        assert_eq!(looked.failed, []);
        let calls = self.cloud.calls().into_iter();
        let asked = calls.filter(|call| call.operation == operation);
        let images = looked.status.amis.into_iter().map(|own| own.id);
        (asked.count(), images.collect())
    }

    /// From now on the newest image is this one.
    fn publish(&self, id: &str) {
        self.cloud.with(|world| {
            world.images.push(Image {
                id: id.to_owned(),
                architecture: "x86_64".to_owned(),
                created: "2026-07-01T00:00:00.000Z".to_owned(),
                ..Image::default()
            });
            world.parameters.insert(LATEST.to_owned(), id.to_owned());
        });
    }
}

#[tokio::test]
async fn the_latest_image_is_the_same_for_a_day() {
    let scene = Scene::on(World::demo("demo")).await;
    let look = async |minutes| {
        let spec = json!({});
        scene.look_after(minutes, "GetParameter", &spec).await
    };
    let (asked, first) = look(0).await;
    assert_eq!(asked, 5);
    scene.publish("ami-new");
    for minutes in [1, 30, 24 * 60 - 1] {
        assert_eq!(look(minutes).await, (0, first.clone()), "{minutes}");
    }
    let (asked, images) = look(24 * 60).await;
    assert_eq!(asked, 5);
    assert!(images.contains(&"ami-new".to_owned()), "{images:?}");
}

#[tokio::test]
async fn a_latest_image_that_is_deprecated_is_left_for_the_next() {
    let scene = Scene::on(World::demo("demo")).await;
    let look = async |minutes| {
        let spec = json!({});
        scene.look_after(minutes, "GetParameter", &spec).await
    };
    let (_, first) = look(0).await;
    let old = scene.cloud.with(|world| world.parameters[LATEST].clone());
    scene.publish("ami-new");
    scene.cloud.with(|world| {
        let mut images = world.images.iter_mut();
        let image = images.find(|own| own.id == old).expect("an image");
        image.deprecated = Some("2026-08-01T00:00:00.000Z".to_owned());
    });
    assert_eq!(look(29).await, (0, first.clone()));
    // It is seen to be deprecated, and the next look asks for its parameter alone.
    assert_eq!(look(30).await, (0, first));
    let (asked, images) = look(31).await;
    assert_eq!(asked, 1);
    assert!(
        images.contains(&"ami-new".to_owned()) && !images.contains(&old),
        "{images:?}"
    );
}

#[tokio::test]
async fn parameters_of_the_users_are_read_again_after_five_minutes() {
    let scene = Scene::on(World::demo("demo")).await;
    scene.publish("ami-new");
    let own = || {
        scene.cloud.with(|world| {
            world
                .parameters
                .insert("/own".to_owned(), "ami-new".to_owned())
        })
    };
    let look = async |minutes| {
        let spec = json!({"amiFamily": "AL2023", "amiSelectorTerms": [{"ssmParameter": "/own"}]});
        scene.look_after(minutes, "GetParameter", &spec).await
    };
    // One that is not there is waited for.
    assert_eq!(look(0).await, (1, Vec::new()));
    own();
    let found = vec!["ami-new".to_owned()];
    assert_eq!(look(1).await, (1, found.clone()));
    assert_eq!(look(5).await, (0, found.clone()));
    assert_eq!(look(6).await, (1, found));
}

#[tokio::test]
async fn what_classes_choose_is_asked_for_as_often_as_the_settings_say() {
    for (intervals, minutes, images, subnets, security_groups) in [
        (None, 1, 1, 1, 1),
        (Some((5, 2, 3)), 1, 0, 0, 0),
        (Some((5, 2, 3)), 2, 0, 1, 0),
        (Some((5, 2, 3)), 4, 0, 1, 1),
        (Some((5, 2, 3)), 5, 1, 1, 1),
    ] {
        let mut scene = Scene::on(World::demo("demo")).await;
        if let Some((images, subnets, security_groups)) = intervals {
            let intervals = RefreshIntervals {
                images: SignedDuration::from_mins(images),
                subnets: SignedDuration::from_mins(subnets),
                security_groups: SignedDuration::from_mins(security_groups),
            };
            let clients = scene.ec2.clients().clone().with_intervals(intervals);
            scene.ec2 = Ec2::new(clients, (*scene.ec2.cluster()).clone());
        }
        for (operation, expected) in [
            ("DescribeImages", images),
            ("DescribeSubnets", subnets),
            ("DescribeSecurityGroups", security_groups),
        ] {
            let spec = json!({"tags": {"for": operation}});
            let first = scene.look_after(0, operation, &spec).await;
            let next = scene.look_after(minutes, operation, &spec).await;
            let told = format!("{operation} after {minutes} of {intervals:?}");
            assert_eq!((next.0, next.1), (expected, first.1), "{told}");
        }
    }
}

#[tokio::test]
async fn another_version_of_kubernetes_has_other_images() {
    let scene = Scene::on(World::demo("demo")).await;
    let look = async |minutes| {
        let spec = json!({});
        scene.look_after(minutes, "GetParameter", &spec).await
    };
    let (_, first) = look(0).await;
    scene.publish("ami-next");
    scene.cloud.with(|world| {
        let next = LATEST.replace("1.36", "1.37");
        world.parameters.insert(next, "ami-next".to_owned());
    });
    scene
        .ec2
        .change_cluster(|cluster| "1.37".clone_into(&mut cluster.kubernetes));
    let (asked, images) = look(1).await;
    assert_eq!((asked, images), (5, vec!["ami-next".to_owned()]));
    assert!(!first.contains(&"ami-next".to_owned()));
}
