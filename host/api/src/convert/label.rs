//! Keys of labels as objects spell them. What Kubernetes renamed is one key in the core; what drivers of volumes call the zone is
//! translated here, on pods, pools and volumes alike.

use plimsoll_base::labels::{LabelKey, ZONE};

/// Keys under which drivers of volumes name the zone.
const ZONES_OF_DRIVERS: [&str; 1] = ["topology.ebs.csi.aws.com/zone"];

/// The key that a spelling stands for.
pub(super) fn label_key(written: &str) -> LabelKey {
    LabelKey::from(if ZONES_OF_DRIVERS.contains(&written) {
        ZONE
    } else {
        written
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_zone_of_a_driver_is_the_zone() {
        let key = |written: &str| label_key(written).as_str().to_owned();
        assert_eq!(key("topology.ebs.csi.aws.com/zone"), ZONE);
        assert_eq!(key("failure-domain.beta.kubernetes.io/zone"), ZONE);
        assert_eq!(
            key("topology.example.com/zone"),
            "topology.example.com/zone"
        );
    }
}
