//! Tags that somebody takes off an instance: what a claim names and the cluster owns is found all the same, tagged again and ended; what is
//! others' is left as it is.

use plimsoll_cloud::Policy;
use plimsoll_model::{NodeClaim, Version};

use super::*;

const CLUSTER: &str = "eks:eks-cluster-name";
const OWNED: &str = "kubernetes.io/cluster/demo";

/// A scene under the policy of the chart, with an instance of a claim that the engine knows, without some of its tags.
async fn without(tags: &[&str]) -> Scene {
    let mut world = World::demo("demo");
    world.policies = Some(vec![policy()]);
    let scene = Scene::on(world).await;
    scene.serve(&json!({})).await;
    let request = sample::request(&["a"], two(OnDemand).options);
    assert_eq!(ids(&claims(scene.launch(&request).await)).len(), 1);
    let claim = NodeClaim {
        provider_id: Some(scene.first()),
        ..(*sample::claim("a", &json!([]))).clone()
    };
    let claim = Object::Claim(Arc::new(claim));
    scene
        .ec2
        .observe(&Input::Applied(claim, Version::default()));
    scene.change(|own| {
        for tag in tags {
            own.tags.remove(*tag);
        }
    });
    scene
}

fn policy() -> Policy {
    permissions::policy()
}

impl Scene {
    fn change(&self, change: impl FnOnce(&mut CloudInstance)) {
        self.cloud.with(|world| {
            let mut instances = world.instances.values_mut();
            change(instances.next().expect("an instance"));
        });
    }

    async fn listed(&self) -> usize {
        match self.ec2.call(&CloudCall::List).await {
            Outcome::Done(Answer::Listed(listed)) => listed.len(),
            other => unreachable!("{other:?}"),
        }
    }

    async fn end(&self) -> Outcome {
        let instance = self.first();
        self.ec2.call(&CloudCall::Terminate { instance }).await
    }

    /// Calls of an operation so far.
    fn count(&self, operation: &str) -> usize {
        let calls = self.cloud.calls().into_iter();
        calls.filter(|call| call.operation == operation).count()
    }
}

#[tokio::test]
async fn an_instance_without_the_clusters_name_is_found_by_its_claim_and_named_again() {
    let scene = without(&[CLUSTER]).await;
    assert_eq!(scene.listed().await, 1);
    let tags = scene.instances().remove(0).tags;
    assert_eq!(tags.get(CLUSTER).map(String::as_str), Some("demo"));
    assert_eq!(scene.listed().await, 1);
    assert_eq!(scene.count("CreateTags"), 1);
}

#[tokio::test]
async fn an_instance_without_the_clusters_name_is_ended_for_its_claim() {
    let scene = without(&[CLUSTER]).await;
    assert_eq!(scene.end().await, Outcome::Done(Answer::Ending));
}

#[tokio::test]
async fn a_launch_is_read_back_although_its_instance_has_lost_the_clusters_name() {
    let scene = without(&[CLUSTER]).await;
    let request = sample::request(&["a"], two(OnDemand).options);
    assert_eq!(ids(&scene.find(&request).await).len(), 1);
}

#[tokio::test]
async fn an_instance_that_lacks_the_tag_of_its_class_is_still_its_claims() {
    let scene = without(&["karpenter.k8s.aws/ec2nodeclass"]).await;
    assert_eq!(scene.listed().await, 1);
    assert_eq!(
        scene.count("CreateTags"),
        0,
        "the policy allows no such tag"
    );
    assert_eq!(scene.end().await, Outcome::Done(Answer::Ending));
}

#[tokio::test]
async fn an_instance_that_nothing_says_is_the_clusters_is_left_as_it_is() {
    for (lost, other) in [(&[CLUSTER, OWNED][..], None), (&[][..], Some("other"))] {
        let scene = without(lost).await;
        scene.change(|own| {
            let other = other.map(|other: &str| (CLUSTER.to_owned(), other.to_owned()));
            own.tags.extend(other);
        });
        let before = scene.instances().remove(0).tags;
        assert_eq!(scene.listed().await, 0);
        let Outcome::Refused(Reason::Other(words)) = scene.end().await else {
            unreachable!("a refusal")
        };
        assert!(words.contains("it is left as it is"), "{words}");
        let tag = CloudCall::Tag {
            instance: scene.first(),
            claim: "a".into(),
            node: "node-1".into(),
        };
        assert_eq!(scene.ec2.call(&tag).await, Outcome::Done(Answer::Nothing));
        assert_eq!(scene.instances().remove(0).tags, before);
        assert_eq!(scene.count("TerminateInstances"), 0);
    }
}

#[tokio::test]
async fn an_instance_that_no_claim_names_is_ended_only_with_all_tags_of_the_cluster() {
    for tag in [
        CLUSTER,
        "karpenter.sh/nodepool",
        "karpenter.k8s.aws/ec2nodeclass",
    ] {
        let scene = Scene::new().await;
        let request = sample::request(&["a"], two(OnDemand).options);
        scene.launch(&request).await;
        scene.change(|own| drop(own.tags.remove(tag)));
        assert_eq!(scene.listed().await, 0);
        let Outcome::Refused(Reason::Other(words)) = scene.end().await else {
            unreachable!("a refusal: {tag}")
        };
        assert!(words.contains(&format!("is not tagged {tag}")), "{words}");
    }
}
