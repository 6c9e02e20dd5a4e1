//! `plimsoll policy diff`: an input played under one policy while another is asked beside it.
//!
//! Both see the same sequence of snapshots and questions, since only the first decides. What would have followed from the second's
//! choices is not played; `plimsoll simulate --compare` does that.

use std::cmp::Reverse;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_policy::{
    AnyModule, Differing, Engine, Hook, Policies, Schema, Shadow, ShadowLog, ShadowSettings,
    WhenBehind,
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::{Environment, OfModule};
use crate::flags::Diff;
use crate::load;
use crate::module;
use crate::output::{dollars, percent, show, table, texts, thousands};
use crate::player::play;
use crate::policy::{engine, outside_brackets, pairs, short_name, typed};
use crate::strategy::{Asked, Chosen};
use crate::view::{
    Document, Dollars, Instant, Percent, instant, percent as percent_of, thousandths,
};

/// Differences kept of one run.
const KEPT: usize = 100_000;

/// Output of `plimsoll policy diff`: the decisions of policy A, and what policy B would have decided.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::cmd) struct PolicyDiff {
    /// The hook of both.
    #[schemars(with = "String")]
    hook: Hook,
    /// Policy A, which decided.
    active: String,
    /// Policy B, which was asked the same questions.
    shadow: String,
    /// SHA-256 of the input's bytes.
    input_sha256: String,
    /// Seed of the random numbers.
    seed: u64,
    /// Decisions about which both were asked.
    decisions: u64,
    /// Those that differ.
    differing_decisions: u64,
    /// Launches, consolidations or budgets that were compared.
    compared: u64,
    /// The share of them on which both agree: the same first choice, worth it to both or to neither, or the same number; absent
    /// where nothing was compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    agreement_percent: Option<Percent>,
    /// Of ranking policies: launch lists of the NodeClaims that A planned; absent for other hooks.
    #[serde(skip_serializing_if = "Option::is_none")]
    launch_lists: Option<LaunchLists>,
    /// Cost of B's choices above that of A's in dollars per hour, summed over decisions; negative where they cost less.
    regret_dollars_per_hour: Dollars,
    /// Pods that B leaves pending more than A, summed over decisions; negative where it leaves fewer.
    more_pending_pods: i64,
    /// Consolidations that only B would make.
    extra_consolidations: u64,
    /// Consolidations that only A would make.
    missing_consolidations: u64,
    /// Budgets that B leaves wider.
    wider_budgets: u64,
    /// Budgets that B makes narrower.
    narrower_budgets: u64,
    /// Failures of B.
    faults: u64,
    /// The last of them; absent where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_fault: Option<String>,
    /// Fuel of B's calls.
    fuel: u64,
    /// Fuel of A's calls about the same.
    active_fuel: u64,
    /// `fuel` divided by `activeFuel`; absent where that is 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    fuel_ratio: Option<f64>,
    /// The decisions that differ.
    differences: Vec<Difference>,
}

impl Document for PolicyDiff {}

/// How launch lists of the same NodeClaims agree.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct LaunchLists {
    /// NodeClaims for which both have a list.
    claims: u64,
    /// The share of them with the same first choice; absent where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    same_first_percent: Option<Percent>,
    /// Kendall's tau of the lists, from -1 to 1, the mean of those with two offerings or more in common; absent where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    kendall_tau: Option<f64>,
}

/// A decision that differs.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Difference {
    /// Its number among the compared ones, from 1.
    decision: u64,
    /// The simulated time.
    time: Instant,
    /// A's decision in words.
    active: String,
    /// B's decision in words.
    shadow: String,
    /// Cost of B's choice above that of A's in dollars per hour; negative for less.
    regret_dollars_per_hour: Dollars,
}

/// Two policies compared over one recording.
struct Compared {
    hook: Hook,
    active: String,
    shadow: String,
    input_sha256: String,
    seed: u64,
    log: ShadowLog,
}

