//! `plimsoll catalogue`: what can be bought, of a region or of a snapshot file, all of it or what meets requirements.

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use plimsoll_base::labels::{self, LabelKey};
use plimsoll_base::requirement::{Operator, Requirement, Requirements, Undefined};
use plimsoll_base::resources::{ResourceName, Resources};
use plimsoll_base::words::shortened;
use plimsoll_ec2_facts::{CatalogueSettings, catalogue};
use plimsoll_model::ClassRef;
use plimsoll_model::catalogue::{CapacityType, Catalogue, InstanceType, Offering, PriceSource};
use plimsoll_model::snapshot::Snapshot;

use crate::flags;
use crate::load;
use crate::meant::{closest, question};
use crate::output::{counted, show, table};
use crate::view::instance_type as view;

/// Domain that keys may leave out.
const DOMAIN: &str = "karpenter.k8s.aws/";
/// Words that stand for keys of other domains.
const SHORT: [(&str, &str); 5] = [
    ("arch", labels::ARCH),
    ("os", labels::OS),
    ("zone", labels::ZONE),
    ("capacity-type", labels::CAPACITY_TYPE),
    ("instance-type", labels::INSTANCE_TYPE),
];
/// How the words of most keys begin, which tells none of them apart.
const INSTANCE: &str = "instance-";
/// Least likeness of two keys, from 0 to 1, for one to be suggested; two letters changed of five are too many.
const LIKENESS: f64 = 0.65;

/// A type with the offerings that meet the requirements, and what pods may use on a node of the first of them.
struct Found {
    instance_type: InstanceType,
    allocatable: Resources,
}

impl Found {
    fn entry(&self) -> view::Entry {
        view::Entry::of(&self.instance_type, &self.allocatable)
    }
}

pub(crate) fn run(flags: &flags::Catalogue) -> Result<()> {
    let (catalogue, place) = if let Some(file) = &flags.from {
        let snapshot = load::file(file)?.snapshot;
        let sold = of_class(&snapshot, flags.class.as_deref(), &load::name(file))?;
        (sold, load::name(file))
    } else {
        let settings = CatalogueSettings::for_region(&flags.region);
        (Arc::new(catalogue(&settings)?), flags.region.clone())
    };
    let wanted = flags
        .requirements
        .iter()
        .map(|text| requirement(text, &catalogue))
        .collect::<Result<Requirements>>()?;
    let found = found(&catalogue, &wanted, flags.instance_type.as_deref());
    if let Some(name) = &flags.instance_type {
        let [only] = found.as_slice() else {
            bail!("{}", not_there(name, &place, &catalogue));
        };
        return show(
            flags.output,
            || view::InstanceType {
                entry: only.entry(),
            },
            || one(only),
        );
    }
    let list = || view::InstanceTypeList {
        items: found.iter().map(Found::entry).collect(),
    };
    show(flags.output, list, || many(&found))
}

/// The catalogue of a class of a file, or of all its pools' where they have the same.
fn of_class(snapshot: &Snapshot, name: Option<&str>, place: &str) -> Result<Arc<Catalogue>> {
    let catalogues = &snapshot.catalogues;
    let of_pools = snapshot.pools.iter().map(|pool| &pool.class);
    let classes: BTreeSet<&ClassRef> = catalogues.classes().chain(of_pools.clone()).collect();
    let names = || classes.iter().map(|class| class.name.as_ref());
    if let Some(name) = name {
        let Some(class) = classes.iter().find(|class| class.name.as_ref() == name) else {
            let meant = question(closest(name, names()));
            let known = shortened(names());
            bail!("there is no node class {name} in {place}; expected one of {known}{meant}");
        };
        return Ok(Arc::clone(catalogues.of(class)));
    }
    let numbers: BTreeSet<usize> = of_pools.map(|class| catalogues.number_of(class)).collect();
    match Vec::from_iter(numbers)[..] {
        [only] => Ok(Arc::clone(&catalogues.distinct()[only])),
        _ => bail!(
            "the node classes of {place} differ in what their nodes hold: {}; expected one of them with --class",
            shortened(names())
        ),
    }
}

/// Types that meet requirements, with the offerings that do.
fn found(catalogue: &Catalogue, wanted: &Requirements, name: Option<&str>) -> Vec<Found> {
    let meets = |own: &Requirements| own.accepts(wanted, Undefined::Ignored).is_ok();
    let named = catalogue
        .types()
        .iter()
        .filter(|known| name.is_none_or(|name| known.name.as_str() == name));
    let mut result = Vec::new();
    for known in named.filter(|known| meets(&known.requirements)) {
        let mut instance_type = known.as_ref().clone();
        instance_type
            .offerings
            .retain(|offering| meets(&offering.node_requirements(catalogue.provider())));
        if let Some(first) = instance_type.offerings.first() {
            result.push(Found {
                allocatable: instance_type.allocatable(first),
                instance_type,
            });
        }
    }
    result
}

