//! Lists and amounts in sentences, the same way wherever a person reads one: the first few names and how many others there
//! are; bytes in mebibytes.

use crate::resources::ResourceName;

/// Names listed before the rest is counted.
pub const SHOWN: usize = 5;

/// `a, b, c`; of more than [`SHOWN`] names the first few and a count: `a, b, c, d, e and 182 more`.
pub fn shortened<Name: AsRef<str>>(names: impl IntoIterator<Item = Name>) -> String {
    let mut text = String::new();
    let mut more = 0;
    for (at, name) in names.into_iter().enumerate() {
        if at >= SHOWN {
            more += 1;
            continue;
        }
        if at > 0 {
            text.push_str(", ");
        }
        text.push_str(name.as_ref());
    }
    match more {
        0 => text,
        more => format!("{text} and {more} more"),
    }
}

/// An amount as a quantity: `250m` of cpu, `15680Mi` of bytes (rounded up), else a plain number.
pub fn amount(name: &ResourceName, amount: i64) -> String {
    const MEBIBYTE: i64 = 1 << 20;
    match name {
        ResourceName::Cpu => format!("{amount}m"),
        ResourceName::Memory | ResourceName::EphemeralStorage => {
            let part = i64::from(amount % MEBIBYTE > 0);
            format!("{}Mi", amount / MEBIBYTE + part)
        }
        _ => amount.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_told_in_mebibytes_and_never_as_fewer() {
        let bytes = [0, 1, 1 << 20, (1 << 20) + 1, 1 << 30];
        let told = bytes.map(|bytes| amount(&ResourceName::Memory, bytes));
        assert_eq!(told, ["0Mi", "1Mi", "1Mi", "2Mi", "1024Mi"]);
        assert_eq!(amount(&ResourceName::Cpu, 1500), "1500m");
        assert_eq!(amount(&ResourceName::Pods, 29), "29");
    }

    /// K10.
    #[test]
    fn long_lists_are_counted_after_five_names() {
        let names = |count: usize| (0..count).map(|at| format!("t{at}")).collect::<Vec<_>>();
        assert_eq!(shortened(names(0)), "");
        assert_eq!(shortened(names(5)), "t0, t1, t2, t3, t4");
        assert_eq!(shortened(names(187)), "t0, t1, t2, t3, t4 and 182 more");
    }
}
