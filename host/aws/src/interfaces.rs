//! Network interfaces that a class lists, and the types that have a place for them.

use plimsoll_api::kinds::NetworkInterface;
use plimsoll_ec2_facts::InstanceType;

/// The kind of those that have no address.
pub(crate) const EFA_ONLY: &str = "efa-only";

/// `true` for a type that has a place for each of these interfaces: a card, a device of the card, and EFA for those that need it.
pub(crate) fn have_place(listed: &[NetworkInterface], facts: &InstanceType) -> bool {
    let Some(limits) = facts.network.as_ref().filter(|_| !listed.is_empty()) else {
        return listed.is_empty();
    };
    let has_place = |own: &NetworkInterface| {
        let card = usize::try_from(own.network_card_index).ok();
        let devices = card.and_then(|card| limits.interfaces_per_card.get(card));
        let device = u32::try_from(own.device_index).ok();
        devices
            .zip(device)
            .is_some_and(|(devices, device)| device < *devices)
    };
    let efa = listed.iter().filter(|own| own.interface_type == EFA_ONLY);
    let most = facts.efa_interfaces.unwrap_or(0);
    listed.iter().all(has_place) && efa.count() <= usize::try_from(most).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_has_a_place_for_interfaces_on_its_cards_and_for_efa_where_it_has_it() {
        let plain = (0, 0, "interface");
        // c6in.32xlarge: two cards with eight devices each, two with EFA.
        for (listed, small, large) in [
            (&[][..], true, true),
            (&[plain][..], true, true),
            (&[plain, (0, 1, "interface")][..], true, true),
            (&[plain, (0, 1, EFA_ONLY)][..], false, true),
            (&[plain, (1, 1, "interface")][..], false, true),
            (&[plain, (1, 8, "interface")][..], false, false),
            (&[plain, (2, 0, "interface")][..], false, false),
        ] {
            let interface = |(card, device, kind): &(i32, i32, &str)| NetworkInterface {
                network_card_index: *card,
                device_index: *device,
                interface_type: (*kind).to_owned(),
            };
            let interfaces: Vec<NetworkInterface> = listed.iter().map(interface).collect();
            for (name, expected) in [("m5.large", small), ("c6in.32xlarge", large)] {
                let facts = plimsoll_ec2_facts::instance_type(name).expect("a type");
                assert_eq!(
                    have_place(&interfaces, facts),
                    expected,
                    "{name}: {listed:?}"
                );
            }
        }
    }
}
