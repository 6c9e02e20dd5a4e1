//! Signals that policies name: the host sends those of the policies we ship, and refuses a module that requires another.

use plimsoll_policy::{Engine, EngineSettings};

#[test]
fn every_signal_that_a_shipped_policy_names_is_sent_by_the_host() {
    let engine = Engine::new(EngineSettings::default()).expect("the engine starts");
    let mut named = 0;
    for shipped in plimsoll_policies::all() {
        let inspected = engine.inspect(shipped.bytes).expect("it is a module");
        let manifest = &inspected.manifest;
        for signal in manifest
            .required_columns
            .iter()
            .chain(&manifest.optional_columns)
        {
            named += 1;
            assert!(
                manifest.hook.signals().contains(&signal.as_str()),
                "{} names the signal {signal}, which the host does not send",
                shipped.package
            );
        }
    }
    assert!(named > 0, "no shipped policy names a signal");
}
