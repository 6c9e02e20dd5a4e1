//! Features that a pod needs its node to declare, as kube-scheduler v1.36.3 infers them.

use plimsoll_api::{Interner, Kind, Object, read};
use serde_json::{Value, json};

/// Features of a pod, which reads back the same from what is written of it.
fn features(spec: &Value) -> Vec<String> {
    let mut interner = Interner::default();
    let mut once = |object: &Value| {
        let read = read(Kind::Pod, object, &mut interner, &mut |_| {}).expect("it can be read");
        let (_, Object::Whole(plimsoll_model::Object::Pod(pod))) = read else {
            unreachable!("a pod");
        };
        pod
    };
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod", "spec": spec,
        "metadata": {"name": "a", "creationTimestamp": "2026-01-01T00:00:00Z"},
    });
    let known = once(&pod);
    let written = Object::Whole(plimsoll_model::Object::Pod(known.clone())).to_value();
    assert_eq!(once(&written).spec.features, known.spec.features);
    known
        .spec
        .features
        .iter()
        .map(ToString::to_string)
        .collect()
}

#[test]
fn a_rule_that_restarts_all_containers_needs_its_feature() {
    let rules =
        |action: &str| json!([{"action": action, "exitCodes": {"operator": "In", "values": [1]}}]);
    let main = |action: &str| json!({"name": "main", "restartPolicyRules": rules(action)});
    let all = ["RestartAllContainersOnContainerExits"];
    assert_eq!(
        features(&json!({"containers": [main("RestartAllContainers")]})),
        all
    );
    assert!(features(&json!({"containers": [main("Restart")]})).is_empty());
    let init = json!({
        "initContainers": [main("RestartAllContainers")], "containers": [{"name": "m"}],
    });
    assert_eq!(features(&init), all);
}

#[test]
fn users_of_its_own_on_the_hosts_network_need_a_feature() {
    let of = |network: bool, users: Value| {
        features(
            &json!({"hostNetwork": network, "hostUsers": users, "containers": [{"name": "m"}]}),
        )
    };
    assert_eq!(of(true, json!(false)), ["UserNamespacesHostNetworkSupport"]);
    for (network, users) in [
        (true, json!(true)),
        (true, Value::Null),
        (false, json!(false)),
    ] {
        assert!(of(network, users).is_empty());
    }
}
