//! Types that there are, their prices, and how many are left.

use plimsoll_base::units::PricePerHour;
use plimsoll_ec2_facts::{InstanceType, SpotModel, instance_type, instance_types, region};
use plimsoll_model::catalogue::CapacityType;

use super::World;

/// Instances of a type in a zone that are paid for in one way.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CapacityPool {
    /// The type.
    pub instance_type: String,
    /// The zone.
    pub zone: String,
    /// How they are paid for.
    pub capacity_type: CapacityType,
}

impl CapacityPool {
    /// The pool of a type in a zone.
    pub fn new(instance_type: &str, zone: &str, capacity_type: CapacityType) -> Self {
        Self {
            instance_type: instance_type.to_owned(),
            zone: zone.to_owned(),
            capacity_type,
        }
    }
}

impl World {
    /// Leaves so many instances in a pool.
    pub fn set_stock(&mut self, pool: CapacityPool, left: u32) {
        self.stock.insert(pool, left);
    }

    /// Types that there are: those of the tables in name order, then others.
    pub fn instance_types(&self) -> impl Iterator<Item = &'static InstanceType> {
        instance_types()
            .iter()
            .chain(self.more_types.iter().copied())
            .filter(|own| self.types.is_empty() || self.types.contains(own.name))
    }

    /// A type by name; `None` if there is none.
    pub fn instance_type(&self, name: &str) -> Option<&'static InstanceType> {
        let is_here = self.types.is_empty() || self.types.contains(name);
        let known = instance_type(name).or_else(|| {
            let mut more = self.more_types.iter().copied();
            more.find(|own| own.name == name)
        });
        known.filter(|_| is_here)
    }

    /// `true` if a zone has a type.
    pub fn is_offered(&self, name: &str, zone: &str) -> bool {
        let is_zone = self.zones.iter().any(|own| own == zone);
        let pair = (name.to_owned(), zone.to_owned());
        is_zone && self.instance_type(name).is_some() && !self.not_offered.contains(&pair)
    }

    /// Price of an instance; `None` where there is none. Spot prices are a share of the on-demand price that differs by family and zone.
    pub fn price(&self, pool: &CapacityPool) -> Option<PricePerHour> {
        let CapacityPool {
            instance_type: name,
            zone,
            capacity_type,
        } = pool;
        let listed = || {
            let price = region(&self.region).ok()?.on_demand(name)?;
            price.dollars(None)
        };
        let on_demand = || self.on_demand_prices.get(name).copied().or_else(listed);
        match capacity_type {
            CapacityType::Reserved => Some(PricePerHour::ZERO),
            CapacityType::OnDemand => on_demand(),
            CapacityType::Spot if self.without_spot.contains(name) => None,
            CapacityType::Spot => {
                let quoted = self.spot_prices.get(&(name.clone(), zone.clone()));
                let modelled = || {
                    let family = self.instance_type(name)?.family();
                    let model = SpotModel::default();
                    let price = model.price(&self.region, family, zone, on_demand()?);
                    Some(price.price())
                };
                quoted.copied().or_else(modelled)
            }
        }
    }
}

/// Dollars as answers have them, with six places and rounded down.
pub(crate) fn dollars(price: PricePerHour) -> String {
    let micros = price.nanos() / 1_000;
    format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spot_is_cheaper_than_on_demand_and_scripted_prices_count_first() {
        let mut world = World::new();
        let spot = CapacityPool::new("m5.large", "us-east-1a", CapacityType::Spot);
        let on_demand = CapacityPool {
            capacity_type: CapacityType::OnDemand,
            ..spot.clone()
        };
        let list = world.price(&on_demand).expect("a list price");
        assert_eq!(dollars(list), "0.096000");
        assert!(world.price(&spot).is_some_and(|price| price < list));
        let scripted = PricePerHour::from_dollars(0.25).expect("a price");
        let key = (spot.instance_type.clone(), spot.zone.clone());
        world.spot_prices.insert(key, scripted);
        assert_eq!(world.price(&spot), Some(scripted));
        let double = PricePerHour::from_nanos(2 * list.nanos());
        world.on_demand_prices.insert("m5.large".to_owned(), double);
        assert_eq!(world.price(&on_demand), Some(double));
    }

    #[test]
    fn a_type_is_offered_where_it_is_not_left_out() {
        let mut world = World::new();
        assert!(world.is_offered("m5.large", "us-east-1a"));
        assert!(!world.is_offered("m5.large", "us-east-1f"));
        assert!(!world.is_offered("m5.tiny", "us-east-1a"));
        let pair = ("m5.large".to_owned(), "us-east-1a".to_owned());
        world.not_offered.insert(pair);
        assert!(!world.is_offered("m5.large", "us-east-1a"));
        world.types.insert("c5.large".to_owned());
        assert!(!world.is_offered("m5.large", "us-east-1b"));
        assert_eq!(world.instance_types().count(), 1);
    }
}