pub(crate) fn run(flags: &Diff) -> Result<()> {
    let engine = engine()?;
    let (active, active_name) = taken(&flags.active, &engine)?;
    let (shadow, shadow_name) = taken(&flags.shadow, &engine)?;
    let hook = active.manifest().hook;
    let other = shadow.manifest().hook;
    if other != hook {
        bail!(
            "policy {active_name} is a {} policy and {shadow_name} a {} policy; expected two of one hook",
            hook.adjective(),
            other.adjective()
        );
    }
    let mut policies = beside(flags, hook, &engine)?;
    active.clone().join(&mut policies);
    let settings = ShadowSettings {
        keep: KEPT,
        when_behind: WhenBehind::Wait,
        ..ShadowSettings::default()
    };
    let shadow = Shadow::begin(shadow, Some(active), settings);
    let shadow = Arc::new(shadow.map_err(|error| Environment(error.to_string()))?);
    policies.observers.push(shadow.clone());
    let input = load::input(&flags.on, &flags.deciding)?;
    let start = input.recording.start;
    play(input.recording, flags.seed, policies)?;
    let log = shadow.settle();
    if log.hung > 0 {
        bail!(Environment(format!(
            "policy {shadow_name}: the outcome of {} calls depended on the machine, so nothing was compared",
            log.hung
        )));
    }
    if log.passed_over > 0 {
        bail!(Environment(format!(
            "policy {shadow_name}: its thread ended before {} decisions, so nothing was compared",
            log.passed_over
        )));
    }
    let compared = Compared {
        hook,
        active: active_name,
        shadow: shadow_name,
        input_sha256: input.digest,
        seed: flags.seed,
        log,
    };
    let start = start.millis() / 1000;
    show(
        flags.output,
        || compared.document(),
        || people(&compared, start, flags.limit),
    )
}

impl Compared {
    fn document(&self) -> PolicyDiff {
        let log = &self.log;
        let share = |thousandths: u64| percent_of(i64::try_from(thousandths).unwrap_or(i64::MAX));
        PolicyDiff {
            hook: self.hook,
            active: self.active.clone(),
            shadow: self.shadow.clone(),
            input_sha256: self.input_sha256.clone(),
            seed: self.seed,
            decisions: log.decisions,
            differing_decisions: log.differ,
            compared: log.compared,
            agreement_percent: log.agreement().map(share),
            launch_lists: (self.hook == Hook::Rank).then(|| LaunchLists {
                claims: log.lists.claims,
                same_first_percent: log.lists.first_choice().map(share),
                kendall_tau: log.lists.order().map(thousandths),
            }),
            regret_dollars_per_hour: log.regret.into(),
            more_pending_pods: log.waiting,
            extra_consolidations: log.extra_moves,
            missing_consolidations: log.missing_moves,
            wider_budgets: log.wider,
            narrower_budgets: log.narrower,
            faults: log.faults,
            last_fault: log.last_fault.clone(),
            fuel: log.fuel,
            active_fuel: log.active_fuel,
            fuel_ratio: log.fuel_ratio().map(|ratio| ratio as f64 / 1000.0),
            differences: log.differing.iter().map(Difference::of).collect(),
        }
    }
}

impl Difference {
    fn of(differing: &Differing) -> Self {
        let seconds = i64::try_from(differing.unix_s).unwrap_or(i64::MAX);
        Self {
            decision: differing.number,
            time: instant(Timestamp::from_millis(seconds.saturating_mul(1000))),
            active: differing.active.clone(),
            shadow: differing.shadow.clone(),
            regret_dollars_per_hour: differing.regret.into(),
        }
    }
}

/// A module and what tables call it.
fn taken(text: &str, engine: &Engine) -> Result<(AnyModule, String)> {
    let text = text.split_once('=').map_or(text, |(hook, rest)| {
        let is_hook = Hook::ALL.iter().any(|known| known.label() == hook);
        if is_hook { rest } else { text }
    });
    let mut settings = outside_brackets(text);
    let place = settings.remove(0);
    let accepted = module::source(place).and_then(|source| {
        source.verify(engine)?;
        let pairs = pairs(&settings)?;
        let given = |schema: &Schema| typed(schema, &pairs);
        Ok(AnyModule::accept(engine, &source.bytes, &given)?)
    });
    let accepted = accepted.with_context(|| OfModule(place.to_owned()))?;
    let name = short_name(accepted.manifest()).to_owned();
    let parts = std::iter::once(name.as_str()).chain(settings.iter().copied());
    let name = parts.collect::<Vec<_>>().join(", ");
    Ok((accepted, name))
}

/// Who decides with A.
fn beside(flags: &Diff, hook: Hook, engine: &Engine) -> Result<Policies> {
    let mut chosen = Chosen::default();
    for text in &flags.policy {
        let Some(asked) = Asked::read(text) else {
            bail!(
                "policy \"{text}\" is not understood; expected rank=, consolidate= or budget= with a name, a file or a folder behind it"
            );
        };
        if asked.hook == hook && hook != Hook::Budget {
            bail!("policy {text}: A decides for its hook; expected one of another hook");
        }
        let added = module::source(asked.place);
        let added = added.and_then(|source| chosen.add(&asked, &source, engine));
        added.with_context(|| OfModule(asked.place.to_owned()))?;
    }
    Ok(chosen.policies)
}

