//! `plimsoll policy test`: the laws that the prices of every ranking policy keep, on a market that has a bit of everything.

use std::time::Instant;

use anyhow::{Context, Result, bail};
use plimsoll_author::{laws, market};
use serde::Serialize;

use crate::flags::Test;
use crate::module;
use crate::output::{show, texts};
use crate::policy::{accept, engine, short_name};

/// What `-o json` prints.
#[derive(Serialize)]
struct Tested {
    policy: String,
    ok: bool,
    fuel_per_candidate: u64,
    /// Whether it has an order of its own for launch lists, which no law is about.
    #[serde(skip)]
    orders: bool,
    laws: Vec<TestedLaw>,
}

#[derive(Serialize)]
struct TestedLaw {
    law: &'static str,
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    breach: Option<String>,
}

pub(crate) fn run(flags: &Test) -> Result<()> {
    let of_module = || format!("policy {}", flags.module);
    let source = module::source(&flags.module).with_context(of_module)?;
    let engine = engine()?;
    source.verify(&engine).with_context(of_module)?;
    let settings: Vec<&str> = flags.settings.iter().map(String::as_str).collect();
    let module = accept(&engine, &source.bytes, &settings).with_context(of_module)?;
    let began = Instant::now();
    let question = market::market();
    let held = laws::rank(&module, &question);
    let rows = question.pools.cand.len() as u64;
    let tested = Tested {
        policy: short_name(module.manifest()).to_owned(),
        ok: held.laws.iter().all(|law| law.breach.is_none()),
        fuel_per_candidate: held.fuel / rows.max(1),
        orders: module.manifest().orders,
        laws: held
            .laws
            .into_iter()
            .map(|law| TestedLaw {
                law: law.name,
                ok: law.breach.is_none(),
                breach: law.breach,
            })
            .collect(),
    };
    let took = began.elapsed().as_secs_f64();
    show(flags.output, &tested, || people(&tested, took))?;
    let broken = tested.laws.iter().filter(|law| !law.ok).count();
    if broken > 0 {
        bail!(
            "policy {}: {broken} of {} laws are broken",
            tested.policy,
            tested.laws.len()
        );
    }
    Ok(())
}

fn people(tested: &Tested, took: f64) -> String {
    let mark = if tested.ok { "ok" } else { "failed" };
    let mut text = format!(
        "{}  {} laws  {mark}  {took:.1} s  fuel {} per candidate\n",
        tested.policy,
        tested.laws.len(),
        tested.fuel_per_candidate
    );
    if tested.orders {
        text.push_str("  not held to any law: its order of launch lists\n");
    }
    let broken = tested.laws.iter().filter_map(|law| {
        let breach = law.breach.as_ref()?;
        Some(vec![format!("  broken: {}", law.law), breach.clone()])
    });
    text.push_str(&texts(&broken.collect::<Vec<_>>()));
    text
}
