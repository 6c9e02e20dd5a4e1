//! Strategies, which decide: policies for the three hooks, Karpenter's order, or a node group of one type.
//!
//! A specification names a hook, where its module is, and settings: `rank=spot-diversified,lost_hours=2`. Several make one
//! strategy: written one by one behind `--policy`, or joined by `+` behind `--compare`, which takes what it does not name
//! from `--policy`. The baselines `compatible` and `fixed:TYPE` stand alone.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use plimsoll_check::PriceRule;
use plimsoll_disrupt::outlook::Outlook;
use plimsoll_model::PackingMode;
use plimsoll_model::catalogue::Catalogues;
use plimsoll_model::plan::Plan;
use plimsoll_model::snapshot::{Settings, Snapshot};
use plimsoll_policy::{
    BudgetModule, ConsolidationModule, Engine, Generation, Hook, Module, Policies, Schema,
    note_guards,
};
use plimsoll_schedule::Session;
use plimsoll_sim::{FixedGroup, Planner as _};

use crate::failure::OfModule;
use crate::meant::{closest, question};
use crate::module::{self, Source};
use crate::player::{Decided, Player, planned};
use crate::policy::{outside_brackets, pairs, short_name, typed};

/// A module as asked for: its hook, where it is, and its settings as `KEY=VALUE`.
pub(crate) struct Asked<'t> {
    pub(crate) hook: Hook,
    pub(crate) place: &'t str,
    settings: Vec<&'t str>,
}

impl<'t> Asked<'t> {
    /// Reads `HOOK=PLACE[,KEY=VALUE]...`; `None` where no hook stands in front.
    pub(crate) fn read(text: &'t str) -> Option<Self> {
        let (hook, rest) = text.split_once('=')?;
        let hook = Hook::ALL.into_iter().find(|known| known.label() == hook)?;
        let mut settings = outside_brackets(rest);
        let place = settings.remove(0);
        Some(Self {
            hook,
            place,
            settings,
        })
    }

    /// Its settings, as names and values.
    pub(crate) fn pairs(&self) -> Result<Vec<(&'t str, &'t str)>> {
        pairs(&self.settings)
    }
}

/// Policies, and what tables call them.
#[derive(Clone, Default)]
pub(crate) struct Chosen {
    pub(crate) policies: Policies,
    rank: Option<String>,
    consolidate: Option<String>,
    budget: Vec<String>,
}

impl Chosen {
    /// Takes a module in for its hook.
    pub(crate) fn add(
        &mut self,
        asked: &Asked<'_>,
        source: &Source,
        engine: &Engine,
    ) -> Result<()> {
        source.verify(engine)?;
        let pairs = asked.pairs()?;
        let given = |schema: &Schema| typed(schema, &pairs);
        let bytes = &source.bytes;
        let label = |name: &str| {
            let parts = std::iter::once(name).chain(asked.settings.iter().copied());
            parts.collect::<Vec<_>>().join(", ")
        };
        match asked.hook {
            Hook::Rank if self.rank.is_some() => bail!(TWICE),
            Hook::Rank => {
                let module: Module = engine.accept_with(bytes, &given)?;
                self.rank = Some(label(short_name(module.manifest())));
                self.policies.rank = Some(module);
            }
            Hook::Consolidate if self.consolidate.is_some() => bail!(TWICE),
            Hook::Consolidate => {
                let module: ConsolidationModule = engine.accept_with(bytes, &given)?;
                self.consolidate = Some(label(short_name(module.manifest())));
                self.policies.consolidate = Some(module);
            }
            Hook::Budget => {
                let module: BudgetModule = engine.accept_with(bytes, &given)?;
                self.budget.push(label(short_name(module.manifest())));
                self.policies.budget.push(module);
            }
        }
        Ok(())
    }

