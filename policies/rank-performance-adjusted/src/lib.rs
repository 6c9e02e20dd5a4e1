//! An instance costs its list price for the work that it does: quicker ones are worth more, burstable ones what they do all day.

use plimsoll_sdk::ranking::*;

/// Settings, as they appear in the Policy object.
#[derive(Debug, Settings)]
pub struct Options {
    /// Work that a processor does, each `FAMILY=WORK` or `TYPE=WORK`; what is not listed does 1. By default burstable families
    /// at the least baseline of their common sizes.
    #[setting(default = ["t2=0.2", "t3=0.2", "t3a=0.2", "t4g=0.2"])]
    pub work: Vec<String>,
}

reasons! { LIST = "list price", WORK = "list price for the work it does" }

/// Least and most work that an entry may name.
const RANGE: std::ops::RangeInclusive<f64> = 0.01..=100.0;

/// List price for the work done.
#[derive(Debug)]
pub struct PerformanceAdjusted;

impl Ranking for PerformanceAdjusted {
    type Settings = Options;

    fn prices(&self, table: &PriceTable, options: &Options) -> Result<PriceAnswer, PolicyError> {
        let entries: Vec<(&str, f64)> =
            options.work.iter().filter_map(|text| entry(text)).collect();
        // By number of the offering: several pools may buy it, and names are dear to compare.
        let mut known: Vec<Option<(f64, Reason)>> = Vec::new();
        Ok(table.map(|offering, _pool| {
            let row = offering.row();
            if known.len() <= row {
                known.resize(row + 1, None);
            }
            let (work, reason) = *known[row].get_or_insert_with(|| work(offering, &entries));
            Price::dollars(offering.price() / work, reason)
        }))
    }

    fn validate(&self, options: &Options) -> Vec<Problem> {
        let expected =
            "FAMILY=WORK or TYPE=WORK with a number in 0.01 to 100, for instance m7g=1.25";
        unreadable(
            "work",
            &options.work,
            |text| entry(text).is_some(),
            expected,
        )
    }
}

export_ranking!(PerformanceAdjusted);

/// Work of an offering: the entry of its type, else the one of its family, else 1.
fn work(offering: &Offering, entries: &[(&str, f64)]) -> (f64, Reason) {
    let named = |name: &str| entries.iter().find(|(known, _)| *known == name);
    let entry = named(offering.instance_type()).or_else(|| named(offering.family()));
    entry.map_or((1.0, LIST), |(_, work)| (*work, WORK))
}

/// Reads `m7g=1.25` or `t3.large=0.3`.
fn entry(text: &str) -> Option<(&str, f64)> {
    let (name, work) = text.split_once('=')?;
    let (name, work) = (name.trim(), decimal(work.trim())?);
    (!name.is_empty() && RANGE.contains(&work)).then_some((name, work))
}

/// Reads `1.25`. The library's reader of numbers knows much more, and would be a quarter of the module.
fn decimal(text: &str) -> Option<f64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let mut number = 0_u32;
    for digit in whole.bytes().chain(fraction.bytes()) {
        let digit = u32::from(digit.checked_sub(b'0').filter(|digit| *digit < 10)?);
        number = number.checked_mul(10)?.checked_add(digit)?;
    }
    let scale = fraction.bytes().fold(1.0, |scale, _| scale * 10.0);
    (!whole.is_empty()).then(|| f64::from(number) / scale)
}

#[cfg(test)]
mod tests {
    use plimsoll_sdk::testing::Market;

    use super::*;

    fn market() -> Market {
        Market::new()
            .pool("batch")
            .offering("m5.large", "a", 0.096)
            .offering("m7g.large", "a", 0.0816)
            .offering("t3.large", "a", 0.0832)
            .offering("t3.xlarge", "a", 0.1664)
    }

    #[test]
    fn a_type_is_looked_up_by_its_own_name_before_its_family() {
        let work = ["m7g=1.25", "t3=0.25", "t3.xlarge=0.4"]
            .map(str::to_owned)
            .to_vec();
        let prices = market().prices(&PerformanceAdjusted, &Options { work });
        let expected = [
            Price::dollars(0.096, LIST),
            Price::dollars(0.0816 / 1.25, WORK),
            Price::dollars(0.0832 / 0.25, WORK),
            Price::dollars(0.1664 / 0.4, WORK),
        ];
        assert_eq!(prices[..4], expected);
        assert_eq!(prices[4..], expected);
    }

    #[test]
    fn a_burstable_machine_is_dear_by_default() {
        let prices = market().prices(&PerformanceAdjusted, &Options::default());
        assert_eq!(prices[2], Price::dollars(0.0832 / 0.2, WORK));
    }

    #[test]
    fn what_is_no_entry_is_refused_by_name() {
        let refused = |text: &str| {
            let work = vec![text.to_owned()];
            PerformanceAdjusted.validate(&Options { work }).len()
        };
        assert_eq!(refused("m7g = 1.25"), 0);
        for text in ["m7g", "m7g=fast", "=1", "m7g=0", "m7g=NaN", "m7g=101"] {
            assert_eq!(refused(text), 1, "{text}");
        }
    }
}
