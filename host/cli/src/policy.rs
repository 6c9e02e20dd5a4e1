//! Who plans: a ranking module that prices for the packer, the incumbent's order, or a node group of one type.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use plimsoll_core::model::PackingMode;
use plimsoll_core::plan::Plan;
use plimsoll_core::rank::{Settings, check_prices};
use plimsoll_core::schedule;
use plimsoll_core::snapshot::Snapshot;
use plimsoll_core::units::PricePerHour;
use plimsoll_policy::{Engine, EngineSettings, Module, Outcome};
use plimsoll_sim::{FixedGroup, Planned, Planner};

use crate::failure::Environment;

/// A way of planning, as asked for on the command line.
#[derive(Clone)]
pub(crate) enum Contestant {
    /// A ranking module.
    Rank(String, Module),
    /// First fit in the incumbent's order, at list prices.
    Compatible,
    /// A node group of one type.
    Fixed(String),
}

impl Contestant {
    /// Reads a specification: `rank=NAME`, `rank=FILE`, `compatible` or `fixed:TYPE`.
    pub(crate) fn parse(text: &str, engine: &Engine) -> Result<Self> {
        if text == "compatible" {
            return Ok(Self::Compatible);
        }
        if let Some(instance_type) = text.strip_prefix("fixed:") {
            return Ok(Self::Fixed(instance_type.to_owned()));
        }
        let Some(name) = text.strip_prefix("rank=") else {
            bail!(
                "policy \"{text}\" is not understood; expected rank=NAME, rank=FILE.wasm, compatible or fixed:TYPE"
            );
        };
        let module = match plimsoll_policies::ranking(name) {
            Some(shipped) => engine.accept(shipped.bytes, &Settings::default()),
            None => engine.accept(&module_bytes(name)?, &Settings::default()),
        };
        let module = module.with_context(|| format!("policy {name}"))?;
        Ok(Self::Rank(module.manifest().name.clone(), module))
    }

    /// What tables and reports call it.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Rank(name, _) => name.strip_prefix("rank-").unwrap_or(name).to_owned(),
            Self::Compatible => "compatible".to_owned(),
            Self::Fixed(instance_type) => format!("fixed:{instance_type}"),
        }
    }

    /// The planner that a simulation runs.
    pub(crate) fn planner(&self) -> Chosen {
        match self {
            Self::Rank(..) | Self::Compatible => Chosen::Core(self.clone()),
            Self::Fixed(instance_type) => Chosen::Fixed(FixedGroup::new(instance_type.as_str())),
        }
    }

    /// Decides once. The flag tells whether the module failed and list prices were taken.
    pub(crate) fn plan(&self, snapshot: &Snapshot) -> Result<(Plan, Option<String>)> {
        match self {
            Self::Rank(_, module) => ranked(module, snapshot),
            Self::Compatible => {
                let mut compatible = snapshot.clone();
                Arc::make_mut(&mut compatible.settings).packing = Some(PackingMode::Compatible);
                Ok((schedule::plan(&compatible), None))
            }
            Self::Fixed(instance_type) => Ok((
                FixedGroup::new(instance_type.as_str()).plan(snapshot).plan,
                None,
            )),
        }
    }
}

/// An engine for the command line: only fuel limits a module, so that answers are the same on every machine.
pub(crate) fn engine() -> Result<Engine> {
    Engine::new(EngineSettings::default()).map_err(|error| Environment(error.to_string()).into())
}

fn module_bytes(name: &str) -> Result<Vec<u8>> {
    let path = Path::new(name);
    if !path.exists() {
        let shipped: Vec<&str> = plimsoll_policies::RANKING
            .iter()
            .map(|shipped| shipped.name)
            .collect();
        bail!(
            "policy {name} is neither a file nor one of those shipped: {}",
            shipped.join(", ")
        );
    }
    std::fs::read(path).with_context(|| path.display().to_string())
}

/// Plans with the module's prices; with list prices, and the reason, when it fails.
fn ranked(module: &Module, snapshot: &Snapshot) -> Result<(Plan, Option<String>)> {
    let prepared = schedule::prepare(snapshot);
    let Some(question) = prepared.question() else {
        return Ok((schedule::finish(&prepared, None), None));
    };
    let called = module.price(question);
    if called.outcome() == Outcome::Deadline {
        bail!(Environment(
            "the policy hit its deadline, which depends on the machine; nothing was decided"
                .to_owned()
        ));
    }
    let checked = called
        .result
        .map_err(|fault| fault.to_string())
        .and_then(|answer| check_prices(question, &answer).map_err(|error| error.to_string()));
    Ok(match checked {
        Ok(prices) => (schedule::finish(&prepared, Some(&prices)), None),
        Err(fault) => (schedule::finish(&prepared, None), Some(fault)),
    })
}

/// The planner of a run, with the core's bound.
pub(crate) enum Chosen {
    /// The core decides.
    Core(Contestant),
    /// A node group grows.
    Fixed(FixedGroup),
}

impl Planner for Chosen {
    fn plan(&mut self, snapshot: &Snapshot) -> Planned {
        let contestant = match self {
            Self::Core(contestant) => contestant,
            Self::Fixed(group) => return group.plan(snapshot),
        };
        match contestant.plan(snapshot) {
            Ok((plan, fault)) => Planned {
                plan,
                faults: u64::from(fault.is_some()),
            },
            Err(error) => {
                // A deadline must not change an answer: nothing sensible can follow in this run.
                crate::failure::report(&error);
                std::process::exit(3);
            }
        }
    }

    fn bound(&mut self, snapshot: &Snapshot) -> Option<PricePerHour> {
        Some(schedule::bound_from_nothing(snapshot))
    }
}
