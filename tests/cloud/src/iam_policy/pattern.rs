//! Patterns of policy documents: `*` stands for any text, `?` for one letter.

/// `true` if a text fits a pattern as a whole.
pub(super) fn fits(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut at, mut in_text) = (0, 0);
    // The last star, and how much of the text it stands for so far ends here.
    let mut star: Option<(usize, usize)> = None;
    while in_text < text.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, in_text));
                at += 1;
            }
            Some(letter) if *letter == b'?' || *letter == text[in_text] => {
                at += 1;
                in_text += 1;
            }
            _ => {
                let Some((own, end)) = star else { return false };
                star = Some((own, end + 1));
                (at, in_text) = (own + 1, end + 1);
            }
        }
    }
    pattern[at..].iter().all(|letter| *letter == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_any_text_and_question_marks_for_a_letter() {
        for (pattern, text, is_so) in [
            ("*", "", true),
            ("*", "a", true),
            ("", "a", false),
            ("a", "a", true),
            ("a", "ab", false),
            ("a*", "a", true),
            ("*b*d", "abcbcd", true),
            ("*b*d", "abcbc", false),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("a**", "abc", true),
            (
                "arn:aws:ec2:*:*:instance/*",
                "arn:aws:ec2:r:1:instance/i-1",
                true,
            ),
            (
                "arn:aws:ec2:*:*:instance/*",
                "arn:aws:ec2:r:1:volume/v-1",
                false,
            ),
        ] {
            assert_eq!(fits(pattern, text), is_so, "{pattern} {text}");
        }
    }
}
