//! Prints what asking consolidation and budget modules costs, with a fresh instance and all limits on, next to the core doing
//! the same in the same run.
//!
//! The score question is 2,000 moves of 5,000 nodes; the bar is 1 ms at the median. The allow question is 20 pools with three
//! reasons each; the bar is 100 us. Times depend on the machine and what else it does; the ratio less so; fuel not at all.

#[path = "../tests/common/fleet.rs"]
mod fleet;
mod table;

use plimsoll_hooks::allow::grant;
use plimsoll_hooks::hook::{PolicySettings, Setting};
use plimsoll_hooks::score::{SavingsThreshold, check_verdicts, savings_threshold};
use plimsoll_policy::{BudgetModule, ConsolidationModule, Engine, EngineSettings};

use self::table::{Times, asked, line};

const SCORE_CALLS: usize = 1_000;
const ALLOW_CALLS: usize = 3_000;

#[expect(clippy::print_stdout, reason = "the table is what this program is for")]
fn main() {
    let engine = Engine::new(EngineSettings::default()).expect("the engine starts");
    println!("{}", table::head());

    let question = fleet::question(5_000, 2_000);
    let rows = question.moves.len();
    let native = Times::of(SCORE_CALLS, || {
        let answer = savings_threshold(&question, &SavingsThreshold::default());
        let verdicts = std::hint::black_box(check_verdicts(&question, &answer));
        assert!(verdicts.is_ok(), "what the core answers passes");
    });
    println!("{}", line("score, native", rows, &native, &native));
    for shipped in plimsoll_policies::CONSOLIDATION {
        let module = engine.accept_as::<ConsolidationModule>(shipped.bytes, &PolicySettings::new());
        let module = module.expect("a shipped module is accepted");
        let (times, used) = asked(SCORE_CALLS, rows, || module.score(&question));
        let name = format!("score, {}", shipped.name);
        let start = line(&name, rows, &times, &native);
        println!("{start}{used}{:>8}", shipped.bytes.len());
    }

    let question = fleet::pools(20);
    let rows = question.pools.len();
    let native = Times::of(ALLOW_CALLS, || {
        assert_eq!(std::hint::black_box(grant(&question, &[])).rows.len(), rows);
    });
    println!("{}", line("allow, native", rows, &native, &native));
    for shipped in plimsoll_policies::BUDGET {
        let module = engine.accept_as::<BudgetModule>(shipped.bytes, &settings_of(shipped.name));
        let module = module.expect("a shipped module is accepted");
        let (times, used) = asked(ALLOW_CALLS, rows, || module.allow(&question));
        let name = format!("allow, {}", shipped.name);
        let start = line(&name, rows, &times, &native);
        println!("{start}{used}{:>8}", shipped.bytes.len());
    }
}

/// Settings of those that have some without a default.
fn settings_of(policy: &str) -> PolicySettings {
    let texts =
        |texts: &[&str]| Setting::Texts(texts.iter().map(|&text| text.to_owned()).collect());
    let (name, value) = match policy {
        "maintenance-window" => (
            "windows",
            texts(&["daily 01:00-05:00", "sat-sun 22:00-04:00"]),
        ),
        "freeze-calendar" => ("freezes", texts(&["2026-12-20..2027-01-02"])),
        _ => return PolicySettings::new(),
    };
    PolicySettings::from([(name.to_owned(), value)])
}
