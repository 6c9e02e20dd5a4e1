//! Every policy that we ship is proven by the files beside it, through the code that `policy test` and `policy bench` run: a policy
//! without a suite, goldens or a fuel baseline fails here.

use plimsoll_author::bench::{Baseline, questions};
use plimsoll_author::golden::Goldens;
use plimsoll_author::proof::{accept, prove};
use plimsoll_author::suite::Suite;
use plimsoll_author::vectors;
use plimsoll_hooks::hook::PolicySettings;
use plimsoll_policies::Shipped;
use plimsoll_policy::{AnyModule, Engine, EngineSettings, SelfTestLimits};

/// Percent that fuel may rise above the baseline, as `policy bench` has it by default.
const TOLERANCE: u32 = 5;

/// A shipped policy, taken in under the settings that its suite begins with.
fn accepted(engine: &Engine, shipped: &Shipped) -> Result<(AnyModule, Suite), String> {
    let inspection = engine
        .inspect(shipped.bytes)
        .map_err(|error| error.to_string())?;
    let text = shipped.suite.ok_or("there is no suite.yaml")?;
    let suite = Suite::read("suite.yaml", text, &inspection.manifest);
    let suite = suite.map_err(|error| error.to_string())?;
    let policy = accept(engine, shipped.bytes, Some(&suite), &|_| {
        Ok(PolicySettings::new())
    });
    Ok((policy.map_err(|error| error.to_string())?, suite))
}

/// Everything that is wrong with a shipped policy.
fn faults(engine: &Engine, shipped: &Shipped) -> Result<Vec<String>, String> {
    let (policy, suite) = accepted(engine, shipped)?;
    if suite.is_empty() {
        return Err("the suite has no case".to_owned());
    }
    let goldens = shipped.goldens.ok_or("there is no goldens.yaml")?;
    let goldens = Goldens::read("goldens.yaml", goldens).map_err(|error| error.to_string())?;
    let proof = prove(&policy, Some(&suite), Some(&goldens));
    let mut faults = Vec::new();
    for tried in &proof.cases {
        faults.extend(
            tried
                .failures
                .iter()
                .map(|failure| format!("{}: {failure}", tried.case)),
        );
    }
    faults.extend(
        proof
            .differences
            .iter()
            .map(|row| format!("not as recorded: {row:?}")),
    );
    let broken = proof.held.laws.iter().filter(|law| law.breach.is_some());
    faults.extend(broken.map(|law| format!("broken: {law:?}")));

    let baseline = shipped.fuel.ok_or("there is no fuel.yaml")?;
    let baseline = Baseline::read("fuel.yaml", baseline).map_err(|error| error.to_string())?;
    let asked = questions(&policy);
    if asked.len() != baseline.fuel.len() {
        faults.push(format!("fuel.yaml is about {:?}", baseline.fuel.keys()));
    }
    for asked in asked {
        let used = asked.ask().map_err(|fault| fault.to_string())?;
        let most = baseline.most(asked.name, TOLERANCE);
        if most.is_none_or(|most| used.fuel > most) {
            faults.push(format!(
                "{}: {} fuel, at most {most:?}",
                asked.name, used.fuel
            ));
        }
    }
    Ok(faults)
}

/// C21 for the expanders among them.
#[test]
fn every_shipped_policy_keeps_its_suite_its_goldens_its_laws_and_its_fuel() {
    let engine = Engine::new(EngineSettings::default()).expect("the engine starts");
    let mut all = Vec::new();
    for shipped in plimsoll_policies::all() {
        let faults = faults(&engine, shipped).unwrap_or_else(|fault| vec![fault]);
        all.extend(
            faults
                .into_iter()
                .map(|fault| format!("{}: {fault}", shipped.package)),
        );
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
}

#[test]
fn the_suite_of_every_shipped_policy_can_be_carried_by_it() {
    let engine = Engine::new(EngineSettings::default()).expect("the engine starts");
    let limits = SelfTestLimits::default();
    for shipped in plimsoll_policies::all() {
        let (policy, suite) = accepted(&engine, shipped).expect("it is proven elsewhere");
        let made = vectors::of_suite(&engine, &policy, &suite, &limits);
        let (_, made) = made.expect("memory can be written");
        let name = shipped.package;
        assert_eq!(made.holds.vectors, made.found, "{name}: all of them fit");
        assert_eq!(policy.hold_to(&made.bytes), Ok(made.holds), "{name}");
    }
}

/// A suite that nothing could fail would prove nothing.
#[test]
fn no_policy_passes_the_cases_of_another_of_its_hook() {
    let engine = Engine::new(EngineSettings::default()).expect("the engine starts");
    for table in [
        plimsoll_policies::RANKING,
        plimsoll_policies::CONSOLIDATION,
        plimsoll_policies::BUDGET,
    ] {
        for (shipped, other) in table.iter().zip(table.iter().cycle().skip(1)) {
            let (policy, _) = accepted(&engine, shipped).expect("it is proven elsewhere");
            let text = other.suite.expect("every policy has a suite");
            // Reasons and settings differ, so that most suites are not even read for another policy.
            let Ok(suite) = Suite::read("suite.yaml", text, policy.manifest()) else {
                continue;
            };
            let failed = suite
                .run(&policy)
                .iter()
                .any(|tried| !tried.failures.is_empty());
            assert!(
                failed,
                "{} passes the suite of {}",
                shipped.package, other.package
            );
        }
    }
}
