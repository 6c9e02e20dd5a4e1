//! Ports that containers take on their host, by what kind of container asks for them.

use plimsoll_api::{Interner, Kind, Object, read};
use serde_json::{Value, json};

/// Ports of a pod whose specification is given, in the order in which they are known.
fn ports(spec: &Value) -> Vec<(String, u16)> {
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": spec});
    let mut interner = Interner::default();
    let (_, object) = read(Kind::Pod, &pod, &mut interner, &mut |_| {}).expect("it can be read");
    let Object::Whole(plimsoll_model::Object::Pod(pod)) = object else {
        unreachable!("a pod");
    };
    let ports = pod.spec.host_ports.iter();
    ports
        .map(|port| (port.address.to_string(), port.port))
        .collect()
}

#[test]
fn sidecars_take_ports_and_steps_of_the_start_do_not() {
    let container = |name: &str, port: u16| {
        let ports = json!([{"containerPort": port, "hostPort": port}]);
        json!({"name": name, "ports": ports})
    };
    let mut sidecar = container("proxy", 15021);
    sidecar["restartPolicy"] = "Always".into();
    let spec = json!({
        "initContainers": [container("migrate", 9000), sidecar],
        "containers": [container("main", 80)],
    });
    let every = |port| ("0.0.0.0".to_owned(), port);
    assert_eq!(ports(&spec), [every(15021), every(80)]);
}

#[test]
fn on_the_hosts_network_every_port_of_a_sidecar_is_one_of_the_host() {
    let spec = json!({
        "hostNetwork": true,
        "initContainers": [
            {"name": "proxy", "restartPolicy": "Always", "ports": [{"containerPort": 15021}]},
        ],
        "containers": [{"name": "main"}],
    });
    assert_eq!(ports(&spec), [("0.0.0.0".to_owned(), 15021)]);
}

#[test]
fn an_empty_address_is_every_address() {
    let port = |ip: &str| json!([{"containerPort": 80, "hostPort": 80, "hostIP": ip}]);
    let spec = |ip| json!({"containers": [{"name": "main", "ports": port(ip)}]});
    assert_eq!(ports(&spec("")), [("0.0.0.0".to_owned(), 80)]);
    assert_eq!(ports(&spec("::")), [("::".to_owned(), 80)]);
}
