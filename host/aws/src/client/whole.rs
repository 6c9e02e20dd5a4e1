//! Answers of EC2 that lack their end. What there is of one can be read all the same, as an answer that says less: instances that were given
//! would be missing from it. It counts as no answer.

use aws_sdk_ec2::config::interceptors::AfterDeserializationInterceptorContextRef;
use aws_sdk_ec2::config::{ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_ec2::error::BoxError;

/// Refuses answers without their end.
#[derive(Debug)]
pub(super) struct WholeAnswers;

impl Intercept for WholeAnswers {
    fn name(&self) -> &'static str {
        "answers have their end"
    }

    fn read_after_deserialization(
        &self,
        context: &AfterDeserializationInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let body = context.response().body().bytes();
        if context.output_or_error().is_ok() && body.is_some_and(|body| !is_whole(body)) {
            return Err("the answer lacks its end".into());
        }
        Ok(())
    }
}

/// `true` for a text that ends with the end of the element that it begins with, such as `CreateFleetResponse`.
fn is_whole(body: &[u8]) -> bool {
    let text = String::from_utf8_lossy(body);
    let Some(name) = root(&text) else {
        return false;
    };
    let before = text.trim_end().strip_suffix('>');
    let before = before.and_then(|before| before.strip_suffix(name));
    before.is_some_and(|before| before.ends_with("</"))
}

/// Name of the first element of a text; `None` where it has none.
fn root(text: &str) -> Option<&str> {
    let mut tags = text.match_indices('<').map(|(at, _)| &text[at + 1..]);
    let first = tags.find(|tag| tag.starts_with(char::is_alphabetic))?;
    let ends = |letter: char| letter.is_whitespace() || "/>".contains(letter);
    first.split(ends).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_ends_with_the_element_that_it_begins_with() {
        for (text, expected) in [
            ("<DescribeVpcsResponse><a/></DescribeVpcsResponse>", true),
            ("<DescribeVpcsResponse></DescribeVpcsResponse>\n", true),
            ("<?xml version=\"1.0\"?>\n<a:B xmlns:a=\"c\"></a:B>", true),
            ("<DescribeVpcsResponse>", false),
            ("<DescribeVpcsResponse><a>1</a>", false),
            ("<?xml version=\"1.0\"?>", false),
            ("<DescribeVpcsResponse></DescribeVpcsResp", false),
            ("", false),
        ] {
            assert_eq!(is_whole(text.as_bytes()), expected, "{text}");
        }
    }
}