fn people(compared: &Compared, start: i64, limit: usize) -> String {
    let Compared {
        active,
        shadow,
        log,
        ..
    } = compared;
    let mut text = format!("{active} decides, {shadow} is asked the same questions\n");
    if log.decisions == 0 {
        text += match compared.hook {
            Hook::Rank => "no node was launched: no decision to compare\n",
            Hook::Consolidate => "no consolidation was possible: no decision to compare\n",
            Hook::Budget => "no budget was ever asked for: no decision to compare\n",
        };
        return text;
    }
    text += &table(&figures(compared));
    if let Some(fault) = &log.last_fault {
        text += &format!(
            "note: {shadow}: {} faults, the last: {fault}\n",
            thousands(log.faults)
        );
    }
    text += &differences(compared, start, limit);
    text
}

fn figures(compared: &Compared) -> Vec<Vec<String>> {
    let log = &compared.log;
    let (agreement_of, what) = match compared.hook {
        Hook::Rank => ("same first choice", "launches"),
        Hook::Consolidate => ("worth it to both or to neither", "consolidations"),
        Hook::Budget => ("same budget", "budgets"),
    };
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut line = |name: &str, value: String| rows.push(vec![name.to_owned(), value]);
    line("decisions", thousands(log.decisions));
    line("  that differ", thousands(log.differ));
    let agreement = log.agreement().map_or_else(
        || "-".to_owned(),
        |share| percent(i64::try_from(share).unwrap_or(i64::MAX)),
    );
    line(&format!("agreement ({agreement_of})"), agreement);
    line(&format!("  {what} compared"), thousands(log.compared));
    match compared.hook {
        Hook::Rank => {
            let share = |share: u64| percent(i64::try_from(share).unwrap_or(i64::MAX));
            if let Some(first) = log.lists.first_choice() {
                line("launch lists, same first choice", share(first));
                line("  of claims", thousands(log.lists.claims));
            }
            if let Some(order) = log.lists.order() {
                let tau = format!("{:+.2}", order as f64 / 1000.0);
                line("  Kendall's tau, mean", tau);
            }
            if log.waiting != 0 {
                line("pods left pending", format!("{:+}", log.waiting));
            }
        }
        Hook::Consolidate => {
            line("extra consolidations", thousands(log.extra_moves));
            line("missing consolidations", thousands(log.missing_moves));
        }
        Hook::Budget => {
            line("budgets wider", thousands(log.wider));
            line("budgets narrower", thousands(log.narrower));
        }
    }
    if compared.hook != Hook::Budget {
        let decisions = i64::try_from(log.decisions).unwrap_or(i64::MAX);
        line("regret at list prices, $/h", signed(log.regret.nanos()));
        line(
            "  of a decision, mean",
            signed(log.regret.nanos() / decisions),
        );
    }
    line("faults", thousands(log.faults));
    if let Some(ratio) = log.fuel_ratio() {
        line("fuel", format!("{:.1} x", ratio as f64 / 1000.0));
    }
    rows
}

/// The dearest differences.
fn differences(compared: &Compared, start: i64, limit: usize) -> String {
    let mut all: Vec<&Differing> = compared.log.differing.iter().collect();
    all.sort_by_key(|one| (Reverse(one.regret.nanos().abs()), one.number));
    let rest = all.len().saturating_sub(limit);
    all.truncate(limit);
    if all.is_empty() {
        return String::new();
    }
    let head = [
        "at",
        compared.active.as_str(),
        compared.shadow.as_str(),
        "$/h",
    ];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for one in all {
        let seconds = i64::try_from(one.unix_s).unwrap_or(i64::MAX) - start;
        let cost = match compared.hook {
            Hook::Budget => "-".to_owned(),
            _ => signed(one.regret.nanos()),
        };
        rows.push(vec![
            Span::from_secs(seconds).to_string(),
            one.active.clone(),
            one.shadow.clone(),
            cost,
        ]);
    }
    let mut text = format!("\n{}", texts(&rows));
    if rest > 0 {
        text += &format!("and {} more\n", thousands(rest as u64));
    }
    text
}

/// `+$ 0.01`: cents, with four digits where there are no whole cents.
fn signed(nanos: i64) -> String {
    let sign = match nanos {
        0 => "",
        more if more > 0 => "+",
        _ => "-",
    };
    let size = nanos.saturating_abs();
    if size != 0 && size < 1_000_000_000 {
        format!("{sign}$ {:.4}", size as f64 / 1e9)
    } else {
        format!("{sign}{}", dollars(size))
    }
}
