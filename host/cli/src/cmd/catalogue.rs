//! `plimsoll catalogue`: what can be bought.

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use plimsoll_core::catalog::{InstanceType, PriceSource};
use plimsoll_core::labels::LabelKey;
use plimsoll_core::requirement::{Operator, Requirement, Requirements, Undefined};
use plimsoll_core::resources::ResourceName;
use plimsoll_ec2_facts::{CatalogueSettings, catalogue};

use crate::flags;
use crate::output::{show, table};

/// Domain that keys may leave out.
const DOMAIN: &str = "karpenter.k8s.aws/";

pub(crate) fn run(flags: &flags::Catalogue) -> Result<()> {
    let catalogue = catalogue(&CatalogueSettings::for_region(&flags.region))?;
    if let Some(name) = &flags.instance_type {
        let Some(found) = catalogue.get(name) else {
            bail!("there is no instance type {name} in {}", flags.region);
        };
        return show(flags.output, found.as_ref(), || one(found));
    }
    let wanted = flags
        .requirements
        .iter()
        .map(|text| requirement(text))
        .collect::<Result<Requirements>>()?;
    let meets = |instance_type: &&Arc<InstanceType>| {
        instance_type
            .requirements
            .accepts(&wanted, Undefined::Ignored)
            .is_ok()
            && instance_type.offerings.iter().any(|offering| {
                offering
                    .node_requirements()
                    .accepts(&wanted, Undefined::Ignored)
                    .is_ok()
            })
    };
    let found: Vec<&Arc<InstanceType>> = catalogue.types().iter().filter(meets).collect();
    show(flags.output, &found, || many(&found))
}

/// Reads `KEY OPERATOR VALUE,VALUE`.
fn requirement(text: &str) -> Result<Requirement> {
    let mut words = text.split_whitespace();
    let (Some(key), Some(operator)) = (words.next(), words.next()) else {
        bail!("\"{text}\" is no requirement; expected for example \"instance-category In c,m\"");
    };
    let operator = Operator::parse(operator).with_context(|| {
        format!("\"{operator}\" is no operator; expected In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte or Lte")
    })?;
    let values: Vec<Arc<str>> = words
        .flat_map(|word| word.split(','))
        .filter(|value| !value.is_empty())
        .map(Arc::from)
        .collect();
    let key = if key.contains('/') {
        key.to_owned()
    } else {
        format!("{DOMAIN}{key}")
    };
    Ok(Requirement::new(LabelKey::from(key), operator, &values)?)
}

fn many(types: &[&Arc<InstanceType>]) -> String {
    let mut rows = vec![
        ["type", "cpu", "memory", "pods", "on-demand", "spot from"]
            .map(str::to_owned)
            .to_vec(),
    ];
    let price = |instance_type: &InstanceType, spot: bool| {
        let of_terms = instance_type.offerings.iter().filter(|offering| {
            (offering.capacity_type == plimsoll_core::catalog::CapacityType::Spot) == spot
        });
        let least = of_terms.min_by_key(|offering| offering.price);
        least.map_or_else(String::new, |offering| {
            let modelled = if offering.price_source == PriceSource::Model {
                " (model)"
            } else {
                ""
            };
            format!("{}{modelled}", offering.price)
        })
    };
    for instance_type in types {
        let amount = |name: &ResourceName| instance_type.capacity.get(name);
        rows.push(vec![
            instance_type.name.to_string(),
            (amount(&ResourceName::Cpu) / 1000).to_string(),
            format!("{} Mi", amount(&ResourceName::Memory) >> 20),
            amount(&ResourceName::Pods).to_string(),
            price(instance_type, false),
            price(instance_type, true),
        ]);
    }
    table(&rows) + &format!("{} types\n", types.len())
}

fn one(instance_type: &InstanceType) -> String {
    let mut text = format!("{}\n", instance_type.name);
    let mut line = |name: &str, value: String| text.push_str(&format!("  {name:12} {value}\n"));
    line("capacity", instance_type.capacity.to_string());
    line("overhead", instance_type.overhead.to_string());
    if let Some(offering) = instance_type.offerings.first() {
        line(
            "allocatable",
            instance_type.allocatable(offering).to_string(),
        );
    }
    for requirement in instance_type.requirements.iter() {
        line("label", requirement.to_string());
    }
    for offering in &instance_type.offerings {
        let modelled = if offering.price_source == PriceSource::Model {
            ", a model"
        } else {
            ""
        };
        line(
            "offering",
            format!(
                "{} {} {}{modelled}",
                offering.zone, offering.capacity_type, offering.price
            ),
        );
    }
    text
}
