//! Who plans: a ranking module that prices for the packer, the incumbent's order, or a node group of one type.

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use plimsoll_core::action::ConsiderRequest;
use plimsoll_core::catalog::Catalogue;
use plimsoll_core::check::Prices;
use plimsoll_core::disrupt;
use plimsoll_core::model::PackingMode;
use plimsoll_core::plan::Plan;
use plimsoll_core::rank::Settings;
use plimsoll_core::schedule::{self, Offers};
use plimsoll_core::snapshot::Snapshot;
use plimsoll_core::units::PricePerHour;
use plimsoll_policy::{
    Compiler, Decision, Engine, EngineSettings, Fault, Helper, Manifest, Module, Refusal, Schema,
    decide_again, note_guards,
};
use plimsoll_sim::{Considered, FixedGroup, Planned, Planner};

use crate::failure::Environment;
use crate::meant::{closest, question};

/// A way of planning, as asked for on the command line.
#[derive(Clone)]
pub(crate) enum Contestant {
    /// A ranking module, and what tables call it.
    Rank(String, Module),
    /// First fit in the incumbent's order, at list prices.
    Compatible,
    /// A node group of one type.
    Fixed(String),
}

/// A plan, whose prices its options carry, and what went wrong with the policy.
pub(crate) struct Decided {
    pub(crate) plan: Plan,
    pub(crate) prices: Prices,
    pub(crate) faults: Vec<Fault>,
}

impl Contestant {
    /// Reads a specification: `rank=NAME`, `rank=FILE` or `rank=FOLDER`, each with settings behind it, `compatible` or `fixed:TYPE`.
    pub(crate) fn parse(text: &str, engine: &Engine) -> Result<Self> {
        if text == "compatible" {
            return Ok(Self::Compatible);
        }
        if let Some(instance_type) = text.strip_prefix("fixed:") {
            return Ok(Self::Fixed(instance_type.to_owned()));
        }
        let Some(rank) = text.strip_prefix("rank=") else {
            bail!(
                "policy \"{text}\" is not understood; expected rank=NAME, rank=FILE.wasm, rank=FOLDER, compatible or fixed:TYPE"
            );
        };
        let mut parts = outside_brackets(rank);
        let name = parts.remove(0);
        ranking(name, &parts, engine).with_context(|| format!("policy {name}"))
    }

    /// What tables and reports call it.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Rank(name, _) => name.clone(),
            Self::Compatible => "compatible".to_owned(),
            Self::Fixed(instance_type) => format!("fixed:{instance_type}"),
        }
    }

    /// Refuses a node group of a type that is not on sale.
    pub(crate) fn check(&self, catalogue: &Catalogue) -> Result<()> {
        let Self::Fixed(name) = self else {
            return Ok(());
        };
        if catalogue.get(name).is_none() {
            let names = catalogue.types().iter().map(|known| known.name.as_str());
            bail!(
                "policy fixed:{name}: there is no instance type {name} in the catalogue{}",
                question(closest(name, names))
            );
        }
        Ok(())
    }

    /// The planner that a simulation runs.
    pub(crate) fn planner(&self) -> Chosen {
        match self {
            Self::Rank(..) | Self::Compatible => Chosen::Core(self.clone(), None),
            Self::Fixed(instance_type) => Chosen::Fixed(FixedGroup::new(instance_type.as_str())),
        }
    }

    /// Decides once.
    pub(crate) fn plan(&self, snapshot: &Snapshot) -> Result<Decided> {
        self.plan_again(snapshot, &mut None)
    }

    /// Adds to a plan what its guards cost, where there are any.
    pub(crate) fn note_guards(&self, snapshot: &Snapshot, plan: &mut Plan) {
        if let Self::Rank(_, module) = self {
            note_guards(module, snapshot, plan);
        }
    }

    /// Decides as one of many times, keeping what pools sell.
    fn plan_again(&self, snapshot: &Snapshot, offers: &mut Option<Arc<Offers>>) -> Result<Decided> {
        let at_list = |plan| Decided {
            plan,
            prices: Prices::List,
            faults: Vec::new(),
        };
        match self {
            Self::Rank(_, module) => ranked(module, snapshot, offers),
            Self::Compatible => {
                let mut compatible = snapshot.clone();
                Arc::make_mut(&mut compatible.settings).packing = Some(PackingMode::Compatible);
                let prepared = schedule::prepare_again(&compatible, offers.as_ref());
                *offers = Some(Arc::clone(prepared.offers()));
                Ok(at_list(schedule::finish(&prepared, None)))
            }
            Self::Fixed(instance_type) => {
                let mut group = FixedGroup::new(instance_type.as_str());
                Ok(at_list(group.plan(snapshot).plan))
            }
        }
    }
}

