//! Shares of a whole, in thousandths, as score cards count them.

/// Thousandths that a part is of a whole, halves up; `None` where the whole is nothing. Both are at least 0.
pub fn thousandths(part: impl Into<i128>, whole: impl Into<i128>) -> Option<i64> {
    let (part, whole) = (part.into(), whole.into());
    let share = (part * 1000 + whole / 2).checked_div(whole)?;
    i64::try_from(share).ok()
}
