//! Numbers as they are written: units always, commas between thousands, dollars with two digits, a true minus sign.
//!
//! Everything is rounded from integers, halves away from zero, so that a figure is the same on every machine. A narrow
//! space that does not break stands between a number and its unit.

use plimsoll_base::time::Span;

/// Between a number and its unit.
pub(crate) const THIN: char = '\u{202f}';

/// Where a figure does not exist.
pub(crate) const NOTHING: &str = "–";

const NANOS_PER_CENT: i128 = 10_000_000;

/// `$ 4,812.20` of nano-dollars.
pub(crate) fn dollars(nanos: i64) -> String {
    let cents = rounded(i128::from(nanos), NANOS_PER_CENT);
    format!("{}${THIN}{}", minus(cents), decimal(cents, 2))
}

/// `+$ 3.10`, `−$ 3.10` from one sum of nano-dollars to another; nothing where no cent lies between them.
pub(crate) fn dollars_more(from: i64, to: i64) -> Option<String> {
    let cents = rounded(i128::from(to) - i128::from(from), NANOS_PER_CENT);
    (cents != 0).then(|| format!("{}${THIN}{}", sign(cents), decimal(cents, 2)))
}

/// `12,345`.
pub(crate) fn count(number: impl Into<i128>) -> String {
    let number = number.into();
    format!("{}{}", minus(number), decimal(number, 0))
}

/// `+12`, `−3`; nothing where both are equal.
pub(crate) fn count_more(from: impl Into<i128>, to: impl Into<i128>) -> Option<String> {
    let more = to.into() - from.into();
    (more != 0).then(|| format!("{}{}", sign(more), decimal(more, 0)))
}

/// `41.3` of thousandths.
pub(crate) fn tenths(thousandths: i64) -> String {
    let tenths = rounded(i128::from(thousandths), 100);
    format!("{}{}", minus(tenths), decimal(tenths, 1))
}

/// `1,204.5 h` of thousandths of an hour.
pub(crate) fn hours(thousandths: i64) -> String {
    format!("{}{THIN}h", tenths(thousandths))
}

/// `+12.5 h` from one number of thousandths of an hour to another; nothing where less than a twentieth lies between them.
pub(crate) fn hours_more(from: i64, to: i64) -> Option<String> {
    let tenths = rounded(i128::from(to) - i128::from(from), 100);
    (tenths != 0).then(|| format!("{}{}{THIN}h", sign(tenths), decimal(tenths, 1)))
}

/// `61.2 %` of thousandths.
pub(crate) fn share(thousandths: i64) -> String {
    let thousandths = i128::from(thousandths);
    format!("{}{}{THIN}%", minus(thousandths), decimal(thousandths, 1))
}

/// `+1.2 points` from one share to another, in thousandths; nothing where both are equal.
pub(crate) fn share_more(from: i64, to: i64) -> Option<String> {
    let more = i128::from(to) - i128::from(from);
    (more != 0).then(|| format!("{}{}{THIN}points", sign(more), decimal(more, 1)))
}

/// `−8.7 %`, what `to` is more than `from`; nothing where `from` is nothing.
pub(crate) fn percent_more(from: i64, to: i64) -> Option<String> {
    let tenths = tenths_of_percent_more(from, to)?;
    Some(format!("{}{}{THIN}%", sign(tenths), decimal(tenths, 1)))
}

/// `8.7 % less`, `0.3 % more`, `as much`; nothing where `from` is nothing.
pub(crate) fn percent_in_words(from: i64, to: i64) -> Option<String> {
    let tenths = tenths_of_percent_more(from, to)?;
    let word = match tenths {
        0 => return Some("as much".to_owned()),
        1.. => "more",
        _ => "less",
    };
    Some(format!("{}{THIN}% {word}", decimal(tenths, 1)))
}

fn tenths_of_percent_more(from: i64, to: i64) -> Option<i128> {
    let (from, to) = (i128::from(from), i128::from(to));
    (from > 0).then(|| rounded((to - from) * 1000, from))
}

/// `1.008 ×`; nothing where there is nothing to compare with.
pub(crate) fn times(whole: i64, unit: i64) -> Option<String> {
    let (whole, unit) = (i128::from(whole), i128::from(unit));
    (unit > 0).then(|| format!("{}{THIN}×", decimal(rounded(whole * 1000, unit), 3)))
}