    /// Takes over what was chosen for the hooks that this leaves open.
    fn filled_from(mut self, other: &Self) -> Self {
        let theirs = other.clone();
        if self.rank.is_none() {
            (self.rank, self.policies.rank) = (theirs.rank, theirs.policies.rank);
        }
        if self.consolidate.is_none() {
            self.consolidate = theirs.consolidate;
            self.policies.consolidate = theirs.policies.consolidate;
        }
        if self.budget.is_empty() {
            (self.budget, self.policies.budget) = (theirs.budget, theirs.policies.budget);
        }
        self
    }

    fn name(&self) -> String {
        let rank = self.rank.as_deref().unwrap_or("list-price");
        let others = self.consolidate.iter().chain(&self.budget);
        let parts = std::iter::once(rank).chain(others.map(String::as_str));
        parts.collect::<Vec<_>>().join(" + ")
    }
}

const TWICE: &str = "its hook has a policy already; expected one that ranks and one that consolidates, and others behind --compare";

/// A way of deciding, as asked for on the command line.
#[derive(Clone)]
pub(crate) enum Strategy {
    /// Policies, each for its hook.
    Policies(Box<Chosen>),
    /// First fit in Karpenter's order, at list prices.
    Compatible,
    /// A node group of one type.
    Fixed(String),
}

impl Strategy {
    /// Reads the specifications behind `--policy`. Who names no ranking policy ranks at list prices.
    pub(crate) fn parse(texts: &[String], engine: &Engine) -> Result<Self> {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        Self::read(&texts, engine)
    }

    /// Reads one specification behind `--compare`, held against the strategy behind `--policy`.
    pub(crate) fn compared(text: &str, base: &Self, engine: &Engine) -> Result<Self> {
        Ok(match (Self::read(&joined(text), engine)?, base) {
            (Self::Policies(own), Self::Policies(base)) => {
                Self::Policies(Box::new(own.filled_from(base)))
            }
            (alone, _) => alone,
        })
    }

    /// Reads a specification for a command that decides once what to buy.
    pub(crate) fn ranking(text: &str, engine: &Engine) -> Result<Self> {
        match Asked::read(text) {
            Some(asked) if asked.hook != Hook::Rank => bail!(
                "policy \"{text}\" decides about nodes that run; expected rank=NAME, rank=FILE.wasm, rank=FOLDER, compatible or fixed:TYPE"
            ),
            _ => Self::read(&[text], engine),
        }
    }

    fn read(texts: &[&str], engine: &Engine) -> Result<Self> {
        if let [text] = texts {
            if *text == "compatible" {
                return Ok(Self::Compatible);
            }
            if let Some(instance_type) = text.strip_prefix("fixed:") {
                return Ok(Self::Fixed(instance_type.to_owned()));
            }
        }
        let mut chosen = Chosen::default();
        for text in texts {
            let Some(asked) = Asked::read(text) else {
                bail!(not_understood(text, engine));
            };
            let source = module::source(asked.place);
            let added = source.and_then(|source| chosen.add(&asked, &source, engine));
            added.with_context(|| OfModule(asked.place.to_owned()))?;
        }
        Ok(Self::Policies(Box::new(chosen)))
    }

