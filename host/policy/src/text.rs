//! Text of a module on its way to terminals, events and pages: control characters out, length capped.
//!
//! Escaping for HTML is the page's business; here it becomes a text of one line that cannot move a cursor.

/// Most bytes of a message.
pub(crate) const MESSAGE: usize = 1024;
/// Most bytes of a name.
pub(crate) const NAME: usize = 256;

/// `text` with control and direction characters replaced by spaces, cut to `cap` bytes with an ellipsis.
pub(crate) fn clean(text: &str, cap: usize) -> String {
    let mut out = String::new();
    for character in text.chars() {
        if out.len() + character.len_utf8() > cap {
            out.push('…');
            break;
        }
        out.push(if is_dangerous(character) {
            ' '
        } else {
            character
        });
    }
    out.trim_end().to_owned()
}

/// Control characters, line separators, and the invisible characters that turn text around.
fn is_dangerous(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{200b}'..='\u{200f}' | '\u{feff}')
}

/// Edits between two names: for the closest known one.
pub(crate) fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (line, from) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = line + 1;
        for (column, to) in right.iter().enumerate() {
            let kept = diagonal + usize::from(from != *to);
            diagonal = row[column + 1];
            row[column + 1] = kept.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_and_line_ends_become_spaces() {
        assert_eq!(clean("a\x1b[31mb\r\nc\u{202e}d", 100), "a [31mb  c d");
    }

    #[test]
    fn long_text_is_cut_between_characters() {
        assert_eq!(clean("äääää", 5), "ää…");
        assert_eq!(clean("abc", 3), "abc");
    }
}
