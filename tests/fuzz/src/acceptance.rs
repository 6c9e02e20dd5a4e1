//! Acceptance of modules: whatever the bytes are, they are refused at one step with words for people, or they are a module.

use std::sync::LazyLock;

use plimsoll_guests::{BOMBS, HOSTILE, HOSTILE_BUDGET, handmade};
use plimsoll_hooks::hook::PolicySettings;
use plimsoll_policy::{Compiler, Engine, EngineSettings, Helper, Refusal, Step};

use crate::Draw;

/// Most bytes of the words of a refusal.
const WORDS: usize = 4 << 10;

/// Nothing is compiled: what comes as far as that is refused for want of a compiler.
static ENGINE: LazyLock<Engine> = LazyLock::new(|| {
    let settings = EngineSettings {
        compiler: Compiler::Child(Helper::new("/nowhere/compiler")),
        ..EngineSettings::default()
    };
    Engine::new(settings).expect("the engine starts")
});

/// Modules to begin with.
static MODULES: LazyLock<Vec<&'static [u8]>> = LazyLock::new(|| {
    let made = ["gives-away", "start-loops", "table-grows"];
    let bombs = BOMBS.iter().map(|(name, _)| *name);
    let made = made.into_iter().chain(bombs).filter_map(handmade);
    let shipped = plimsoll_policies::CONSOLIDATION.iter();
    let shipped = shipped.map(|shipped| shipped.bytes);
    let written = [HOSTILE, HOSTILE_BUDGET].into_iter();
    written.chain(shipped).chain(made).collect()
});

/// One module.
pub(crate) fn run(draw: &mut Draw) {
    let mut module = draw.pick(&MODULES).to_vec();
    draw.change(&mut module);
    let seen = ENGINE.examine(&module, &|_| Ok(PolicySettings::new()));
    let steps: Vec<Step> = seen.passed.iter().map(|passed| passed.step).collect();
    assert!(steps.is_sorted(), "steps out of order: {steps:?}");
    let refusal = seen.end.expect_err("nobody can compile it");
    judge(&refusal);
    let is_past = steps.last().is_some_and(|last| *last >= refusal.step());
    assert!(!is_past, "refused at {} after {steps:?}", refusal.step());
    let inspected = ENGINE.inspect(&module);
    assert_eq!(
        inspected.is_ok(),
        steps.contains(&Step::Signals),
        "an inspection ends elsewhere than an examination: {refusal}"
    );
    if let Ok(inspection) = inspected {
        assert_eq!(
            ENGINE.inflate(&module).map(|bytes| bytes.len()),
            Ok(inspection.size)
        );
    }
}

/// Words for people: short, on one line, without what moves a cursor.
pub(crate) fn judge(refusal: &Refusal) {
    judge_words(&refusal.to_string());
    assert!(!refusal.hint().is_empty());
}

pub(crate) fn judge_words(words: &str) {
    assert!(
        !words.is_empty() && words.len() < WORDS,
        "{} bytes",
        words.len()
    );
    assert!(!words.contains(char::is_control), "{words:?}");
}
