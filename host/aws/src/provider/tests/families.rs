//! Classes of the families that join in a way of their own, from the alias to the launch template.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use plimsoll_cloud::Image;

use super::*;

/// A cloud with images of these names, architectures and parameters.
fn world(images: &[(&str, &str, &str)]) -> World {
    let mut world = World::demo("demo");
    for (number, (name, architecture, parameter)) in images.iter().enumerate() {
        let id = format!("ami-{:017x}", number + 0x100);
        world.parameters.insert((*parameter).to_owned(), id.clone());
        world.images.push(Image {
            id,
            name: (*name).to_owned(),
            architecture: (*architecture).to_owned(),
            created: "2026-06-01T00:00:00.000Z".to_owned(),
            deprecated: None,
            owner: "amazon".to_owned(),
            tags: [].into(),
        });
    }
    world
}

fn bottlerocket() -> World {
    let folder = "/aws/service/bottlerocket/aws-k8s-1.36";
    let parameter = |path: &str| format!("{folder}{path}/image_id");
    world(&[
        (
            "bottlerocket-aws-k8s-1.36-x86_64-v1.50.0-aa",
            "x86_64",
            &parameter("/x86_64/latest"),
        ),
        (
            "bottlerocket-aws-k8s-1.36-aarch64-v1.50.0-aa",
            "arm64",
            &parameter("/arm64/latest"),
        ),
        (
            "bottlerocket-aws-k8s-1.36-nvidia-x86_64-v1.50.0-aa",
            "x86_64",
            &parameter("-nvidia/x86_64/latest"),
        ),
        (
            "bottlerocket-aws-k8s-1.36-x86_64-v1.45.0-aa",
            "x86_64",
            &parameter("/x86_64/1.45.0"),
        ),
    ])
}

/// A condition of a class as `status reason message`.
fn condition(reconciled: &Reconciled, kind: &str) -> String {
    let mut conditions = reconciled.status.conditions.iter();
    let own = conditions.find(|own| own.kind == kind);
    own.map(|own| format!("{} {} {}", own.status, own.reason, own.message))
        .unwrap_or_default()
}

/// Content of the template that a class with these fields is launched by, and its user data.
async fn content(scene: &Scene, spec: &Value) -> (Value, String) {
    scene.serve(spec).await;
    let launched = scene.launch(&two(OnDemand)).await;
    assert_eq!(claims(launched).len(), 2);
    let mut calls = scene.cloud.calls().into_iter();
    let found = calls.find(|call| call.operation == "CreateLaunchTemplate");
    let mut input = found.expect("a template").input;
    let data = input["LaunchTemplateData"].take();
    let encoded = data["UserData"].as_str().expect("user data");
    let bytes = STANDARD.decode(encoded).expect("base64");
    let text = String::from_utf8(bytes).expect("text");
    (data, text)
}

#[tokio::test]
async fn bottlerocket_is_found_by_alias_and_launched_with_two_disks_and_its_settings() {
    let spec = json!({
        "amiSelectorTerms": [{"alias": "bottlerocket@latest"}], "instanceStorePolicy": "RAID0",
        "userData": "[settings.kubernetes]\nallowed-unsafe-sysctls = ['net.core.somaxconn']\n",
    });
    let scene = Scene::on(bottlerocket()).await;
    let found = scene.reconciled(&class(&spec)).await;
    assert!(
        condition(&found, "AMIsReady").starts_with("True"),
        "{found:?}"
    );
    assert!(
        condition(&found, "ValidationSucceeded").starts_with("True"),
        "{found:?}"
    );
    // The image without drivers fits two kinds of types of the first architecture.
    assert_eq!(found.status.amis.len(), 4);
    let (data, text) = content(&scene, &spec).await;
    let disks = data["BlockDeviceMapping"].as_array().expect("disks");
    let disks: Vec<_> = disks
        .iter()
        .map(|disk| {
            (
                disk["DeviceName"].clone(),
                disk["Ebs"]["VolumeSize"].clone(),
            )
        })
        .collect();
    assert_eq!(
        disks,
        [
            (json!("/dev/xvda"), json!("6")),
            (json!("/dev/xvdb"), json!("20"))
        ]
    );
    let document: toml::Table = text.parse().expect("TOML");
    let document = serde_json::to_value(document).expect("plain values");
    let kubernetes = &document["settings"]["kubernetes"];
    assert_eq!(kubernetes["cluster-name"], "demo");
    assert_eq!(kubernetes["cluster-dns-ip"], "10.100.0.10");
    assert_eq!(kubernetes["max-pods"], 29);
    assert_eq!(kubernetes["kube-reserved"]["memory"], "574Mi");
    assert_eq!(
        kubernetes["allowed-unsafe-sysctls"],
        json!(["net.core.somaxconn"])
    );
    assert_eq!(
        kubernetes["node-labels"]["karpenter.sh/do-not-sync-taints"],
        "true"
    );
    assert_eq!(
        kubernetes["node-taints"]["dedicated"],
        json!(["web:NoSchedule"])
    );
    assert_eq!(
        kubernetes["node-taints"]["karpenter.sh/unregistered"],
        json!([":NoExecute"])
    );
    let commands = &document["settings"]["bootstrap-commands"]["000-mount-instance-storage"];
    assert_eq!(
        commands["commands"][1],
        json!(["apiclient", "ephemeral-storage", "bind"])
    );
}

