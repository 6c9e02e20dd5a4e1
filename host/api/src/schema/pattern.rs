//! Patterns that fields are held against, by name, with what to tell who misses one.
//!
//! The expressions are the API's own, quirks included, so that what passes here passes there.

use std::sync::LazyLock;

use regex_lite::Regex;

/// A pattern and its words.
pub(crate) struct Pattern {
    /// The name by which tables of fields refer to it.
    name: &'static str,
    /// The form in words, to follow `expected`.
    pub(crate) expected: &'static str,
    /// The expression as an API server takes it.
    pub(crate) expression: &'static str,
    compiled: LazyLock<Regex>,
}

impl Pattern {
    /// The pattern of a name.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        PATTERNS.iter().find(|pattern| pattern.name == name)
    }

    /// `true` if a text fits.
    pub(crate) fn fits(&self, text: &str) -> bool {
        self.compiled.is_match(text)
    }
}

macro_rules! patterns {
    ($({ name: $name:literal, expression: $expression:literal, expected: $expected:literal })*) => {
        [$(Pattern {
            name: $name,
            expected: $expected,
            expression: $expression,
            compiled: LazyLock::new(|| {
                Regex::new($expression).expect("a test compiles every pattern")
            }),
        }),*]
    };
}

static PATTERNS: [Pattern; 23] = patterns![
    {
        name: "quantity",
        expression: r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$",
        expected: "a quantity such as 2, 1.5, 250m or 4Gi"
    }
    {
        name: "span-or-never",
        expression: r"^(([0-9]+(s|m|h))+|Never)$",
        expected: "a duration in hours, minutes and seconds such as 720h or 30s, or Never"
    }
    {
        name: "span",
        expression: r"^([0-9]+(s|m|h))+$",
        expected: "a duration in hours, minutes and seconds such as 1h30m"
    }
    {
        name: "window",
        expression: r"^((([0-9]+(h|m))|([0-9]+h[0-9]+m))(0s)?)$",
        expected: "a duration in hours and minutes such as 8h or 1h30m"
    }
    {
        name: "schedule",
        expression: r"^(@(annually|yearly|monthly|weekly|daily|midnight|hourly))|((.+)\s(.+)\s(.+)\s(.+)\s(.+))$",
        expected: "five fields of a cron line such as 0 9 * * 1-5, or @daily and its like"
    }
    {
        name: "share-or-count",
        expression: r"^((100|[0-9]{1,2})%|[0-9]+)$",
        expected: "a count such as \"5\" or whole percents up to 100% such as 10%"
    }
    {
        name: "label-key",
        expression: r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*(\/))?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$",
        expected: "a label key such as team or example.com/team"
    }
    {
        name: "label-value",
        expression: r"^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$",
        expected: "letters, digits, dashes, underscores and dots, the ends letters or digits"
    }
    {
        name: "no-slash",
        expression: r"^[^/]*$",
        expected: "an API group without its version, such as karpenter.k8s.aws"
    }
    {
        name: "price",
        expression: r"^\d+(\.\d+)?$",
        expected: "dollars per hour in plain decimals such as \"0.25\""
    }
    {
        name: "price-change",
        expression: r"^(([+-]{1}(\d*\.?\d+))|(\+{1}\d*\.?\d+%)|(^(-\d{1,2}(\.\d+)?%)$)|(-100%))$",
        expected: "an amount or percents with a sign such as +0.05 or -10%, and no less than -100%"
    }
    {
        name: "volume-size",
        expression: r"^((?:[1-9][0-9]{0,3}|[1-4][0-9]{4}|[5][0-8][0-9]{3}|59000)Gi|(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|[6][0-3][0-9]{3}|64000)G|([1-9]||[1-5][0-7]|58)Ti|([1-9]||[1-5][0-9]|6[0-3]|64)T)$",
        expected: "a whole size of 1Gi to 59000Gi such as 100Gi"
    }
    { name: "image-id", expression: r"ami-[0-9a-z]+", expected: "the id of an image such as ami-0abc" }
    { name: "subnet-id", expression: r"subnet-[0-9a-z]+", expected: "the id of a subnet such as subnet-0abc" }
    { name: "group-id", expression: r"sg-[0-9a-z]+", expected: "the id of a security group such as sg-0abc" }
    { name: "reservation-id", expression: r"^cr-[0-9a-z]+$", expected: "the id of a capacity reservation such as cr-0abc" }
    { name: "placement-id", expression: r"^pg-[0-9a-z]+$", expected: "the id of a placement group such as pg-0abc" }
    { name: "account", expression: r"^[0-9]{12}$", expected: "the twelve digits of an account" }
    { name: "reason", expression: r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$", expected: "one word in camel case" }
    { name: "reason-or-empty", expression: r"^([A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?|)$", expected: "one word in camel case, or nothing" }
    {
        name: "condition",
        expression: r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$",
        expected: "the name of a condition"
    }
    { name: "sha256", expression: r"^[0-9a-f]{64}$", expected: "a SHA-256 of 64 hexadecimal digits in lower case" }
    { name: "call-time", expression: r"^[1-9][0-9]{0,5}(ms|s)$", expected: "a CPU time in whole milliseconds or seconds such as 100ms" }
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles_under_a_name_of_its_own() {
        for (at, pattern) in PATTERNS.iter().enumerate() {
            // Compiling an expression that is none panics.
            LazyLock::force(&pattern.compiled);
            let first = PATTERNS.iter().position(|other| other.name == pattern.name);
            assert_eq!(first, Some(at), "{}", pattern.name);
        }
    }

    #[test]
    fn a_schedule_passes_with_the_quirks_of_the_api() {
        let schedule = Pattern::named("schedule").unwrap();
        assert!(schedule.fits("0 9 * * 1-5"));
        assert!(schedule.fits("@dailyX"), "the API lets it pass");
        assert!(!schedule.fits("0 9 * *"));
    }
}