/// `1.5 s`, `38 s`, `2 min 30 s`, `3 h 20 min`, `14 d`: the two largest units.
pub(crate) fn span(span: Span) -> String {
    let millis = span.millis();
    if millis < 10_000 && millis % 1000 != 0 {
        let tenths = rounded(i128::from(millis), 100);
        return format!("{}{THIN}s", decimal(tenths, 1));
    }
    let mut rest = i64::try_from(rounded(i128::from(millis), 1000)).unwrap_or(i64::MAX);
    let mut parts = Vec::new();
    for (size, unit) in [(86_400, "d"), (3600, "h"), (60, "min"), (1, "s")] {
        let number = rest / size;
        rest %= size;
        if number > 0 && parts.len() < 2 {
            parts.push(format!("{}{THIN}{unit}", count(number)));
        } else if !parts.is_empty() {
            break;
        }
    }
    if parts.is_empty() {
        return format!("0{THIN}s");
    }
    parts.join(&THIN.to_string())
}

/// `+4 s`, `−2 min`; nothing where both are equal.
pub(crate) fn span_more(from: Span, to: Span) -> Option<String> {
    let (mark, more) = if to > from {
        ('+', to.millis() - from.millis())
    } else {
        ('−', from.millis() - to.millis())
    };
    (more != 0).then(|| format!("{mark}{}", span(Span::from_millis(more))))
}

/// The size of a number of which so many digits stand after the point; without a sign.
fn decimal(number: i128, digits: usize) -> String {
    let text = format!("{:0>width$}", number.unsigned_abs(), width = digits + 1);
    let (whole, part) = text.split_at(text.len() - digits);
    let mut out = String::new();
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    if digits > 0 {
        out.push('.');
        out.push_str(part);
    }
    out
}

/// Divided and rounded, halves away from zero; `unit` is positive.
fn rounded(number: i128, unit: i128) -> i128 {
    (number + number.signum() * (unit / 2)) / unit
}

fn minus(number: i128) -> &'static str {
    if number < 0 { "−" } else { "" }
}

fn sign(number: i128) -> &'static str {
    match number {
        0 => "±",
        1.. => "+",
        _ => "−",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With plain spaces.
    fn plain(text: impl Into<Option<String>>) -> String {
        let text: Option<String> = text.into();
        text.unwrap_or_else(|| "nothing".to_owned())
            .replace(THIN, " ")
    }

    #[test]
    fn dollars_have_two_digits_and_commas() {
        assert_eq!(plain(dollars(4_812_204_999_999)), "$ 4,812.20");
        assert_eq!(plain(dollars(4_812_205_000_000)), "$ 4,812.21");
        assert_eq!(plain(dollars(0)), "$ 0.00");
        assert_eq!(plain(dollars(-5_000_000)), "−$ 0.01");
        assert_eq!(plain(dollars(i64::MAX)), "$ 9,223,372,036.85");
        assert_eq!(plain(dollars_more(2_000_000_000, 1_500_000_000)), "−$ 0.50");
        assert_eq!(plain(dollars_more(1, 2)), "nothing");
    }

    #[test]
    fn a_change_says_its_direction() {
        assert_eq!(plain(percent_more(1000, 913)), "−8.7 %");
        assert_eq!(plain(percent_more(1000, 1000)), "±0.0 %");
        assert_eq!(plain(percent_more(0, 1)), "nothing");
        assert_eq!(plain(percent_in_words(1000, 913)), "8.7 % less");
        assert_eq!(plain(percent_in_words(1000, 1003)), "0.3 % more");
        assert_eq!(plain(percent_in_words(1_000_000, 1_000_001)), "as much");
        assert_eq!(plain(count_more(3_u32, 1_u32)), "−2");
        assert_eq!(plain(share_more(412, 424)), "+1.2 points");
        assert_eq!(plain(hours_more(1000, 1049)), "nothing");
        assert_eq!(
            plain(span_more(Span::from_secs(40), Span::from_secs(38))),
            "−2 s"
        );
    }

    #[test]
    fn spans_show_their_two_largest_units() {
        let shown = |millis| plain(span(Span::from_millis(millis)));
        assert_eq!(shown(0), "0 s");
        assert_eq!(shown(400), "0.4 s");
        assert_eq!(shown(38_000), "38 s");
        assert_eq!(shown(59_700), "1 min");
        assert_eq!(shown(150_000), "2 min 30 s");
        assert_eq!(shown(3_605_000), "1 h");
        assert_eq!(shown(14 * 86_400_000), "14 d");
    }

    #[test]
    fn a_ratio_has_three_digits() {
        assert_eq!(plain(times(10_084, 10_000)), "1.008 ×");
        assert_eq!(plain(times(1, 0)), "nothing");
        assert_eq!(plain(share(1000)), "100.0 %");
        assert_eq!(plain(share(7)), "0.7 %");
        assert_eq!(plain(tenths(41_349)), "41.3");
        assert_eq!(plain(count(1_234_567_u32)), "1,234,567");
    }
}
