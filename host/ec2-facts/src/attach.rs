//! EBS volumes for pods that the nodes of a type can attach: what the driver `ebs.csi.aws.com` reports on a node, at most.
//!
//! The driver's own limits, by name of the type (`tables/attach-limits.tsv`; no rule by family and size gives them), and its own count
//! (`getVolumesLimit` of v1.63.1 and v1.64.0): the volumes that a node boots with take slots; on types whose slots volumes share with network
//! interfaces, each interface beside the first takes one; one slot is always left. A type that it does not know shares 27.
//!
//! Of network interfaces all that the first card can have are taken as attached, since addresses for pods are attached as
//! pods come; the driver counts those that are there when it starts. So the number here is never above the driver's.

use std::sync::OnceLock;

use crate::allocatable::{AllocatableSettings, ImageFamily};
use crate::instance_type::InstanceType;
use crate::table::{Row, Table, TableError};

/// The CSI driver whose volumes are counted.
pub const EBS_DRIVER: &str = "ebs.csi.aws.com";

const TABLE: Table = Table {
    name: "attach-limits",
    text: include_str!("../tables/attach-limits.tsv"),
};

/// Slots for volumes, those of the node itself among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Limit {
    volumes: u32,
    /// `true` where network interfaces beside the first take slots, too.
    is_shared: bool,
}

/// The limit of types that the driver does not know.
const OTHERS: Limit = Limit {
    volumes: 27,
    is_shared: true,
};

impl InstanceType {
    /// Volumes for pods that a node can attach, 1 at least; `None` where slots are shared and the sources do not tell its network interfaces.
    pub fn attach_slots(&self, settings: &AllocatableSettings) -> Option<u32> {
        let own = settings.node_volumes.unwrap_or(match settings.family {
            ImageFamily::Bottlerocket => 2,
            ImageFamily::Al2 | ImageFamily::Al2023 | ImageFamily::Custom => 1,
        });
        let limit = limit(self.name);
        let interfaces = if limit.is_shared {
            let most = self.network.as_ref()?.default_card_interfaces();
            most.saturating_sub(1)
        } else {
            0
        };
        Some(limit.volumes.saturating_sub(own + interfaces).max(1))
    }
}

/// The driver's limit of a type.
fn limit(name: &str) -> Limit {
    static LIMITS: OnceLock<Vec<(&'static str, Limit)>> = OnceLock::new();
    let limits = LIMITS.get_or_init(|| {
        read(TABLE).expect("the compiled-in table was read in full by this crate's tests")
    });
    let found = limits.binary_search_by(|(own, _)| (*own).cmp(name));
    found.map_or(OTHERS, |at| limits[at].1)
}

fn read(table: Table) -> Result<Vec<(&'static str, Limit)>, TableError> {
    let mut limits: Vec<(&'static str, Limit)> = Vec::new();
    for mut row in table.rows() {
        let name = row.text("name")?;
        if limits.last().is_some_and(|(last, _)| *last >= name) {
            return Err(row.wrong("name", name, "a name after that of the row before"));
        }
        limits.push((name, read_limit(&mut row)?));
        row.end()?;
    }
    Ok(limits)
}

fn read_limit(row: &mut Row) -> Result<Limit, TableError> {
    Ok(Limit {
        volumes: row.value("volumes")?,
        is_shared: match row.text("attachment")? {
            "shared" => true,
            "dedicated" => false,
            other => return Err(row.wrong("attachment", other, "shared or dedicated")),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instance_type::{instance_type, instance_types};

    fn slots(name: &str) -> u32 {
        let facts = instance_type(name).unwrap();
        facts.attach_slots(&AllocatableSettings::default()).unwrap()
    }

    #[test]
    fn slots_are_the_drivers_by_name_less_the_root_volume() {
        for (name, expected) in [
            // No rule by size: the same of every size, half of what a sibling of the size has.
            ("hpc7a.12xlarge", 26),
            ("hpc7a.96xlarge", 26),
            ("p5.48xlarge", 63),
            ("m7i.48xlarge", 127),
            ("c8i.48xlarge", 127),
            ("m8i.24xlarge", 63),
            ("m7i.large", 31),
            ("r7iz.32xlarge", 87),
            ("m7i.metal-24xl", 38),
            // EC2's interface says that it shares slots; the driver knows better.
            ("m8a.metal-48xl", 78),
            ("u7in-16tb.224xlarge", 127),
            // On Xen.
            ("m4.large", 38),
        ] {
            assert_eq!(slots(name), expected, "{name}");
        }
    }

    #[test]
    fn shared_slots_are_less_by_the_network_interfaces_beside_the_first() {
        // 27 that are not in the table: 3 interfaces, 15.
        assert_eq!((slots("m5.large"), slots("m5.24xlarge")), (24, 12));
        // The driver takes one off for a local disk, another one for the GPU.
        assert_eq!((slots("m5d.large"), slots("g4dn.xlarge")), (23, 22));
        assert_eq!((slots("d3.8xlarge"), slots("g5.48xlarge")), (1, 2));
        assert_eq!(slots("inf1.24xlarge"), 1, "one slot is always left");
    }

    #[test]
    fn volumes_that_a_node_boots_with_take_slots() {
        let facts = instance_type("m7i.large").unwrap();
        let bottlerocket = AllocatableSettings {
            family: ImageFamily::Bottlerocket,
            ..AllocatableSettings::default()
        };
        let three = AllocatableSettings {
            node_volumes: Some(3),
            ..AllocatableSettings::default()
        };
        assert_eq!(facts.attach_slots(&bottlerocket), Some(30));
        assert_eq!(facts.attach_slots(&three), Some(29));
    }

    #[test]
    fn every_type_has_slots_but_those_that_share_with_interfaces_nobody_tells_of() {
        for facts in instance_types() {
            let slots = facts.attach_slots(&AllocatableSettings::default());
            let told = facts.network.is_some() || !limit(facts.name).is_shared;
            assert_eq!(slots.is_some(), told, "{}", facts.name);
            assert!(slots.is_none_or(|slots| (1..=127).contains(&slots)));
        }
    }

    #[test]
    fn a_type_that_the_driver_does_not_know_shares_27() {
        let known = instance_type("m7i.large").unwrap();
        let unknown = InstanceType {
            name: "z9.large",
            ..known.clone()
        };
        assert_eq!(
            unknown.attach_slots(&AllocatableSettings::default()),
            Some(24)
        );
    }
}