    /// Name in tables and reports.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Policies(chosen) => chosen.name(),
            Self::Compatible => "compatible".to_owned(),
            Self::Fixed(instance_type) => format!("fixed:{instance_type}"),
        }
    }

    /// Refuses a node group of a type that is not on sale.
    pub(crate) fn check(&self, catalogues: &Catalogues) -> Result<()> {
        let Self::Fixed(name) = self else {
            return Ok(());
        };
        // Every catalogue has all types.
        let catalogue = catalogues.of_others();
        if catalogue.get(name).is_none() {
            let names = catalogue.types().iter().map(|known| known.name.as_str());
            bail!(
                "policy fixed:{name}: there is no instance type {name} in the catalogue{}",
                question(closest(name, names))
            );
        }
        Ok(())
    }

    /// The settings under which it decides.
    pub(crate) fn set(&self, settings: &mut Arc<Settings>) {
        if matches!(self, Self::Compatible) {
            Arc::make_mut(settings).packing = Some(PackingMode::Compatible);
        }
    }

    /// Its policies; none for a baseline.
    pub(crate) fn policies_mut(&mut self) -> Option<&mut Policies> {
        match self {
            Self::Policies(chosen) => Some(&mut chosen.policies),
            Self::Compatible | Self::Fixed(_) => None,
        }
    }

    /// The planner that a simulation runs.
    pub(crate) fn player(&self) -> Player {
        match self {
            Self::Policies(chosen) => Player::core(chosen.policies.clone()),
            Self::Compatible => Player::core(Policies::default()),
            Self::Fixed(instance_type) => Player::fixed(FixedGroup::new(instance_type.as_str())),
        }
    }

    /// A snapshot with the settings under which it decides.
    fn own<'s>(&self, snapshot: &'s Snapshot) -> Cow<'s, Snapshot> {
        let mut settings = Arc::clone(&snapshot.settings);
        self.set(&mut settings);
        let mut own = Cow::Borrowed(snapshot);
        if !Arc::ptr_eq(&settings, &snapshot.settings) {
            own.to_mut().settings = settings;
        }
        own
    }

    /// The outlook of the node in a row of a snapshot, and in sentences what went wrong with policies.
    pub(crate) fn outlook(
        &self,
        snapshot: &Snapshot,
        row: usize,
    ) -> Result<(Outlook, Vec<String>)> {
        let policies = match self {
            Self::Policies(chosen) => chosen.policies.clone(),
            Self::Compatible => Policies::default(),
            Self::Fixed(_) => bail!("policy {}: disrupts no nodes", self.name()),
        };
        let generation = Generation::first(policies);
        let own = self.own(snapshot);
        let (outlooks, asked) = generation.outlooks(&own, &[row], &Session::default());
        let outlook = outlooks.into_iter().next();
        Ok((outlook.context("the outlook of a node")?, asked.notes))
    }

    /// Decides once what to buy.
    pub(crate) fn plan(&self, snapshot: &Snapshot) -> Result<Decided> {
        let own = self.own(snapshot);
        let policies = match self {
            Self::Policies(chosen) => chosen.policies.clone(),
            Self::Compatible => Policies::default(),
            Self::Fixed(instance_type) => {
                let mut group = FixedGroup::new(instance_type.as_str());
                return Ok(Decided {
                    plan: group.plan(&own).plan,
                    prices: PriceRule::List,
                    faults: Vec::new(),
                });
            }
        };
        planned(&Generation::first(policies), &own, &Session::default())
    }

    /// Adds to a plan the nearest offerings for pods that are unschedulable, given as rows of the snapshot. A node group buys but one
    /// type.
    pub(crate) fn tell_nearest(
        &self,
        snapshot: &Snapshot,
        plan: &mut Plan,
        is_meant: impl Fn(usize) -> bool,
    ) {
        if matches!(self, Self::Fixed(_)) {
            return;
        }
        let replan = |changed: &Snapshot| Some(self.plan(changed).ok()?.plan);
        plimsoll_schedule::tell_nearest(&self.own(snapshot), plan, is_meant, replan);
    }

    /// Adds to a plan what its guards cost, where there are any.
    pub(crate) fn note_guards(&self, snapshot: &Snapshot, plan: &mut Plan) {
        if let Self::Policies(chosen) = self
            && let Some(module) = &chosen.policies.rank
        {
            note_guards(module, snapshot, plan);
        }
    }
}

/// Message about a specification that is not understood, with the forms expected.
fn not_understood(text: &str, engine: &Engine) -> String {
    // Who compares with Karpenter asks for it by name.
    let meant = if text.eq_ignore_ascii_case("karpenter") {
        Some("compatible (Karpenter's packing)".to_owned())
    } else {
        with_hook(text, engine)
    };
    format!(
        "policy \"{text}\" is not understood; expected rank=, consolidate= or budget= with a name, a file or a folder behind it, or alone: compatible or fixed:TYPE{}",
        question(meant.as_deref())
    )
}