/// A module under the settings given as `KEY=VALUE`.
fn ranking(name: &str, settings: &[&str], engine: &Engine) -> Result<Contestant> {
    let source = crate::module::source(name)?;
    source.verify(engine)?;
    let module = accept(engine, &source.bytes, settings)?;
    let label = std::iter::once(short_name(module.manifest())).chain(settings.iter().copied());
    let label: Vec<&str> = label.collect();
    Ok(Contestant::Rank(label.join(", "), module))
}

/// What tables call a policy: its name without the hook.
pub(crate) fn short_name(manifest: &Manifest) -> &str {
    let name = manifest.name.as_str();
    name.strip_prefix("rank-").unwrap_or(name)
}

/// Takes a module in under the settings given as `KEY=VALUE`.
pub(crate) fn accept(engine: &Engine, bytes: &[u8], settings: &[&str]) -> Result<Module> {
    let pairs = pairs(settings)?;
    Ok(engine.accept_with(bytes, &|schema| typed(schema, &pairs))?)
}

/// Settings as names and values.
pub(crate) fn pairs<'t>(settings: &[&'t str]) -> Result<Vec<(&'t str, &'t str)>> {
    let pair = |setting: &&'t str| match setting.split_once('=') {
        Some((key, value)) => Ok((key.trim(), value)),
        None => bail!("\"{setting}\" is not a setting; expected KEY=VALUE"),
    };
    settings.iter().map(pair).collect()
}

/// Settings of the kinds that a policy says they have.
pub(crate) fn typed(schema: &Schema, pairs: &[(&str, &str)]) -> Result<Settings, Refusal> {
    let mut given = Settings::new();
    for (key, value) in pairs {
        if given
            .insert((*key).to_owned(), schema.read(key, value)?)
            .is_some()
        {
            return Err(Refusal::Setting {
                path: (*key).to_owned(),
                problem: "is given twice; expected it once".to_owned(),
            });
        }
    }
    Ok(given)
}

/// The parts between commas; commas inside brackets belong to a list.
pub(crate) fn outside_brackets(text: &str) -> Vec<&str> {
    let mut depth = 0_i32;
    let split = text.split(|letter| {
        depth += i32::from(letter == '[') - i32::from(letter == ']');
        letter == ',' && depth <= 0
    });
    split.collect()
}

/// An engine for the command line: only fuel limits a module, so that answers are the same on every machine. Modules are compiled by
/// a process of this very program.
pub(crate) fn engine() -> Result<Engine> {
    let settings = EngineSettings {
        compiler: compiler()?,
        ..EngineSettings::default()
    };
    Engine::new(settings).map_err(|error| Environment(error.to_string()).into())
}

/// Within unit tests this program is another one, which compiles for itself.
fn compiler() -> Result<Compiler> {
    if cfg!(test) {
        return Ok(Compiler::Here);
    }
    let program = std::env::current_exe()
        .map_err(|error| Environment(format!("this program cannot find itself: {error}")))?;
    Ok(Compiler::Child(Helper {
        program,
        arguments: vec!["compile-module".into()],
    }))
}

