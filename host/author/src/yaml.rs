//! YAML as authors of policies write it: `yes` and `n` are texts, keys are given once, and what is wrong is told in a line.

use serde::de::DeserializeOwned;
use serde_saphyr::Options;

/// Reads a text, or says in one line what is wrong with it and where.
pub(crate) fn read<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let mut options = Options::default();
    options.with_snippet = false;
    options.strict_booleans = true;
    serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        let said = error.without_snippet().to_string();
        said.lines().next().unwrap_or_default().to_owned()
    })
}