fn not_there(name: &str, place: &str, catalogue: &Catalogue) -> String {
    let names = catalogue.types().iter().map(|known| known.name.as_str());
    match closest(name, names) {
        Some(_) if catalogue.get(name).is_some() => {
            format!("instance type {name} of {place} does not meet the requirements")
        }
        meant => format!(
            "there is no instance type {name} in {place}{}",
            question(meant)
        ),
    }
}

/// The key, or the word that stands for one, that was probably meant: what tells keys apart is behind their last slash.
fn key_meant(catalogue: &Catalogue, typed: &str) -> Option<String> {
    fn telling(key: &str) -> &str {
        let word = key.rsplit('/').next().unwrap_or(key);
        word.strip_prefix(INSTANCE).unwrap_or(word)
    }
    let words = SHORT.iter().map(|(word, _)| (*word).to_owned());
    // Of equals the last is taken: a word rather than its key.
    let keys = catalogue.provider().well_known_keys().into_iter();
    keys.map(String::from)
        .chain(words)
        .map(|known| {
            let likeness = strsim::normalized_damerau_levenshtein(telling(&known), telling(typed));
            (likeness, known)
        })
        .filter(|(likeness, _)| *likeness >= LIKENESS)
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .map(|(_, known)| known)
}

/// Reads `KEY OPERATOR VALUE,VALUE`.
fn requirement(text: &str, catalogue: &Catalogue) -> Result<Requirement> {
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
    if operator == Operator::In && values.is_empty() {
        bail!("\"{text}\" lists no value; operator In needs at least one");
    }
    let typed = key;
    let short = SHORT.iter().find(|(word, _)| *word == typed);
    let key = match short {
        Some((_, key)) => (*key).to_owned(),
        None if typed.contains('/') => typed.to_owned(),
        None => format!("{DOMAIN}{typed}"),
    };
    let key = LabelKey::from(key);
    if !catalogue.is_well_known(&key) {
        let hint = question(key_meant(catalogue, typed).as_deref());
        bail!("no instance type has a label {key}{hint}");
    }
    Ok(Requirement::new(key, operator, &values)?)
}

fn many(types: &[Found]) -> String {
    let mut rows = vec![
        [
            "instance type",
            "cpu",
            "memory",
            "pods",
            "on-demand",
            "spot from",
        ]
        .map(str::to_owned)
        .to_vec(),
    ];
    for Found { instance_type, .. } in types {
        let amount = |name: ResourceName| name.amount_text(instance_type.capacity.get(&name));
        rows.push(vec![
            instance_type.name.to_string(),
            amount(ResourceName::Cpu),
            amount(ResourceName::Memory),
            amount(ResourceName::Pods),
            cheapest(instance_type, CapacityType::OnDemand),
            cheapest(instance_type, CapacityType::Spot),
        ]);
    }
    table(&rows) + &format!("{}\n", counted(types.len(), "instance type"))
}

fn cheapest(instance_type: &InstanceType, capacity_type: CapacityType) -> String {
    let offered = instance_type
        .offerings
        .iter()
        .filter(|offering| offering.capacity_type == capacity_type);
    let least = offered.min_by_key(|offering| offering.price);
    least.map_or_else(String::new, |offering| {
        format!("{}{}", offering.price, modelled(offering, " (modelled)"))
    })
}

/// The mark for a price that a model made up.
fn modelled(offering: &Offering, mark: &'static str) -> &'static str {
    match offering.price_source {
        PriceSource::Model => mark,
        _ => "",
    }
}

fn one(found: &Found) -> String {
    let instance_type = &found.instance_type;
    let mut text = format!("{}\n", instance_type.name);
    let mut line = |name: &str, value: String| text.push_str(&format!("  {name:12} {value}\n"));
    line("capacity", instance_type.capacity.to_string());
    line("overhead", instance_type.overhead.to_string());
    line("allocatable", found.allocatable.to_string());
    for requirement in instance_type.requirements.iter() {
        line("label", requirement.to_string());
    }
    for offering in &instance_type.offerings {
        let mark = modelled(offering, ", modelled");
        let said = format!(
            "{} {} {}{mark}",
            offering.zone, offering.capacity_type, offering.price
        );
        line("offering", said);
    }
    text
}
