//! Fields that have got another name: refused, with the new one. A field that is only passed over would leave its default in
//! force where something else was meant.

/// Paths within the section, and what stands for them now.
const RENAMED: [(&str, &str); 4] = [
    ("settings.churn.noWayBack", "reversalCooldown"),
    ("settings.guards.unaskedSpot", "unrequestedSpot"),
    (
        "settings.guards.largestNodeCpuMilli",
        "nodeShareFromCpuMilli and nodeSharePercent",
    ),
    (
        "settings.guards.replicasApart",
        "replicasApartFrom and replicasApartDivisor",
    ),
];

/// The present names of a field that has been renamed, by its path; `None` where it has not.
pub(crate) fn renamed(path: &str) -> Option<&'static str> {
    let mut known = RENAMED.iter();
    known.find_map(|(old, new)| (*old == path).then_some(*new))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::section::schema;

    #[test]
    fn new_names_are_those_of_fields_and_old_ones_are_not() {
        let schema = schema().to_string();
        let is_field = |name: &str| schema.contains(&format!("\"{name}\":"));
        for (old, new) in RENAMED {
            let last = old.rsplit('.').next().unwrap_or(old);
            assert!(!is_field(last), "{last}");
            for name in new.split(" and ") {
                assert!(is_field(name), "{name}");
            }
        }
    }
}
