//! Names of clouds: the core has none. What it must know of a provider is handed to it as a value (`plimsoll_model::provider`).
//!
//! Read from the text, comments and tests of the core included; a name counts wherever it begins a word.

use crate::tree::Tree;

/// Beginnings of words that only one provider uses.
const CLOUDS: &[&str] = &[
    "amazon", "aws", "azure", "ebs", "ec2", "eks", "gce", "gcp", "gke", "kwok", "nitro",
];

/// Places in the core that name a cloud.
pub fn named(tree: &Tree) -> Vec<String> {
    let core = tree.core();
    core.flat_map(|(path, text)| named_in(path, text)).collect()
}

fn named_in(path: &str, text: &str) -> Vec<String> {
    let mut breaches = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.to_lowercase();
        let words = line.split(|letter: char| !letter.is_ascii_alphanumeric());
        for word in words.filter(|word| CLOUDS.iter().any(|cloud| word.starts_with(cloud))) {
            breaches.push(format!(
                "{path}:{}: {word} is a cloud's; let the provider hand it in",
                number + 1
            ));
        }
    }
    breaches
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Vec<String> {
        named(&Tree::of(&[
            ("host/core/model/src/a.rs", text),
            ("host/ec2-facts/src/a.rs", text),
        ]))
    }

    #[test]
    fn a_cloud_in_the_core_is_a_breach_in_code_and_in_words() {
        let breach = |line: usize, word: &str| {
            format!(
                "host/core/model/src/a.rs:{line}: {word} is a cloud's; let the provider hand it in"
            )
        };
        assert_eq!(
            check("const DOMAIN: &str = \"karpenter.k8s.aws\";"),
            [breach(1, "aws")]
        );
        assert_eq!(
            check("\nconst AWS_DOMAIN: &str = OTHER;"),
            [breach(2, "aws")]
        );
        assert_eq!(
            check("/// As an EC2NodeClass on AWS says."),
            [breach(1, "ec2nodeclass"), breach(1, "aws")]
        );
    }

    #[test]
    fn letters_inside_a_word_are_no_breach() {
        assert_eq!(check("fn draws_on(laws: Laws) { seeks(laws); }"), [""; 0]);
    }
}
