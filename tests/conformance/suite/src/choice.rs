//! A choice of specs by a seed: the same on every machine, and in the suite's order.

/// Parts of the names of specs that take more than two minutes, up to fifteen: they wait for a time-out, or watch that nothing happens.
const LONG: [&str; 8] = [
    "Chaos Runaway",
    "Drift Failure",
    "after the registration timeout",
    "drain pods on a node in order",
    "has a pre-stop hook",
    "garbage collect an Instance",
    "not go over limit during concurrent changes",
    "respect node limits when provisioning",
];

/// `true` if a spec takes no more than two minutes.
pub(crate) fn is_short(name: &str) -> bool {
    !LONG.iter().any(|part| name.contains(part))
}

/// At most `count` of the names. Each name has a number that depends on it and the seed alone; those with the least are chosen, so that a
/// spec that is new to the suite changes no more than one of them.
pub(crate) fn some(names: Vec<String>, count: usize, seed: u64) -> Vec<String> {
    let mut numbers: Vec<u64> = names.iter().map(|name| number(name, seed)).collect();
    numbers.sort_unstable();
    let Some(most) = count.min(numbers.len()).checked_sub(1) else {
        return Vec::new();
    };
    let most = numbers[most];
    let chosen = names.into_iter().filter(|name| number(name, seed) <= most);
    chosen.collect()
}

/// FNV-1a over the seed and the name.
fn number(name: &str, seed: u64) -> u64 {
    let bytes = seed.to_le_bytes().into_iter().chain(name.bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_chooses_the_same_in_order_and_another_seed_others() {
        let names: Vec<String> = (0..90).map(|number| format!("spec {number:02}")).collect();
        let chosen = some(names.clone(), 20, 1);
        assert_eq!(chosen.len(), 20);
        assert!(chosen.is_sorted());
        assert_eq!(some(names.clone(), 20, 1), chosen);
        assert_ne!(some(names.clone(), 20, 2), chosen);
        assert_eq!(some(names.clone(), 1000, 1), names);
        assert!(some(names, 0, 1).is_empty());
    }

    #[test]
    fn a_new_spec_displaces_at_most_one() {
        let names: Vec<String> = (0..90).map(|number| format!("spec {number:02}")).collect();
        let chosen = some(names.clone(), 20, 1);
        let more = some([names, vec!["spec 90".to_owned()]].concat(), 20, 1);
        let kept = more.iter().filter(|name| chosen.contains(name)).count();
        assert!(kept >= 19, "{kept}");
    }
}
