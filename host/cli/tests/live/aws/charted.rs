//! The chart on EC2: the program serves with exactly the arguments, environment and rights that it says, on a cloud that enforces the policy of
//! `charts/aws`.

use plimsoll_charts::{Container, Release, Right, Rights};
use plimsoll_cloud::Policy;
use plimsoll_lab::Proxy;

use super::*;
use crate::charts::installed::{as_account, container, install};

const NAMESPACE: &str = "nodes";
const NAME: &str = "plimsoll";

/// The policy of cluster `lab`.
fn policy() -> Policy {
    let text = include_str!("../../../../../charts/aws/policy.json");
    let filled = [
        ("Partition", "aws"),
        ("Region", "us-east-1"),
        ("AccountID", "111122223333"),
        ("ClusterName", "lab"),
        ("NodeRole", "KarpenterNodeRole-lab"),
        ("QueueName", QUEUE),
    ];
    let filled = filled.iter().fold(text.to_owned(), |text, (name, value)| {
        text.replace(&format!("${{{name}}}"), value)
    });
    Policy::parse(&filled).expect("it is understood")
}

fn release(lab: &Lab) -> Release {
    let [metrics, probes] = lab.spare_ports();
    let values = json!({
        "provider": "aws",
        "replicas": 0,
        "controller": {"metrics": {"port": metrics}, "healthProbe": {"port": probes}},
        "settings": {
            "clusterName": "lab", "clusterEndpoint": "https://lab.example", "clusterCABundle": "LS0t", "interruptionQueue": QUEUE,
        },
        "serviceAccount": {"annotations": {"eks.amazonaws.com/role-arn": "arn:aws:iam::111122223333:role/r"}},
    });
    Release {
        namespace: NAMESPACE,
        ..Release::new("plimsoll", values)
    }
}

/// Runs the program as a kubelet and IRSA would, but for a kubeconfig in place of the account's files, and a key in place of its token.
fn run(lab: &mut Lab, container: &Container, proxy: &Proxy, cloud: &Cloud) {
    let variables = container.environment.iter();
    let variables = variables.map(|(name, value)| format!("{name}={value}"));
    let ours = [
        format!("KUBECONFIG={}", proxy.kubeconfig().display()),
        format!("AWS_ENDPOINT_URL={}", cloud.url()),
        "AWS_REGION=us-east-1".to_owned(),
        "AWS_ACCESS_KEY_ID=key".to_owned(),
        "AWS_SECRET_ACCESS_KEY=secret".to_owned(),
        "AWS_EC2_METADATA_DISABLED=true".to_owned(),
    ];
    let program = program().display().to_string();
    let command = [program].into_iter();
    let command = command.chain(container.command[1..].to_vec());
    let command = command.chain(["--bind-address=127.0.0.1".to_owned()]);
    let words: Vec<String> = ["-i".to_owned()]
        .into_iter()
        .chain(ours)
        .chain(variables)
        .chain(command)
        .collect();
    lab.run(NAME, std::path::Path::new("env"), &words)
        .expect("it starts");
}

/// Holds the requests that came against the rights: each is allowed, and none of those on classes and DNS is left over.
fn judge(release: &Release, proxy: &Proxy) {
    let rendered = release.render().expect("it renders");
    let rights = Rights::of(&rendered, NAMESPACE, NAME);
    let mut calls = proxy.calls();
    // The version of the server is no object, and everybody's to read.
    calls.retain(|call| !call.resource.is_empty());
    let refused: Vec<_> = calls.iter().filter(|call| !rights.allow(call)).collect();
    assert!(
        refused.is_empty(),
        "no right of the chart allows {refused:?}"
    );
    let is_of_aws = |right: &&Right| {
        right.group == "karpenter.k8s.aws" || right.name.as_deref() == Some("kube-dns")
    };
    let of_aws: Vec<&Right> = rights.0.iter().filter(is_of_aws).collect();
    assert_eq!(of_aws.len(), 5);
    let unused = of_aws
        .iter()
        .filter(|right| !calls.iter().any(|call| right.allows(call)));
    let unused: Vec<String> = unused.map(ToString::to_string).collect();
    assert_eq!(unused, [""; 0], "rights that nothing needs");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_serves_with_the_rights_of_the_chart_and_the_policy_of_the_role() {
    let mut lab = Lab::start(Options::default()).await.expect("a lab starts");
    let client = lab.client();
    install(&lab, &Release::new("plimsoll-crd", json!({})), true).await;
    let release = release(&lab);
    let said = install(&lab, &release, false).await;
    assert!(!said.contains("warning:"), "{said}");
    let mut world = World::demo("lab");
    world.policies = Some(vec![policy()]);
    let cloud = Cloud::start(CloudOptions { port: 0, world }).await;
    let cloud = Arc::new(cloud.expect("a cloud starts"));
    for object in [class(), pool("on-demand")] {
        apply(&client, &object).await.expect("applied");
    }
    let nodes = follow(Arc::clone(&cloud), client.clone());
    let container = container(&client).await;
    let proxy = lab.proxy_as(as_account(&lab, &client).await).await;
    let proxy = proxy.expect("a proxy");
    run(&mut lab, &container, &proxy, &cloud);
    let mut scene = Scene {
        lab,
        client,
        cloud,
        _nodes: nodes,
    };
    scene.run_pods(2).await;
    let named = until("the instances to be named", PATIENCE, async || {
        let is_named = |own: &Instance| own.tags.contains_key("Name");
        Ok(scene.alive().iter().all(is_named).then_some(()))
    });
    named.await.expect("named");
    let now = DeleteParams::default().grace_period(0);
    let pods = scene.pods();
    let deleted = pods.delete_collection(&now, &ListParams::default()).await;
    deleted.expect("deleted");
    scene.until_alone().await;
    let classes = scene.classes();
    let ended = classes.delete("default", &DeleteParams::default()).await;
    ended.expect("asked to go");
    let gone = until("the class to go", PATIENCE, async || {
        let class = scene.classes().get_opt("default").await?;
        Ok(class.is_none().then_some(()))
    });
    gone.await.expect("gone");
    judge(&release, &proxy);
    let denied = scene.cloud.calls().into_iter().filter(|call| {
        let code = call.error.as_deref().unwrap_or_default();
        [
            "UnauthorizedOperation",
            "AccessDenied",
            "AccessDeniedException",
        ]
        .contains(&code)
    });
    let denied: Vec<String> = denied.map(|call| call.operation).collect();
    assert_eq!(denied, [""; 0], "calls that the policy does not allow");
    let log = scene.lab.log(NAME);
    assert!(
        !log.contains("forbidden") && !log.contains("no right to"),
        "{log}"
    );
}
