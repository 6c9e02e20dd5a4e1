//! Ports of one host that two pods cannot both have, by what the scheduler compares: number, protocol and the text of the address.

use plimsoll_model::HostPort;

/// The one address that stands for all of a host's, IPv6 included. `::` is an address like any other.
const EVERY_ADDRESS: &str = "0.0.0.0";

/// `true` if one of the two keeps the other off a host.
pub(super) fn clash(one: &HostPort, other: &HostPort) -> bool {
    if (one.port, one.protocol) != (other.port, other.protocol) {
        return false;
    }
    let addresses = [&*one.address, &*other.address];
    addresses.contains(&EVERY_ADDRESS) || addresses[0] == addresses[1]
}