#[tokio::test]
async fn an_image_of_an_older_bottlerocket_is_given_the_folders_of_its_local_disks() {
    let scene = Scene::on(bottlerocket()).await;
    let spec = json!({
        "amiFamily": "Bottlerocket", "amiSelectorTerms": [{"id": format!("ami-{:017x}", 0x103)}],
        "instanceStorePolicy": "RAID0",
    });
    let (_, text) = content(&scene, &spec).await;
    assert!(text.contains("--dirs"), "{text}");
}

#[tokio::test]
async fn user_data_of_bottlerocket_that_would_lose_a_setting_is_the_classs_condition() {
    let scene = Scene::on(bottlerocket()).await;
    let spec = json!({
        "amiSelectorTerms": [{"alias": "bottlerocket@latest"}],
        "userData": "[settings.kubernetes.node-taints]\nmine = ['x:NoSchedule']\n",
    });
    scene.serve(&spec).await;
    let served = scene.ec2.class("default").expect("a class");
    let tried = scene.ec2.try_out(&served).await.expect("an answer");
    let refusal = tried.expect_err("a refusal");
    assert_eq!(refusal.reason, "UserDataInvalid");
    assert!(
        refusal
            .message
            .starts_with("spec.userData: settings.kubernetes.node-taints has \"mine\"; "),
        "{refusal:?}"
    );
    let refused = scene.launch(&two(OnDemand)).await;
    assert!(
        matches!(&refused, Outcome::Refused(Reason::ClassNotReady(_))),
        "{refused:?}"
    );
    assert!(scene.instances().is_empty());
}

#[tokio::test]
async fn settings_that_bottlerocket_cannot_be_given_leave_the_class_unready() {
    let scene = Scene::on(bottlerocket()).await;
    let spec = json!({
        "amiSelectorTerms": [{"alias": "bottlerocket@latest"}], "kubelet": {"podsPerCore": 4},
    });
    let found = scene.reconciled(&class(&spec)).await;
    let told = condition(&found, "ValidationSucceeded");
    assert!(
        told.starts_with("False UnsupportedKubeletConfiguration spec.kubelet.podsPerCore cannot be passed on by family Bottlerocket; expected one of "),
        "{told}"
    );
}

#[tokio::test]
async fn al2_is_launched_by_its_script_and_its_alias_ends_with_kubernetes_1_32() {
    let folder = "/aws/service/eks/optimized-ami/1.32/amazon-linux-2/recommended/image_id";
    let world = world(&[("amazon-eks-node-1.32-v20250403", "x86_64", folder)]);
    let scene = Scene::on(world).await;
    let spec = json!({"amiSelectorTerms": [{"alias": "al2@latest"}], "userData": "echo hi"});
    let told = condition(&scene.reconciled(&class(&spec)).await, "AMIsReady");
    assert_eq!(
        told,
        "False UnsupportedAlias spec.amiSelectorTerms: alias \"al2@latest\" on Kubernetes 1.36; images of AL2 end with 1.32, expected an alias of family al2023 or bottlerocket"
    );
    let before = ClusterAccess {
        kubernetes: "1.32".to_owned(),
        ..ClusterAccess::clone(&scene.ec2.cluster())
    };
    let own = class(&spec);
    let found = look(&own, &before, scene.ec2.clients(), NOW).await;
    assert_eq!(found.status.amis.len(), 1);
    // Images of one's own are launched on any version.
    let spec = json!({
        "amiFamily": "AL2", "userData": "echo hi",
        "amiSelectorTerms": [{"id": format!("ami-{:017x}", 0x100)}],
    });
    let (data, text) = content(&scene, &spec).await;
    let disks = data["BlockDeviceMapping"].as_array().expect("disks");
    assert_eq!(
        (disks.len(), &disks[0]["Ebs"]["VolumeSize"]),
        (1, &json!("20"))
    );
    let (own, generated) = text
        .split_once("/etc/eks/bootstrap.sh 'demo' ")
        .expect("the script");
    assert!(own.contains("\n\necho hi\n"), "{own}");
    for words in [
        "--dns-cluster-ip '10.100.0.10'",
        "--use-max-pods false",
        "karpenter.sh/do-not-sync-taints=true",
        "--register-with-taints=\"dedicated=web:NoSchedule,karpenter.sh/unregistered:NoExecute\" --max-pods=29",
        "--kube-reserved=\"cpu=70m,ephemeral-storage=1Gi,memory=574Mi\"",
    ] {
        assert!(generated.contains(words), "{words}: {generated}");
    }
}
