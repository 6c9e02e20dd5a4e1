//! Specs that we decline to pass, each with the reason: rows of `DECLINED.md`, whose first cell is the name of the spec in backticks.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, bail};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../DECLINED.md");

/// Reasons by the names of specs.
#[derive(Debug, Default)]
pub(crate) struct Declined(BTreeMap<String, String>);

impl Declined {
    /// Reads the page beside this crate.
    pub(crate) fn read() -> Result<Self> {
        let page = Path::new(PAGE);
        let text = std::fs::read_to_string(page).with_context(|| PAGE.to_owned())?;
        Self::from_page(&text).with_context(|| PAGE.to_owned())
    }

    /// The reason for declining a spec; `None` where it has to pass.
    pub(crate) fn reason(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    fn from_page(text: &str) -> Result<Self> {
        let mut reasons = BTreeMap::new();
        for row in text.lines().filter(|line| line.starts_with("| `")) {
            let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
            match cells[..] {
                [name, reason] if !reason.is_empty() => {
                    reasons.insert(name.trim_matches('`').to_owned(), reason.to_owned());
                }
                _ => bail!("{row}: expected two cells, the name of a spec and a reason"),
            }
        }
        Ok(Self(reasons))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_name_a_spec_are_read() {
        let page =
            "# Declined\n\n| spec | reason |\n|---|---|\n| `Drift should wait` | ours does not |\n";
        let declined = Declined::from_page(page).unwrap();
        assert_eq!(declined.reason("Drift should wait"), Some("ours does not"));
        assert_eq!(declined.reason("Drift"), None);
        assert!(Declined::from_page("| `Drift should wait` | |").is_err());
        Declined::read().unwrap();
    }
}
