//! Answers of the wrong length, for guests whose hook answers row by row.

/// Rows of an answer of the wrong length, if that is the behaviour asked for; `rows` is the right one.
pub(crate) fn wrong_length(behaviour: &str, rows: usize) -> Option<usize> {
    match behaviour {
        "short" => Some(rows - 1),
        "long" => Some(rows + 1),
        "huge" => Some(1 << 16),
        _ => None,
    }
}
