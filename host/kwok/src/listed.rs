//! One type as a file lists it, and what it is to the core.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_base::ids::{ReservationId, TypeName};
use plimsoll_base::labels::{self, LabelKey};
use plimsoll_base::requirement::{Operator, Requirement, Requirements};
use plimsoll_base::resources::{ResourceName, Resources};
use plimsoll_base::units::PricePerHour;
use plimsoll_model::catalogue::{CapacityType, InstanceType, Offering, Reservation};
use serde::Deserialize;

use crate::catalogue::CatalogueError;
use crate::{DOMAIN, facts};

/// Pods of a type that does not say.
const PODS: i64 = 110;
/// Reserved for the system on every type: 100m cpu and 10Mi memory.
const RESERVED: [(ResourceName, i64); 2] =
    [(ResourceName::Cpu, 100), (ResourceName::Memory, 10 << 20)];

/// A type as written.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Listed {
    pub(crate) name: String,
    pub(crate) architecture: String,
    pub(crate) operating_systems: Vec<String>,
    /// Quantities by resource.
    pub(crate) resources: BTreeMap<String, String>,
    pub(crate) offerings: Vec<ListedOffering>,
}

/// A way to buy it, as written. Whether it says that it is available is not read: it is.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct ListedOffering {
    /// Dollars per hour.
    pub(crate) price: f64,
    #[serde(default)]
    pub(crate) reservation_capacity: u32,
    pub(crate) requirements: Vec<Expression>,
}

/// A requirement, as written.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Expression {
    pub(crate) key: String,
    pub(crate) operator: String,
    #[serde(default)]
    pub(crate) values: Vec<String>,
}

impl Listed {
    /// The type as the core knows it.
    pub(crate) fn instance_type(&self) -> Result<InstanceType, CatalogueError> {
        let mut capacity = Resources::new().with(ResourceName::Pods, PODS);
        for (name, text) in &self.resources {
            let name = ResourceName::from(name.as_str());
            let amount = name
                .parse_amount(text)
                .map_err(|error| self.wrong(&format!("resources.{name}"), &error.to_string()))?;
            capacity.set(name, amount);
        }
        let mut offerings = Vec::new();
        for (index, offering) in self.offerings.iter().enumerate() {
            offerings.push(self.offering(index, offering)?);
        }
        offerings.sort_by(|a, b| {
            let reservation = |o: &Offering| o.reservation.clone();
            (&a.zone, a.capacity_type, reservation(a)).cmp(&(
                &b.zone,
                b.capacity_type,
                reservation(b),
            ))
        });
        Ok(InstanceType {
            name: TypeName::from(self.name.as_str()),
            requirements: self.requirements(),
            capacity,
            overhead: RESERVED
                .into_iter()
                .fold(Resources::new(), |sum, (name, amount)| {
                    sum.with(name, amount)
                }),
            offerings,
            attach_limits: std::collections::BTreeMap::new(),
        })
    }

    /// Every well-known label has its values or is said to be absent: one that nothing is said of could be anything.
    fn requirements(&self) -> Requirements {
        let keys = facts::provider().keys_of_types().into_iter();
        let mut requirements: Requirements = keys.map(Requirement::does_not_exist).collect();
        let systems = self.operating_systems.iter().map(String::as_str);
        let mut put = |key: &str, values: Vec<&str>| {
            requirements.replace(Requirement::one_of(LabelKey::from(key), values));
        };
        put(labels::INSTANCE_TYPE, vec![&self.name]);
        put(labels::ARCH, vec![&self.architecture]);
        put(labels::OS, systems.collect());
        for (name, value) in self.own_labels() {
            put(&format!("{DOMAIN}/{name}"), vec![&value]);
        }
        requirements
    }

    /// The labels of this provider's own domain.
    fn own_labels(&self) -> [(&'static str, String); 4] {
        let quantity = |name: &str| self.resources.get(name).cloned().unwrap_or_default();
        let family = self.name.split(['.', '-']).next().unwrap_or_default();
        let size = match self.name.split_once('.') {
            Some((_, size)) => size.to_owned(),
            None => quantity("cpu"),
        };
        [
            ("instance-size", size),
            ("instance-family", family.to_owned()),
            ("instance-cpu", quantity("cpu")),
            ("instance-memory", quantity("memory")),
        ]
    }

    fn offering(&self, index: usize, listed: &ListedOffering) -> Result<Offering, CatalogueError> {
        let field = |name: &str| format!("offerings[{index}].{name}");
        let price = PricePerHour::from_dollars(listed.price)
            .filter(|price| price.nanos() > 0)
            .ok_or_else(|| {
                let words = format!("is {}; expected dollars per hour above 0", listed.price);
                self.wrong(&field("Price"), &words)
            })?;
        let mut requirements = Requirements::new();
        for expression in &listed.requirements {
            let read = expression.requirement();
            requirements.add(read.map_err(|words| self.wrong(&field("Requirements"), &words))?);
        }
        let single = |key: &str| {
            let words = format!("name no single {key}; expected one value");
            let found = requirements.get(key).and_then(Requirement::single).cloned();
            found.ok_or_else(|| self.wrong(&field("Requirements"), &words))
        };
        let zone = single(labels::ZONE)?;
        let terms = single(labels::CAPACITY_TYPE)?;
        let terms = CapacityType::parse(&terms).ok_or_else(|| {
            let words = format!("name capacity type {terms}; expected spot, on-demand or reserved");
            self.wrong(&field("Requirements"), &words)
        })?;
        let reservation = match terms {
            CapacityType::Reserved => Some(Reservation {
                id: ReservationId::from(single(facts::RESERVATION_ID)?),
                remaining: listed.reservation_capacity,
            }),
            CapacityType::Spot | CapacityType::OnDemand => None,
        };
        for key in [labels::ZONE, labels::CAPACITY_TYPE, facts::RESERVATION_ID] {
            requirements.remove(key);
        }
        let mut offering = Offering::new(zone, terms, price);
        offering.requirements = requirements;
        offering.reservation = reservation;
        Ok(offering)
    }

    fn wrong(&self, field: &str, problem: &str) -> CatalogueError {
        CatalogueError::Type {
            name: self.name.clone(),
            field: field.to_owned(),
            problem: problem.to_owned(),
        }
    }
}

impl Expression {
    fn requirement(&self) -> Result<Requirement, String> {
        let operator = Operator::parse(&self.operator).ok_or_else(|| {
            format!(
                "have operator {}; expected one of a node selector",
                self.operator
            )
        })?;
        let values: Vec<Arc<str>> = self.values.iter().map(|v| Arc::from(v.as_str())).collect();
        Requirement::new(LabelKey::from(self.key.as_str()), operator, &values)
            .map_err(|error| error.to_string())
    }
}
