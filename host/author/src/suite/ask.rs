//! Puts a case's question to a policy and lays the checked answer out in columns and in words.

use plimsoll_hooks::allow::{AllowAnswer, Allowances};
use plimsoll_hooks::rank::{LaunchLists, OrderAnswer, PriceAnswer};
use plimsoll_hooks::score::{ScoreAnswer, Verdicts};
use plimsoll_policy::{
    BudgetModule, Checked, ConsolidationModule, Fault, Manifest, Module, Observer, Unit,
    ask_observed,
};

use super::answer::{Answer, Names, dollars, reason_text};
use super::fleet::Fleet;
use super::market::Market;
use super::pools::Declared;

/// Asks for what the host would ask for: prices of a policy that prices, orders of one that orders.
pub(super) fn rank(
    module: &Module,
    market: &Market,
    observer: &dyn Observer,
) -> Result<Answer, Fault> {
    let mut answer = Answer::default();
    let manifest = module.manifest();
    if manifest.unit == Unit::Dollars {
        let called = ask_observed(module, &market.price, Module::price, [observer]);
        told_prices(
            &mut answer,
            &called.result?.raw,
            &market.candidates,
            manifest,
        );
    }
    if let Some(question) = market.order.as_ref().filter(|_| manifest.orders) {
        let called = ask_observed(module, question, Module::order, [observer]);
        let Checked { raw, typed } = called.result?;
        told_lists(&mut answer, &typed, market);
        told_scores(&mut answer, raw, &market.slots, manifest);
    }
    Ok(answer)
}

fn told_prices(answer: &mut Answer, raw: &PriceAnswer, names: &Names, manifest: &Manifest) {
    let rows = raw.then.len();
    // What the next node costs: a price for no node is none.
    let next = |row: usize| {
        if raw.first_count[row] == 0 {
            raw.then[row]
        } else {
            raw.first[row]
        }
    };
    for row in 0..rows {
        let then = priced(raw.then[row], &reason_text(manifest, raw.then_reason[row]));
        let same = raw.first[row].to_bits() == raw.then[row].to_bits()
            && raw.first_reason[row] == raw.then_reason[row];
        let told = if raw.first_count[row] == 0 && same {
            then
        } else {
            let first = priced(
                raw.first[row],
                &reason_text(manifest, raw.first_reason[row]),
            );
            let (count, group) = (raw.first_count[row], raw.first_group[row]);
            let shared = if group == 0 {
                String::new()
            } else {
                format!(" of group {group}")
            };
            format!("{count}{shared} at {first}; then {then}")
        };
        answer.told.insert(names.name(row), told);
    }
    answer
        .numbers
        .insert("price", (0..rows).map(next).collect());
    answer.numbers.insert("first", raw.first.clone());
    let counts = raw.first_count.iter().map(|&count| f64::from(count));
    answer.numbers.insert("first-count", counts.collect());
    answer.numbers.insert("then", raw.then.clone());
    answer
        .reasons
        .insert("first-reason", raw.first_reason.clone());
    answer
        .reasons
        .insert("then-reason", raw.then_reason.clone());
}

fn priced(price: f64, reason: &str) -> String {
    format!("{}, {reason}", dollars(price))
}

fn told_scores(answer: &mut Answer, raw: OrderAnswer, names: &Names, manifest: &Manifest) {
    for (row, (&score, &reason)) in raw.score.iter().zip(&raw.reason).enumerate() {
        let reason = reason_text(manifest, reason);
        let told = if score == f64::INFINITY {
            format!("removed, {reason}")
        } else {
            format!("score {score}, {reason}")
        };
        answer.told.insert(names.name(row), told);
    }
    answer.numbers.insert("score", raw.score);
    answer.reasons.insert("score-reason", raw.reason);
}

fn told_lists(answer: &mut Answer, typed: &LaunchLists, market: &Market) {
    let slots = &market.slots.0;
    for (claim, list) in market.claims.iter().zip(&typed.claims) {
        let of_claim = slots.iter().filter(|(owner, _)| owner == claim);
        let items: Vec<&String> = of_claim.map(|(_, item)| item).collect();
        let kept = list.kept.iter().filter_map(|&place| items.get(place));
        let kept: Vec<String> = kept.map(|item| (*item).clone()).collect();
        answer.lists.insert(claim.clone(), kept);
    }
}

/// Asks what moves are worth.
pub(super) fn consolidate(
    module: &ConsolidationModule,
    fleet: &Fleet,
    observer: &dyn Observer,
) -> Result<Answer, Fault> {
    let ask = ConsolidationModule::score;
    let Checked { raw, typed } = ask_observed(module, &fleet.score, ask, [observer]).result?;
    let ScoreAnswer { value, reason } = raw;
    let Verdicts { worth, .. } = typed;
    let mut answer = Answer::default();
    for (row, (value, &code)) in value.iter().zip(&reason).enumerate() {
        let told = format!("{value}, {}", reason_text(module.manifest(), code));
        answer.told.insert(fleet.moves.name(row), told);
    }
    let does = worth.iter().map(|&row| fleet.moves.name(row)).collect();
    answer.lists.insert("does".to_owned(), does);
    answer.numbers.insert("value", value);
    answer.reasons.insert("reason", reason);
    Ok(answer)
}

/// Asks how many nodes may be down. More than declared is what is declared, as it is for the host.
pub(super) fn budget(
    module: &BudgetModule,
    declared: &Declared,
    observer: &dyn Observer,
) -> Result<Answer, Fault> {
    let ask = BudgetModule::allow;
    let Checked { raw, typed } = ask_observed(module, &declared.allow, ask, [observer]).result?;
    let AllowAnswer { reason, .. } = raw;
    let Allowances {
        rows,
        recheck_after,
    } = typed;
    let mut answer = Answer::default();
    for (row, allowance) in rows.iter().enumerate() {
        let (nodes, reason) = (
            allowance.nodes,
            reason_text(module.manifest(), allowance.reason),
        );
        answer
            .told
            .insert(declared.rows.name(row), format!("{nodes}, {reason}"));
    }
    let seconds = recheck_after.map_or(0, |span| span.millis() / 1_000);
    answer
        .told
        .insert("ask again".to_owned(), format!("after {seconds} s"));
    let nodes = rows.iter().map(|allowance| f64::from(allowance.nodes));
    answer.numbers.insert("nodes", nodes.collect());
    answer
        .numbers
        .insert("recheck-after-s", vec![seconds as f64]);
    answer.reasons.insert("reason", reason);
    Ok(answer)
}