/// A specification that lacks its hook, with the hook of the module that it names; `None` where there is no such module. A folder is not
/// built for that.
pub(crate) fn with_hook(text: &str, engine: &Engine) -> Option<String> {
    let place = *outside_brackets(text).first()?;
    if Path::new(place).is_dir() {
        return None;
    }
    let component = engine.inflate(&module::source(place).ok()?.bytes).ok()?;
    let hook = engine.inspect(&component).ok()?.manifest.hook;
    Some(format!("{}={text}", hook.label()))
}

/// The specifications between plus signs; a plus sign within a setting stays where it is.
fn joined(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut from = 0;
    for (at, _) in text.match_indices('+') {
        if Asked::read(&text[at + 1..]).is_some() {
            parts.push(&text[from..at]);
            from = at + 1;
        }
    }
    parts.push(&text[from..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::engine;

    fn strategy(texts: &[&str]) -> Result<Strategy> {
        Strategy::read(texts, &engine().unwrap())
    }

    fn refusal(text: &str) -> String {
        let refused = strategy(&[text]).err().unwrap();
        let words = refused.chain().map(ToString::to_string);
        words.collect::<Vec<_>>().join(": ")
    }

    #[test]
    fn settings_stand_behind_the_name_and_in_tables() {
        let named = strategy(&["rank=spot-diversified,lost_hours=2,at_once=4"]).unwrap();
        assert_eq!(named.name(), "spot-diversified, lost_hours=2, at_once=4");
    }

    #[test]
    fn a_comparison_takes_over_what_it_does_not_name() {
        let engine = engine().unwrap();
        let base = strategy(&["rank=spot-diversified", "consolidate=gentle"]).unwrap();
        let compared = |text| Strategy::compared(text, &base, &engine).unwrap().name();
        assert_eq!(base.name(), "spot-diversified + gentle");
        assert_eq!(
            compared("rank=list-price+budget=rollout-guard"),
            "list-price + gentle + rollout-guard"
        );
        assert_eq!(
            compared("consolidate=balanced"),
            "spot-diversified + balanced"
        );
        assert_eq!(compared("compatible"), "compatible");
    }

    #[test]
    fn a_plus_sign_in_a_setting_joins_nothing() {
        assert_eq!(
            joined("budget=maintenance-window,zone=Etc/GMT+5+rank=list-price"),
            [
                "budget=maintenance-window,zone=Etc/GMT+5",
                "rank=list-price"
            ]
        );
    }

    #[test]
    fn a_hook_has_one_policy_but_for_budgets() {
        let twice = strategy(&["rank=list-price", "rank=spot-diversified"]);
        let words = format!("{:#}", twice.err().unwrap());
        assert_eq!(words, format!("policy spot-diversified: {TWICE}"));
        let budgets = strategy(&["budget=rollout-guard", "budget=rollout-guard"]).unwrap();
        assert_eq!(budgets.name(), "list-price + rollout-guard + rollout-guard");
    }

    #[test]
    fn a_baseline_stands_alone() {
        let refused = strategy(&["compatible", "rank=list-price"]).err().unwrap();
        let expected = not_understood("compatible", &engine().unwrap());
        assert_eq!(refused.to_string(), expected);
        assert!(expected.ends_with("compatible or fixed:TYPE"), "{expected}");
    }

    #[test]
    fn a_policy_without_its_hook_is_asked_back_with_it() {
        for (text, meant) in [
            ("list-price", "rank=list-price"),
            ("rank-list-price", "rank=rank-list-price"),
            ("gentle,charge=0.1", "consolidate=gentle,charge=0.1"),
            ("rollout-guard", "budget=rollout-guard"),
        ] {
            let said = refusal(text);
            let question = format!("; did you mean {meant}?");
            assert!(said.ends_with(&question), "{said}");
        }
        assert!(!refusal("cheapest").contains("did you mean"));
    }

    #[test]
    fn a_module_of_another_hook_is_refused() {
        let said = refusal("consolidate=list-price");
        assert!(said.contains("list-price"), "{said}");
        assert!(said.contains("consolidat"), "{said}");
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
