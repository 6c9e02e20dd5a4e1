//! Filters of lists: all of them must hold, and of each one of its values; `*` and `?` stand for characters.

use serde_json::Value;

use crate::fault::Fault;
use crate::world::Tags;

/// A filter of a request.
pub(super) struct Filter<'i> {
    name: &'i str,
    values: Vec<&'i str>,
}

/// The filters of a request. Two of one name must both hold.
pub(super) fn filters(input: &Value) -> Result<Vec<Filter<'_>>, Fault> {
    let entries = input["Filter"].as_array().into_iter().flatten();
    entries
        .map(|entry| {
            let values = super::texts(entry, "Value");
            let name = entry["Name"].as_str().unwrap_or_default();
            if name.is_empty() || values.is_empty() {
                return Err(Fault::new(
                    "InvalidParameterValue",
                    "The filter 'null' is invalid",
                ));
            }
            Ok(Filter { name, values })
        })
        .collect()
}

/// `true` if something with these tags passes all filters; `values` has what it is by a filter's name, and `None` for names that its kind does
/// not know, which is an error.
pub(super) fn passes(
    filters: &[Filter<'_>],
    tags: &Tags,
    values: impl Fn(&str) -> Option<Vec<String>>,
) -> Result<bool, Fault> {
    for filter in filters {
        let own = match (filter.name.strip_prefix("tag:"), filter.name) {
            (Some(key), _) => tags.get(key).cloned().into_iter().collect(),
            (None, "tag-key") => tags.keys().cloned().collect(),
            (None, name) => values(name).ok_or_else(|| {
                let message = format!("The filter '{name}' is invalid");
                Fault::new("InvalidParameterValue", message)
            })?,
        };
        let fits = |own: &String| filter.values.iter().any(|wanted| is_like(own, wanted));
        if !own.iter().any(fits) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// `true` if text is as a pattern says, in which `*` stands for any characters and `?` for one.
fn is_like(text: &str, pattern: &str) -> bool {
    let (text, pattern): (Vec<char>, Vec<char>) =
        (text.chars().collect(), pattern.chars().collect());
    let (mut at, mut star) = ((0, 0), None);
    while at.0 < text.len() {
        match pattern.get(at.1) {
            Some('*') => {
                star = Some(at);
                at.1 += 1;
            }
            Some(wanted) if *wanted == '?' || *wanted == text[at.0] => at = (at.0 + 1, at.1 + 1),
            _ => match &mut star {
                Some(last) => {
                    last.0 += 1;
                    at = (last.0, last.1 + 1);
                }
                None => return false,
            },
        }
    }
    pattern[at.1..].iter().all(|rest| *rest == '*')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn patterns_fit_as_a_shell_would_say() {
        for (text, pattern, fits) in [
            ("amazon-eks-1", "amazon-*", true),
            ("amazon-eks-1", "*eks*", true),
            ("amazon-eks-1", "amazon-???-1", true),
            ("amazon-eks-1", "amazon", false),
            ("", "*", true),
            ("", "?", false),
            ("aab", "a*ab", true),
            ("aXbXc", "a*X?", true),
        ] {
            assert_eq!(is_like(text, pattern), fits, "{text} {pattern}");
        }
    }

    #[test]
    fn filters_of_one_name_must_both_hold_and_unknown_ones_are_refused() {
        let input = json!({"Filter": [
            {"Name": "tag-key", "Value": ["a"]}, {"Name": "tag-key", "Value": ["b"]},
        ]});
        let tags = |keys: &[&str]| {
            keys.iter()
                .map(|key| ((*key).to_owned(), String::new()))
                .collect::<Tags>()
        };
        let filters = filters(&input).expect("filters");
        let known = |_: &str| None;
        assert_eq!(passes(&filters, &tags(&["a", "b"]), known), Ok(true));
        assert_eq!(passes(&filters, &tags(&["b"]), known), Ok(false));
        let input = json!({"Filter": [{"Name": "colour", "Value": ["red"]}]});
        let filters = super::filters(&input).expect("filters");
        let refused = passes(&filters, &tags(&[]), known).expect_err("unknown");
        assert_eq!(refused.message, "The filter 'colour' is invalid");
    }
}