/// Plans with a module. A fault that depends on the machine decides nothing.
fn ranked(
    module: &Module,
    snapshot: &Snapshot,
    offers: &mut Option<Arc<Offers>>,
) -> Result<Decided> {
    let Decision {
        plan,
        faults,
        at_policy_prices,
    } = decide_again(module, snapshot, offers);
    if let Some(fault) = faults
        .iter()
        .find(|fault| !fault.outcome.is_deterministic())
    {
        bail!(Environment(format!(
            "policy {}: {fault}; that depends on the machine, so nothing was decided",
            module.manifest().name
        )));
    }
    Ok(Decided {
        plan,
        prices: if at_policy_prices {
            Prices::Policy
        } else {
            Prices::List
        },
        faults,
    })
}

/// The planner of a run, with the core's bound.
pub(crate) enum Chosen {
    /// The core decides, and keeps what pools sell from one decision to the next.
    Core(Contestant, Option<Arc<Offers>>),
    /// A node group grows.
    Fixed(FixedGroup),
}

impl Planner for Chosen {
    fn plan(&mut self, snapshot: &Snapshot) -> Planned {
        let (contestant, offers) = match self {
            Self::Core(contestant, offers) => (contestant, offers),
            Self::Fixed(group) => return group.plan(snapshot),
        };
        match contestant.plan_again(snapshot, offers) {
            Ok(decided) => Planned {
                faults: decided.faults.len() as u64,
                plan: decided.plan,
            },
            Err(error) => {
                // A deadline must not change an answer: nothing sensible can follow in this run.
                crate::failure::report(&error);
                std::process::exit(3);
            }
        }
    }

    fn consider(&mut self, request: &ConsiderRequest) -> Considered {
        match self {
            Self::Fixed(group) => group.consider(request),
            Self::Core(..) => Considered {
                decision: disrupt::consider(&request.snapshot, &request.question),
                faults: 0,
            },
        }
    }

    fn bounds(&mut self, snapshot: &Snapshot, work: &[Vec<u32>]) -> Option<Vec<PricePerHour>> {
        Some(schedule::bounds_of_work(snapshot, work))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        let refused = Contestant::parse(text, &engine().unwrap()).err().unwrap();
        refused
            .chain()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(": ")
    }

    #[test]
    fn settings_stand_behind_the_name_and_in_tables() {
        let text = "rank=spot-diversified,lost_hours=2,at_once=4";
        let contestant = Contestant::parse(text, &engine().unwrap()).unwrap();
        assert_eq!(
            contestant.name(),
            "spot-diversified, lost_hours=2, at_once=4"
        );
    }

    #[test]
    fn commas_in_brackets_do_not_end_a_setting() {
        assert_eq!(outside_brackets("a,b=[c,d],e"), ["a", "b=[c,d]", "e"]);
    }

    #[test]
    fn a_setting_nobody_knows_names_the_closest() {
        assert_eq!(
            refusal("rank=spot-diversified,lost_hour=2"),
            "policy spot-diversified: setting lost_hour: is not a setting of this policy; did you mean lost_hours?"
        );
    }

    #[test]
    fn a_setting_of_the_wrong_kind_or_size_says_what_is_expected() {
        let place = "policy spot-diversified: setting lost_hours: is";
        let wanted = "expected a number in 0 to 24";
        for (value, shown) in [("much", "\"much\""), ("25", "25")] {
            assert_eq!(
                refusal(&format!("rank=spot-diversified,lost_hours={value}")),
                format!("{place} {shown}; {wanted}")
            );
        }
    }

    #[test]
    fn a_policy_nobody_knows_lists_those_shipped() {
        let said = refusal("rank=cheapest");
        assert!(
            said.starts_with(
                "policy cheapest: is neither a file, a folder nor one of those shipped: "
            ),
            "{said}"
        );
        assert!(said.contains("list-price"), "{said}");
    }

    #[test]
    fn a_setting_given_twice_is_refused() {
        assert_eq!(
            refusal("rank=spot-diversified,lost_hours=2, lost_hours=3"),
            "policy spot-diversified: setting lost_hours: is given twice; expected it once"
        );
    }
}
