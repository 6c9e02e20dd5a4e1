//! Claims and nodes of older releases get the label of their node class.

use std::sync::Arc;

use plimsoll_base::labels::Labels;
use plimsoll_model::action::{Purpose, Request, Write};
use plimsoll_model::{Node, NodeClaim};
use plimsoll_oracles::fixture::node;

use super::{Scene, second};

const CLASS: &str = "karpenter.k8s.aws/ec2nodeclass";

/// Labels that are to be written on the claim and on its node.
fn labelled(of_claim: Option<&str>, of_node: Option<&str>, is_leaving: bool) -> [Labels; 2] {
    let set = |labels: &mut Labels, value: Option<&str>| match value {
        Some(value) => {
            labels.insert(CLASS.into(), value.into());
        }
        None => {
            labels.remove(CLASS);
        }
    };
    let mut scene = Scene::of(node("n1").managed("general"), []).claim(|claim: &mut NodeClaim| {
        set(&mut claim.labels, of_claim);
        claim.deleting = is_leaving.then(|| second(1));
    });
    let own = scene.node.as_mut().expect("it has joined");
    let own: &mut Node = Arc::make_mut(own);
    set(&mut own.labels, of_node);
    own.deleting = is_leaving.then(|| second(1));
    let wants = scene.step().wants;
    let written = |purpose: Purpose| {
        let mut wants = wants.iter();
        let want = wants.find(|want| want.purpose == purpose);
        match want.map(|want| &want.request) {
            Some(Request::Write(Write::ChangeClaim(_, change))) => change.labels.clone(),
            Some(Request::Write(Write::ChangeNode(_, change))) => change.labels.clone(),
            _ => Labels::new(),
        }
    };
    [written(Purpose::Hydrate), written(Purpose::HydrateNode)]
}

#[test]
fn the_label_of_the_class_is_put_where_it_is_missing_and_never_changed() {
    let label = Labels::from([(CLASS.into(), "default".into())]);
    let none = Labels::new();
    assert_eq!(labelled(None, None, false), [label.clone(), label.clone()]);
    assert_eq!(
        labelled(Some("default"), None, false),
        [none.clone(), label]
    );
    assert_eq!(
        labelled(Some("other"), Some("other"), false),
        [none.clone(), none.clone()]
    );
    assert_eq!(labelled(None, None, true), [none.clone(), none]);
}
