//! Network interfaces of type EFA: launched for claims that ask for them, and told of nodes that have them.

use plimsoll_base::resources::ResourceName;
use plimsoll_model::NodeClaim;

use super::*;

fn efa() -> ResourceName {
    ResourceName::Other("vpc.amazonaws.com/efa".into())
}

/// A launch of claims that ask for so many interfaces each.
fn asking(amounts: &[i64]) -> LaunchRequest {
    let options = vec![
        sample::option("c6in.32xlarge", "us-east-1a", OnDemand, 7.0),
        sample::option("m5.large", "us-east-1a", OnDemand, 8.0),
    ];
    let mut request = sample::request(&["a", "b"][..amounts.len()], options);
    let claims = request.claims.iter().zip(amounts).map(|(claim, amount)| {
        let mut claim = NodeClaim::clone(claim);
        if *amount > 0 {
            claim.requests.set(efa(), *amount);
        }
        Arc::new(claim)
    });
    request.claims = claims.collect();
    request
}

/// A scene that has the dear type alone.
async fn scene() -> Scene {
    let scene = Scene::new().await;
    let pool = CapacityPool::new("m5.large", "us-east-1a", OnDemand);
    scene.cloud.with(|world| world.set_stock(pool, 0));
    scene
}

/// Interfaces of the templates that were made, each as `card device kind`, by template.
fn interfaces(scene: &Scene) -> Vec<Vec<String>> {
    let calls = scene.cloud.calls().into_iter();
    let made = calls.filter(|call| call.operation == "CreateLaunchTemplate");
    let listed = made.map(|call| {
        let listed = call.input["LaunchTemplateData"]["NetworkInterface"].clone();
        let each = listed.as_array().into_iter().flatten().map(|own| {
            assert_eq!(own["SecurityGroupId"].as_array().map(Vec::len), Some(1));
            let text = |key: &str| own[key].as_str().unwrap_or("-").to_owned();
            let (card, device) = (text("NetworkCardIndex"), text("DeviceIndex"));
            format!("{card} {device} {}", text("InterfaceType"))
        });
        each.collect::<Vec<String>>()
    });
    let mut listed: Vec<Vec<String>> = listed.collect();
    listed.sort();
    listed
}

/// EFA interfaces that the instance of a claim has to give.
fn given(claim: &ClaimLaunch) -> (i64, i64) {
    let ClaimLaunch::Instance(machine) = claim else {
        unreachable!("{claim:?}")
    };
    let amount = |amounts: &plimsoll_base::resources::Resources| amounts.get(&efa());
    (amount(&machine.capacity), amount(&machine.allocatable))
}

#[tokio::test]
async fn a_claim_that_asks_for_efa_gets_an_interface_on_each_card_that_has_it() {
    let scene = scene().await;
    let launched = claims(scene.launch(&asking(&[2])).await);
    let expected = [vec!["- 0 -"], vec!["0 0 efa", "1 1 efa"]];
    assert_eq!(interfaces(&scene), expected, "m5.large has none");
    assert_eq!(given(&launched[0]), (2, 2));
    // The launch read back, and the instance, say the same.
    assert_eq!(given(&scene.find(&asking(&[2])).await[0]), (2, 2));
    let instance = scene.first();
    let Outcome::Done(Answer::Instance(machine)) =
        scene.ec2.call(&CloudCall::Get { instance }).await
    else {
        unreachable!("an instance")
    };
    assert_eq!(machine.capacity.get(&efa()), 2);
}

#[tokio::test]
async fn a_claim_that_does_not_ask_for_efa_gets_none_and_its_node_has_none() {
    let scene = scene().await;
    let launched = claims(scene.launch(&asking(&[0])).await);
    assert!(
        interfaces(&scene).iter().all(|own| own == &["- 0 -"]),
        "{:?}",
        interfaces(&scene)
    );
    assert_eq!(given(&launched[0]), (0, 0));
    assert_eq!(given(&scene.find(&asking(&[0])).await[0]), (0, 0));
}

#[tokio::test]
async fn one_claim_that_asks_for_efa_decides_for_all_of_its_launch() {
    let scene = scene().await;
    let launched = claims(scene.launch(&asking(&[0, 1])).await);
    assert_eq!(launched.iter().map(given).collect::<Vec<_>>(), [(2, 2); 2]);
}

#[tokio::test]
async fn interfaces_that_a_class_lists_are_the_ones_that_its_nodes_get() {
    let scene = scene().await;
    let entry = |card: u32, device: u32, kind: &str| json!({"networkCardIndex": card, "deviceIndex": device, "interfaceType": kind});
    let listed = json!([entry(0, 0, "interface"), entry(1, 1, "efa-only")]);
    scene
        .serve(&json!({
            "networkInterfaces": listed, "associatePublicIPAddress": false,
            "connectionTracking": {"tcpEstablishedTimeout": 600, "udpStreamTimeout": 120, "udpTimeout": 30},
        }))
        .await;
    let mut request = asking(&[1]);
    request.options.truncate(1);
    let launched = claims(scene.launch(&request).await);
    assert_eq!(interfaces(&scene), [["0 0 interface", "1 1 efa-only"]]);
    assert_eq!(given(&launched[0]), (1, 1));
    let calls = scene.cloud.calls().into_iter();
    let mut made = calls.filter(|call| call.operation == "CreateLaunchTemplate");
    let made = made.next().expect("a template").input;
    let own = &made["LaunchTemplateData"]["NetworkInterface"];
    let tracking =
        json!({"TcpEstablishedTimeout": "600", "UdpStreamTimeout": "120", "UdpTimeout": "30"});
    for (number, public, tracked) in [(0, json!("false"), tracking), (1, Value::Null, Value::Null)]
    {
        assert_eq!(own[number]["AssociatePublicIpAddress"], public);
        assert_eq!(own[number]["ConnectionTrackingSpecification"], tracked);
    }
}
