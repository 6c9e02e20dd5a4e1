//! `plimsoll policy diff`: an input played under one policy while another is asked beside it.
//!
//! Both see the same sequence of snapshots and questions, since only the first decides. What would have followed from the second's
//! choices is not played; `plimsoll simulate --compare` does that.

use std::cmp::Reverse;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use plimsoll_core::time::Span;
use plimsoll_policy::{
    AnyModule, Book, Differing, Engine, Generation, Hook, Policies, Schema, Shadow, ShadowSettings,
    WhenBehind,
};
use plimsoll_sim::{Behaviour, Run};
use serde::Serialize;

use crate::failure::Environment;
use crate::flags::Diff;
use crate::load;
use crate::module;
use crate::output::{dollars, percent, show, table, texts, thousands};
use crate::player::Player;
use crate::policy::{engine, outside_brackets, pairs, short_name, typed};
use crate::strategy::{Asked, Chosen};

/// Differences kept of one run.
const KEPT: usize = 100_000;

/// What `-o json` prints.
#[derive(Serialize)]
struct Compared {
    hook: Hook,
    active: String,
    shadow: String,
    input_sha256: String,
    seed: u64,
    /// Thousandths.
    agreement: Option<u64>,
    /// Thousandths.
    first_choice: Option<u64>,
    /// Thousandths.
    launch_list_order: Option<i64>,
    /// Thousandths.
    fuel_ratio: Option<u64>,
    #[serde(flatten)]
    book: Book,
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
    policies.onlookers.push(shadow.clone());
    let input = load::input(&flags.on, &flags.deciding)?;
    let (start, behaviour) = (
        input.recording.start,
        Behaviour {
            seed: flags.seed,
            ..Behaviour::default()
        },
    );
    let player = Player::core(Generation::first(policies));
    let halted = player.halted();
    Run::new(input.recording, behaviour, player).finish();
    halted.check()?;
    let book = shadow.settle();
    if book.hung > 0 {
        bail!(Environment(format!(
            "policy {shadow_name}: {} calls hung on the machine, so nothing was compared",
            book.hung
        )));
    }
    if book.passed_over > 0 {
        bail!(Environment(format!(
            "policy {shadow_name}: its thread ended before {} decisions, so nothing was compared",
            book.passed_over
        )));
    }
    let compared = Compared {
        hook,
        active: active_name,
        shadow: shadow_name,
        input_sha256: input.digest,
        seed: flags.seed,
        agreement: book.agreement(),
        first_choice: book.lists.first_choice(),
        launch_list_order: book.lists.order(),
        fuel_ratio: book.fuel_ratio(),
        book,
    };
    let start = start.millis() / 1000;
    show(flags.output, &compared, || {
        people(&compared, start, flags.limit)
    })
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
    let accepted = accepted.with_context(|| format!("policy {place}"))?;
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
        added.with_context(|| format!("policy {}", asked.place))?;
    }
    Ok(chosen.policies)
}

fn people(compared: &Compared, start: i64, limit: usize) -> String {
    let Compared {
        active,
        shadow,
        book,
        ..
    } = compared;
    let mut text = format!("{active} decides, {shadow} is asked beside it\n");
    if book.decisions == 0 {
        text += match compared.hook {
            Hook::Rank => "nothing had to be bought: no decision to compare\n",
            Hook::Consolidate => "no move was ever possible: no decision to compare\n",
            Hook::Budget => "no budget was ever asked for: no decision to compare\n",
        };
        return text;
    }
    text += &table(&figures(compared));
    if let Some(fault) = &book.last_fault {
        text += &format!(
            "note: {shadow}: {} faults, the last: {fault}\n",
            thousands(book.faults)
        );
    }
    text += &differences(compared, start, limit);
    text
}

fn figures(compared: &Compared) -> Vec<Vec<String>> {
    let book = &compared.book;
    let what = match compared.hook {
        Hook::Rank => "of launches have the same first choice",
        Hook::Consolidate => "of moves are worth it to both or to neither",
        Hook::Budget => "of budgets are the same",
    };
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut line = |name: &str, value: String| rows.push(vec![name.to_owned(), value]);
    line("decisions", thousands(book.decisions));
    line("  that differ", thousands(book.differ));
    let agreement = book.agreement().map_or_else(
        || "-".to_owned(),
        |share| percent(i64::try_from(share).unwrap_or(i64::MAX)),
    );
    line("agreement", agreement);
    line(&format!("  {what}"), thousands(book.compared));
    match compared.hook {
        Hook::Rank => {
            let share = |share: u64| percent(i64::try_from(share).unwrap_or(i64::MAX));
            if let Some(first) = book.lists.first_choice() {
                line("launch lists, same first choice", share(first));
                line("  of claims", thousands(book.lists.claims));
            }
            if let Some(order) = book.lists.order() {
                let tau = format!("{:+.2}", order as f64 / 1000.0);
                line("  Kendall's tau, mean", tau);
            }
            if book.waiting != 0 {
                line("pods left waiting", format!("{:+}", book.waiting));
            }
        }
        Hook::Consolidate => {
            line("moves more", thousands(book.extra_moves));
            line("moves fewer", thousands(book.missing_moves));
        }
        Hook::Budget => {
            line("budgets wider", thousands(book.wider));
            line("budgets narrower", thousands(book.narrower));
        }
    }
    if compared.hook != Hook::Budget {
        let decisions = i64::try_from(book.decisions).unwrap_or(i64::MAX);
        line("regret at list prices, $/h", signed(book.regret.nanos()));
        line(
            "  of a decision, mean",
            signed(book.regret.nanos() / decisions),
        );
    }
    line("faults", thousands(book.faults));
    if let Some(ratio) = book.fuel_ratio() {
        line("fuel", format!("{:.1} x", ratio as f64 / 1000.0));
    }
    rows
}

/// The dearest differences.
fn differences(compared: &Compared, start: i64, limit: usize) -> String {
    let mut all: Vec<&Differing> = compared.book.differing.iter().collect();
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
