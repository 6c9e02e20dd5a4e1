//! Demands of a class on instance types, beside an image for them: a type that does not meet them is known and cannot be had.

use plimsoll_api::kinds::{Ec2NodeClassSpec, NetworkInterface};
use plimsoll_ec2_facts::InstanceType;
use plimsoll_ec2_facts::instance_type::Hypervisor;

use crate::class::family::Family;
use crate::interfaces::have_place;

/// Begin of the names of types whose processors are too old for AL2023.
const TOO_OLD_FOR_AL2023: &str = "a1.";

/// Demands of a class.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Demands<'c> {
    family: Family,
    interfaces: &'c [NetworkInterface],
    /// `true` if it says how long security groups remember connections, which only Nitro does.
    tracks_connections: bool,
    /// `true` if its instances have to run virtual machines of their own.
    nests_virtual_machines: bool,
}

impl<'c> Demands<'c> {
    /// Those of a class of a family.
    pub(crate) fn of(spec: &'c Ec2NodeClassSpec, family: Family) -> Self {
        let options = spec.cpu_options.as_ref();
        let nested = options.and_then(|own| own.nested_virtualization.as_deref());
        Self {
            family,
            interfaces: spec.network_interfaces.as_deref().unwrap_or_default(),
            tracks_connections: spec.connection_tracking.is_some(),
            nests_virtual_machines: nested == Some("enabled"),
        }
    }

    /// `true` for a type that meets them. One whose hardware is not known meets those that do not concern it.
    pub(crate) fn are_met_by(self, name: &str, facts: Option<&InstanceType>) -> bool {
        if self.family == Family::Al2023 && name.starts_with(TOO_OLD_FOR_AL2023) {
            return false;
        }
        let has_place = || facts.is_some_and(|facts| have_place(self.interfaces, facts));
        let is_nitro = || facts.is_some_and(|own| own.hypervisor == Some(Hypervisor::Nitro));
        let can_nest = || facts.is_some_and(|own| own.nested_virtualization);
        (self.interfaces.is_empty() || has_place())
            && (!self.tracks_connections || is_nitro())
            && (!self.nests_virtual_machines || can_nest())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn types_meet_what_a_class_demands_of_their_hardware() {
        let tracks = json!({"connectionTracking": {"udpTimeout": 30}});
        let interface = |device: u32| {
            let own =
                json!({"networkCardIndex": 0, "deviceIndex": device, "interfaceType": "interface"});
            json!({"networkInterfaces": [own]})
        };
        let nests = |own: &str| json!({"cpuOptions": {"nestedVirtualization": own}});
        for (spec, family, name, expected) in [
            (json!({}), Family::Al2023, "a1.large", false),
            (json!({}), Family::Custom, "a1.large", true),
            (json!({}), Family::Al2023, "m6g.large", true),
            (json!({}), Family::Al2023, "unheard.large", true),
            (tracks.clone(), Family::Al2023, "m5.large", true),
            // Xen, and none at all.
            (tracks.clone(), Family::Al2023, "m4.large", false),
            (tracks.clone(), Family::Al2023, "m5.metal", false),
            (tracks, Family::Al2023, "unheard.large", false),
            (nests("enabled"), Family::Al2023, "m8i-flex.large", true),
            (nests("enabled"), Family::Al2023, "m7i.large", false),
            (nests("enabled"), Family::Al2023, "m8i.metal-48xl", false),
            (nests("enabled"), Family::Al2023, "unheard.large", false),
            (nests("disabled"), Family::Al2023, "m7i.large", true),
            (interface(0), Family::Al2023, "m5.large", true),
            (interface(7), Family::Al2023, "m5.large", false),
            (interface(0), Family::Al2023, "unheard.large", false),
        ] {
            let told = format!("{spec} {name}");
            let spec = serde_json::from_value(spec).expect("a spec");
            let facts = plimsoll_ec2_facts::instance_type(name);
            let met = Demands::of(&spec, family).are_met_by(name, facts);
            assert_eq!(met, expected, "{told}");
        }
    }
}
