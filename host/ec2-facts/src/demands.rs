//! Demands of a class on the hardware of its instances. A type that does not meet them cannot be had.

use serde_json::Value;

use crate::instance_type::{Hypervisor, InstanceType};

/// Demands of a class; none by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Demands {
    /// The network interfaces that it lists.
    interfaces: Vec<Interface>,
    /// `true` if it says how long security groups remember connections, which only Nitro does.
    tracks_connections: bool,
    /// `true` if its instances have to run virtual machines of their own.
    nests_virtual_machines: bool,
    /// `true` if its instances may run enclaves.
    runs_enclaves: bool,
}

/// A network interface of every instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Interface {
    card: usize,
    device: u32,
    /// `true` for one without an address, which takes a place of EFA.
    is_efa_only: bool,
}

impl Demands {
    /// Those of the specification of an EC2NodeClass.
    pub(crate) fn of(spec: &Value) -> Self {
        let interfaces = spec.get("networkInterfaces").and_then(Value::as_array);
        let interfaces = interfaces.into_iter().flatten().map(interface);
        let nested = spec.pointer("/cpuOptions/nestedVirtualization");
        let enclaves = spec.pointer("/enclaveOptions/enabled");
        let tracking = spec.get("connectionTracking");
        Self {
            interfaces: interfaces.collect(),
            tracks_connections: tracking.is_some_and(|own| !own.is_null()),
            nests_virtual_machines: nested.and_then(Value::as_str) == Some("enabled"),
            runs_enclaves: enclaves == Some(&Value::Bool(true)),
        }
    }

    /// `true` for a type that meets them.
    pub(crate) fn are_met_by(&self, facts: &InstanceType) -> bool {
        (self.interfaces.is_empty() || self.have_place(facts))
            && (!self.tracks_connections || facts.hypervisor == Some(Hypervisor::Nitro))
            && (!self.nests_virtual_machines || facts.nested_virtualization)
            && (!self.runs_enclaves || facts.enclaves)
    }

    /// `true` for a type that has a place for each interface: a card, a device of the card, and EFA for those that need it.
    fn have_place(&self, facts: &InstanceType) -> bool {
        let Some(limits) = &facts.network else {
            return false;
        };
        let has_place = |own: &Interface| {
            let devices = limits.interfaces_per_card.get(own.card);
            devices.is_some_and(|devices| own.device < *devices)
        };
        let efa = self.interfaces.iter().filter(|own| own.is_efa_only).count();
        let most = facts.efa_interfaces.unwrap_or(0);
        self.interfaces.iter().all(has_place) && efa <= usize::try_from(most).unwrap_or(usize::MAX)
    }
}

/// An interface as it is written. A number that is missing or out of range, which validation refuses, has no place anywhere.
fn interface(written: &Value) -> Interface {
    let number = |name: &str| written.get(name).and_then(Value::as_u64);
    let card = number("networkCardIndex").and_then(|card| usize::try_from(card).ok());
    let device = number("deviceIndex").and_then(|device| u32::try_from(device).ok());
    let kind = written.get("interfaceType").and_then(Value::as_str);
    Interface {
        card: card.unwrap_or(usize::MAX),
        device: device.unwrap_or(u32::MAX),
        is_efa_only: kind == Some("efa-only"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::class::settings;
    use crate::instance_type::instance_type;

    fn can_launch(spec: &Value, name: &str) -> bool {
        let class = settings(&json!({"spec": spec})).expect("a class");
        class.can_launch(instance_type(name).expect("a type"))
    }

    #[test]
    fn types_meet_what_a_class_demands_of_their_hardware() {
        let tracks = json!({"connectionTracking": {"udpTimeout": 30}});
        let nests = |own: &str| json!({"cpuOptions": {"nestedVirtualization": own}});
        let enclaves = |enabled: bool| json!({"enclaveOptions": {"enabled": enabled}});
        for (spec, name, expected) in [
            (enclaves(true), "m6i.xlarge", true),
            (enclaves(true), "m6i.large", false),
            (enclaves(true), "m6i.metal", false),
            (enclaves(true), "c7i-flex.xlarge", false),
            (enclaves(false), "m6i.large", true),
            (json!({}), "a1.large", false),
            (json!({"amiFamily": "Custom"}), "a1.large", true),
            (json!({}), "m6g.large", true),
            (tracks.clone(), "m5.large", true),
            // Xen, and none at all.
            (tracks.clone(), "m4.large", false),
            (tracks, "m5.metal", false),
            (nests("enabled"), "m8i-flex.large", true),
            (nests("enabled"), "m7i.large", false),
            (nests("enabled"), "m8i.metal-48xl", false),
            (nests("disabled"), "m7i.large", true),
        ] {
            assert_eq!(can_launch(&spec, name), expected, "{spec} {name}");
        }
    }

    #[test]
    fn a_type_has_a_place_for_interfaces_on_its_cards_and_for_efa_where_it_has_it() {
        let interface = |card: i64, device: i64, kind: &str| json!({"networkCardIndex": card, "deviceIndex": device, "interfaceType": kind});
        let plain = interface(0, 0, "interface");
        // c6in.32xlarge: two cards with eight devices each, two with EFA.
        for (listed, small, large) in [
            (json!([]), true, true),
            (json!([plain]), true, true),
            (json!([{"interfaceType": "interface"}]), false, false),
            (json!([plain, interface(0, 1, "interface")]), true, true),
            (json!([plain, interface(0, 7, "interface")]), false, true),
            (json!([plain, interface(0, 1, "efa-only")]), false, true),
            (json!([plain, interface(1, 1, "interface")]), false, true),
            (json!([plain, interface(1, 8, "interface")]), false, false),
            (json!([plain, interface(2, 0, "interface")]), false, false),
            (json!([plain, interface(-1, 0, "interface")]), false, false),
        ] {
            let spec = json!({"networkInterfaces": listed});
            for (name, expected) in [("m5.large", small), ("c6in.32xlarge", large)] {
                assert_eq!(can_launch(&spec, name), expected, "{name}: {listed}");
            }
        }
    }
}
