//! Suggestions for a name that nothing has.

/// Least likeness of two names, from 0 to 1, for one to be suggested.
const LIKENESS: f64 = 0.8;

/// The known name that is most like `name`, if one is like it.
pub(crate) fn closest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    known
        .map(|known| (strsim::jaro_winkler(known, name), known))
        .filter(|(likeness, _)| *likeness >= LIKENESS)
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .map(|(_, known)| known)
}

/// The question at the end of a sentence that refuses a name; empty where nothing was probably meant.
pub(crate) fn question(meant: Option<&str>) -> String {
    meant.map_or_else(String::new, |meant| format!("; did you mean {meant}?"))
}
