//! Scripts that a command line asks for.

use anyhow::{Context, Result};

use super::script::Script;
use super::scripts::drawn;

/// The scripts that the words ask for: all where there are none, those that are named, which may be among `by_name`, or the one that a seed
/// draws. Fails where a word is no name, or the seed no number.
pub fn asked<'s>(
    all: &'s [Script],
    by_name: &'s [Script],
    words: &[String],
) -> Result<Vec<&'s Script>> {
    if let [flag, seed] = words
        && flag == "--seed"
    {
        let seed: usize = seed.parse().with_context(|| {
            format!("--seed is \"{seed}\"; expected a whole number of at least 0")
        })?;
        let name = drawn(seed);
        return Ok(all.iter().filter(|script| script.name == name).collect());
    }
    for word in words {
        named(all, by_name, word)?;
    }
    if words.is_empty() {
        return Ok(all.iter().collect());
    }
    let is_asked = |script: &&Script| words.iter().any(|it| it == script.name);
    Ok(all.iter().chain(by_name).filter(is_asked).collect())
}

/// The script of a name, of all or of those that are played by their names alone.
pub fn named<'s>(all: &'s [Script], by_name: &'s [Script], name: &str) -> Result<&'s Script> {
    let known = || all.iter().chain(by_name);
    let found = known().find(|script| script.name == name);
    found.with_context(|| {
        let names: Vec<&str> = known().map(|script| script.name).collect();
        let names = names.join(", ");
        format!("\"{name}\" is no script; expected some of {names}")
    })
}

#[cfg(test)]
mod tests {
    use super::super::large::by_name;
    use super::super::scripts::scripts;
    use super::*;

    fn names(words: &[&str]) -> Result<Vec<&'static str>> {
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        let (all, by_name) = (scripts(), by_name()?);
        let asked = asked(&all, &by_name, &words)?;
        Ok(asked.iter().map(|script| script.name).collect())
    }

    #[test]
    fn a_script_that_is_played_by_its_name_alone_is_asked_for_by_nothing_else() {
        let all = names(&[]).expect("all of them");
        assert_eq!(all.len(), scripts().len());
        assert!(!all.contains(&"large"));
        assert_eq!(names(&["large"]).expect("it"), ["large"]);
        assert_eq!(names(&["large", "zone"]).expect("both"), ["zone", "large"]);
        let drawn = names(&["--seed", "0"]).expect("one");
        assert_eq!(drawn, ["plain"]);
    }

    #[test]
    fn a_word_that_names_none_is_refused_with_the_names_that_there_are() {
        let refused = names(&["zone", "wide"]).expect_err("no script").to_string();
        assert!(refused.starts_with("\"wide\" is no script; "), "{refused}");
        assert!(refused.ends_with(", role, large"), "{refused}");
        let refused = names(&["--seed", "x"]).expect_err("no number").to_string();
        assert!(refused.starts_with("--seed is \"x\"; "), "{refused}");
    }
}
