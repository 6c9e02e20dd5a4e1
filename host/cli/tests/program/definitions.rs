//! `plimsoll schema crds` prints the definitions that the API's types have, in YAML that everybody reads alike.

use plimsoll_api::crd::{self, Provider};
use serde_json::Value;

use crate::user::plimsoll;

fn printed(arguments: &[&str]) -> Vec<Value> {
    let out = plimsoll(&[&["schema", "crds"], arguments].concat())
        .ok()
        .out;
    serde_saphyr::from_multiple(&out).expect("documents of YAML")
}

#[test]
fn definitions_are_printed_for_a_provider_or_for_all() {
    assert_eq!(printed(&["aws"]), crd::definitions(Provider::Aws));
    assert_eq!(printed(&["kwok"]), crd::definitions(Provider::Kwok));
    let all = printed(&[]);
    let kinds: Vec<&str> = all
        .iter()
        .filter_map(|definition| definition["spec"]["names"]["kind"].as_str())
        .collect();
    assert_eq!(
        kinds,
        [
            "NodePool",
            "NodeClaim",
            "NodeOverlay",
            "CapacityBuffer",
            "EC2NodeClass",
            "Policy",
            "KWOKNodeClass",
        ]
    );
}

/// Words that are true or false to older readers of YAML, such as `kubectl`, are in quotes.
#[test]
fn words_that_could_be_read_as_true_or_false_are_in_quotes() {
    let out = plimsoll(&["schema", "crds"]).ok().out;
    for word in ["Off", "True", "False"] {
        assert!(
            out.lines()
                .any(|line| line.trim() == format!("- \"{word}\"")
                    || line.trim() == format!("- '{word}'")),
            "{word}"
        );
        assert!(
            !out.lines().any(|line| line.trim() == format!("- {word}")),
            "{word}"
        );
    }
}

#[test]
fn another_provider_has_no_definitions() {
    let refused = plimsoll(&["schema", "crds", "kwock"]);
    assert_eq!(
        (refused.code, refused.error()),
        (
            1,
            "there are no definitions for provider \"kwock\"; did you mean kwok?; expected aws or kwok, or none for all definitions"
        )
    );
}
