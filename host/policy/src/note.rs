//! A module's reasons for its answer: one note per row asked about, texts cleaned and short.
//!
//! Notes are for people and change nothing. A module is pure, so that it can be asked for them later and elsewhere, on the question
//! that a record kept.

use crate::outcome::{Fault, Outcome};
use crate::text;

/// Most rows that one explanation is about.
pub const MOST_NOTES: usize = 64;
/// Most terms of one note.
const TERMS: usize = 16;

/// Why one row was answered as it was.
#[derive(Debug, Clone, PartialEq)]
pub struct Note {
    /// Code of the reason, from the policy's own table.
    pub reason: u16,
    /// The module's words; may be empty.
    pub text: String,
    /// Terms of the answer, by name: dollars per hour, or what the policy counts.
    pub terms: Vec<(String, f64)>,
}

/// A note as it came out of a module. Untrusted.
pub(crate) struct RawNote {
    pub(crate) reason: u16,
    pub(crate) text: String,
    pub(crate) terms: Vec<(String, f64)>,
}

/// The rows that a module is asked about.
pub(crate) fn asked_rows(rows: &[u32]) -> &[u32] {
    &rows[..rows.len().min(MOST_NOTES)]
}

/// The notes for these rows, or why they cannot be told apart.
pub(crate) fn notes_of(raw: Vec<RawNote>, rows: &[u32]) -> Result<Vec<Note>, Fault> {
    let (expected, found) = (asked_rows(rows).len(), raw.len());
    if found != expected {
        return Err(Fault {
            outcome: Outcome::InvalidOutput,
            sentence: format!("the module gave {found} notes for {expected} rows"),
        });
    }
    Ok(raw.into_iter().map(cleaned).collect())
}

/// The note as it may be shown: no term without a number, since neither JSON nor a reader could make anything of it.
fn cleaned(note: RawNote) -> Note {
    let terms = note.terms.into_iter();
    let terms = terms.filter(|(_, value)| value.is_finite()).take(TERMS);
    Note {
        reason: note.reason,
        text: text::clean(&note.text, text::NAME),
        terms: terms
            .map(|(name, value)| (text::clean(&name, text::NAME), value))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_without_a_number_are_dropped() {
        let terms = [f64::NAN, 0.5, f64::INFINITY, f64::NEG_INFINITY];
        let terms = terms.map(|value| (format!("{value}"), value));
        let raw = RawNote {
            reason: 1,
            text: String::new(),
            terms: terms.to_vec(),
        };
        let notes = notes_of(vec![raw], &[0]).expect("a note for the row");
        assert_eq!(notes[0].terms, [("0.5".to_owned(), 0.5)]);
    }
}
