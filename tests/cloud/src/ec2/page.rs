//! Lists page by page.

use serde_json::{Value, json};

use crate::fault::Fault;

/// Sizes of pages that an operation allows.
pub(super) struct Sizes {
    /// The least that a call may ask for.
    pub(super) least: usize,
    /// The most.
    pub(super) most: usize,
    /// Entries of a page where the call does not say.
    pub(super) usual: usize,
}

impl Sizes {
    /// Those of most operations: all at once where the call does not say.
    pub(super) const USUAL: Self = Self {
        least: 5,
        most: 1_000,
        usual: usize::MAX,
    };
}

/// The page of a list that a request asks for, under that key, with the token of the next one. Tokens are numbers of entries.
pub(super) fn page<T>(
    input: &Value,
    key: &str,
    sizes: &Sizes,
    entries: &[T],
    write: impl Fn(&T) -> Value,
) -> Result<Value, Fault> {
    let from = match input["NextToken"].as_str() {
        None => 0,
        Some(text) => text.parse().map_err(|_| {
            let message = format!("Value ( {text} ) for parameter NextToken is invalid.");
            Fault::new("InvalidNextToken", message)
        })?,
    };
    let most = match input["MaxResults"].as_str() {
        None => sizes.usual,
        Some(text) => {
            let number = text.parse().ok();
            let number = number.filter(|number| (sizes.least..=sizes.most).contains(number));
            number.ok_or_else(|| {
                let (least, most) = (sizes.least, sizes.most);
                Fault::invalid(format!(
                    "Value ( {text} ) for parameter maxResults is invalid. Expecting a value between {least} and {most}."
                ))
            })?
        }
    };
    let entries = entries.get(from..).unwrap_or_default();
    let page: Vec<Value> = entries.iter().take(most).map(write).collect();
    let next = (page.len() < entries.len()).then(|| (from + page.len()).to_string());
    Ok(json!({key: page, "nextToken": next}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_follow_each_other_until_there_is_no_token() {
        let entries: Vec<u32> = (0..12).collect();
        let ask = |token: Option<&str>| {
            let mut input = json!({"MaxResults": "5"});
            input["NextToken"] = json!(token);
            page(&input, "set", &Sizes::USUAL, &entries, |own| json!(own)).expect("a page")
        };
        assert_eq!(ask(None), json!({"set": [0, 1, 2, 3, 4], "nextToken": "5"}));
        assert_eq!(ask(Some("5"))["nextToken"], "10");
        assert_eq!(ask(Some("10")), json!({"set": [10, 11], "nextToken": null}));
    }

    #[test]
    fn sizes_and_tokens_that_are_none_are_refused() {
        for (input, code) in [
            (json!({"MaxResults": "4"}), "InvalidParameterValue"),
            (json!({"MaxResults": "1001"}), "InvalidParameterValue"),
            (json!({"MaxResults": "all"}), "InvalidParameterValue"),
            (json!({"NextToken": "next"}), "InvalidNextToken"),
        ] {
            let refused = page(&input, "set", &Sizes::USUAL, &[1], |own| json!(own));
            assert_eq!(refused.expect_err("refused").code, code, "{input}");
        }
    }
}
