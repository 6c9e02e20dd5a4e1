//! Zones with two subnets: launches go where most addresses are left, and a zone is out of addresses once both are.

use plimsoll_cloud::Subnet;

use super::*;

/// A scene whose first zone has two subnets with so many free addresses, and a class that has looked at them.
async fn with_two(first: u32, second: u32) -> Scene {
    let mut world = World::demo("demo");
    let own = world.subnets[0].clone();
    world.subnets[0].free_addresses = first;
    world.subnets.push(Subnet {
        id: "subnet-second".to_owned(),
        free_addresses: second,
        ..own
    });
    let scene = Scene::on(world).await;
    scene.serve(&json!({})).await;
    scene
}

impl Scene {
    /// A launch of these claims in the first zone, under a token.
    async fn launch_there(&self, token: &str, names: &[&str]) -> LaunchAnswer {
        let options = vec![sample::option("m5.large", "us-east-1a", OnDemand, 0.04)];
        let mut request = sample::request(names, options);
        request.batch.token = token.into();
        match self.launch(&request).await {
            Outcome::Done(Answer::Launched(answer)) => answer,
            other => unreachable!("{other:?}"),
        }
    }

    /// Subnets of the instances, in the order of their launches: `true` for the second one.
    fn in_second(&self) -> Vec<bool> {
        let instances = self.instances().into_iter();
        instances.map(|own| own.subnet == "subnet-second").collect()
    }
}

#[tokio::test]
async fn addresses_of_nodes_that_were_launched_count_until_ec2_counts_them() {
    // A node of this type has 29 pods.
    let scene = with_two(100, 80).await;
    for (token, expected) in [
        ("00ab-0", vec![false]),
        ("00ab-1", vec![false, true]),
        ("00ab-2", vec![false, true, false]),
        ("00ab-3", vec![false, true, false, true]),
    ] {
        assert_eq!(
            ids(&scene.launch_there(token, &["a"]).await.claims).len(),
            1
        );
        assert_eq!(scene.in_second(), expected, "{token}");
    }
    // Somebody else takes addresses of the first, and EC2 counts again.
    scene
        .cloud
        .with(|world| world.subnets[0].free_addresses = 60);
    let later = Timestamp::from_millis(NOW.millis() + 600_000);
    let (cluster, clients) = (scene.ec2.cluster(), scene.ec2.clients());
    let looked = look(&class(&json!({})), &cluster, clients, later).await;
    assert_eq!(looked.failed, []);
    scene.launch_there("00ab-4", &["a"]).await;
    assert_eq!(scene.in_second()[4..], [true]);
}

#[tokio::test]
async fn launches_at_once_go_into_different_subnets() {
    let scene = with_two(100, 99).await;
    tokio::join!(
        scene.launch_there("00ab-0", &["a"]),
        scene.launch_there("00ab-1", &["b"])
    );
    let mut subnets = scene.in_second();
    subnets.sort_unstable();
    assert_eq!(subnets, [false, true]);
}

#[tokio::test]
async fn what_a_call_that_failed_would_have_taken_is_given_back() {
    let scene = with_two(100, 99).await;
    let denied = Fault::new("UnauthorizedOperation", "You are not authorized").with_status(403);
    let fault = ScriptedFault::error("CreateFleet", denied);
    scene.cloud.with(|world| world.faults.push(fault));
    let options = vec![sample::option("m5.large", "us-east-1a", OnDemand, 0.04)];
    let refused = scene.launch(&sample::request(&["a"], options)).await;
    assert!(matches!(refused, Outcome::Refused(_)), "{refused:?}");
    scene.launch_there("00ab-1", &["a"]).await;
    assert_eq!(scene.in_second(), [false]);
}

#[tokio::test]
async fn a_subnet_that_is_full_makes_room_for_its_sibling_and_hides_no_offering() {
    let scene = with_two(60, 40).await;
    // Somebody else has taken the addresses since.
    scene
        .cloud
        .with(|world| world.subnets[0].free_addresses = 1);
    let answer = scene.launch_there("00ab-0", &["a", "b"]).await;
    assert_eq!(ids(&answer.claims).len(), 1);
    assert_eq!(answer.exhausted, [], "the sibling has some");
    let ClaimLaunch::Refused(Reason::InsufficientCapacity { offerings, because }) =
        &answer.claims[1]
    else {
        unreachable!("{answer:?}")
    };
    assert_eq!(offerings, &[]);
    let words = because.as_deref().unwrap_or_default();
    assert!(
        words.starts_with("InsufficientFreeAddressesInSubnet"),
        "{words}"
    );
    // The next launch goes there.
    let answer = scene.launch_there("00ab-1", &["b"]).await;
    assert_eq!(ids(&answer.claims).len(), 1);
    assert_eq!(scene.in_second(), [false, true]);
    // Once both are full, the zone has none.
    scene
        .cloud
        .with(|world| world.subnets[3].free_addresses = 0);
    let answer = scene.launch_there("00ab-2", &["c"]).await;
    let zones: Vec<&str> = answer.exhausted.iter().map(|own| &*own.zone).collect();
    assert_eq!(zones, ["us-east-1a"]);
}
