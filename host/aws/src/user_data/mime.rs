//! MIME archives, as cloud-init takes them: parts, each with a header of its own.

use super::UserDataError;

/// A part: its headers, without the blank line behind them, and its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) headers: String,
    pub(crate) content: String,
}

impl Part {
    /// One whose only header is the type of its content.
    pub(crate) fn of_type(content_type: &str, content: impl Into<String>) -> Self {
        Self {
            headers: format!("Content-Type: {content_type}"),
            content: content.into(),
        }
    }
}

/// Type of a part that is run once the instance is up.
pub(super) const SCRIPT: &str = "text/x-shellscript; charset=\"us-ascii\"";

/// Text between parts.
const BOUNDARY: &str = "//";

/// `true` if text begins as an archive does.
pub(crate) fn is_archive(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with("MIME-Version:") || text.starts_with("Content-Type:")
}

/// User data of a class, in parts: an archive's own, or one part of the type that `type_of` gives its text. None of blank user data.
pub(super) fn parts_of(
    custom: Option<&str>,
    type_of: impl Fn(&str) -> &'static str,
) -> Result<Vec<Part>, UserDataError> {
    let Some(custom) = custom.filter(|custom| !custom.trim().is_empty()) else {
        return Ok(Vec::new());
    };
    if is_archive(custom) {
        return parse(custom).map_err(UserDataError::MalformedMime);
    }
    Ok(vec![Part::of_type(type_of(custom), custom)])
}

/// The parts of an archive; fails with what is missing.
pub(crate) fn parse(archive: &str) -> Result<Vec<Part>, String> {
    let text = archive.replace('\r', "");
    let (headers, body) = text
        .trim_start()
        .split_once("\n\n")
        .ok_or("there is no blank line behind its headers")?;
    let boundary = boundary(headers).ok_or("its headers name no boundary")?;
    let opening = format!("--{boundary}");
    let closing = format!("--{boundary}--");
    let mut parts = Vec::new();
    let mut open: Option<Vec<&str>> = None;
    for line in body.lines() {
        let is_closing = line.trim_end() == closing;
        if is_closing || line.trim_end() == opening {
            let ended = open.take();
            parts.extend(ended.map(|lines| part(&lines)));
            if is_closing {
                return Ok(parts);
            }
            open = Some(Vec::new());
        } else if let Some(lines) = &mut open {
            lines.push(line);
        }
    }
    Err(format!("it does not end with {closing}"))
}

/// The boundary that headers name, quoted or not; headers that are folded go on in the next line.
fn boundary(headers: &str) -> Option<String> {
    let unfolded = headers.replace("\n ", " ").replace("\n\t", " ");
    let of_type = unfolded.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.trim()
            .eq_ignore_ascii_case("content-type")
            .then(|| value.to_owned())
    })?;
    let (_, value) = of_type.split_once("boundary=")?;
    let value = value.trim();
    let name = match value.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next()?,
        None => value.split([';', ' ']).next()?,
    };
    (!name.is_empty()).then(|| name.to_owned())
}

fn part(lines: &[&str]) -> Part {
    let end = lines.iter().position(|line| line.is_empty());
    let (headers, content) = match end {
        Some(end) => (&lines[..end], &lines[end + 1..]),
        None => (&lines[..0], lines),
    };
    Part {
        headers: headers.join("\n"),
        content: content.join("\n"),
    }
}

/// An archive of parts, in their order.
pub(crate) fn serialize(parts: &[Part]) -> String {
    let part = |Part { headers, content }: &Part| format!("--{BOUNDARY}\n{headers}\n\n{content}\n");
    let parts: String = parts.iter().map(part).collect();
    let head = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=";
    let text = format!("{head}\"{BOUNDARY}\"\n\n{parts}--{BOUNDARY}--");
    text.replace('\r', "")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn archives_of_others_are_read_and_written_with_our_boundary() {
        let archive = "MIME-Version: 1.0\r\nContent-Type: multipart/mixed;\r\n boundary=BOUND; charset=x\r\n\r\npreamble\r\n--BOUND\r\nContent-Type: text/x-shellscript\r\nX-Other: y\r\n\r\n#!/bin/sh\r\n\r\necho\r\n--BOUND--\r\n";
        assert!(is_archive(archive));
        let parts = parse(archive).expect("parts");
        let expected = Part {
            headers: "Content-Type: text/x-shellscript\nX-Other: y".to_owned(),
            content: "#!/bin/sh\n\necho".to_owned(),
        };
        assert_eq!(parts, [expected]);
        assert_eq!(
            serialize(&parts),
            "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"//\"\n\n--//\nContent-Type: text/x-shellscript\nX-Other: y\n\n#!/bin/sh\n\necho\n--//--"
        );
    }

    #[test]
    fn what_is_no_archive_is_refused_for_what_it_lacks() {
        for (text, words) in [
            (
                "MIME-Version: 1.0",
                "there is no blank line behind its headers",
            ),
            (
                "MIME-Version: 1.0\n\n--//\n\n--//--",
                "its headers name no boundary",
            ),
            (
                "Content-Type: multipart/mixed; boundary=\"\"\n\n--//--",
                "its headers name no boundary",
            ),
            (
                "Content-Type: multipart/mixed; boundary=\"x\"\n\n--x\n\ncut",
                "it does not end with --x--",
            ),
        ] {
            assert!(is_archive(text));
            assert_eq!(parse(text), Err(words.to_owned()), "{text}");
        }
        assert!(!is_archive("#!/bin/bash\nContent-Type: none"));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(contents in proptest::collection::vec("[a-z\n :]{0,40}", 0..4)) {
            let parts: Vec<Part> = contents
                .into_iter()
                .map(|content| Part::of_type("text/plain", content.trim_end_matches('\n')))
                .collect();
            prop_assert_eq!(parse(&serialize(&parts)), Ok(parts));
        }

        #[test]
        fn no_text_makes_it_panic(text in "\\PC{0,80}|(Content-Type: |boundary=|--|\n|x){0,20}") {
            let _ = parse(&text);
        }
    }
}
