//! Metrics in the text format of Prometheus, read by its rules and stricter than a server is: each family is told once and whole, and no
//! series twice.

use std::collections::{BTreeMap, BTreeSet};

/// Families by name.
pub type Families = BTreeMap<String, ExposedFamily>;
/// Labels of a series.
pub type SeriesLabels = BTreeMap<String, String>;

/// One family.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExposedFamily {
    /// Its type, as its `TYPE` line says.
    pub kind: String,
    /// Its samples, in the order of the text.
    pub samples: Vec<Sample>,
}

/// One line with a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The rest of its name behind that of the family: of histograms and summaries `_bucket`, `_sum` or `_count`.
    pub suffix: String,
    /// Its labels.
    pub labels: SeriesLabels,
    /// Its value.
    pub value: f64,
}

impl ExposedFamily {
    /// The sum of its samples without a suffix that have these labels; `None` where there is none.
    pub fn sum(&self, labels: &[(&str, &str)]) -> Option<f64> {
        self.sum_of("", labels)
    }

    /// The sum of its samples with a suffix that have these labels; `None` where there is none.
    pub fn sum_of(&self, suffix: &str, labels: &[(&str, &str)]) -> Option<f64> {
        let says = |sample: &&Sample, (name, value): &(&str, &str)| {
            sample.labels.get(*name).is_some_and(|own| own == value)
        };
        let own = self.samples.iter().filter(|sample| sample.suffix == suffix);
        let own = own.filter(|sample| labels.iter().all(|label| says(sample, label)));
        own.map(|sample| sample.value)
            .reduce(|sum, value| sum + value)
    }
}

/// Reads the text; where it breaks a rule, the line and the rule.
pub fn read(text: &str) -> Result<Families, String> {
    if !text.ends_with('\n') {
        return Err("the text does not end with a line feed".to_owned());
    }
    let mut families = Families::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let name = comment(line, "HELP")?;
        let kind = comment(lines.next().unwrap_or_default(), "TYPE")?;
        if kind.0 != name.0 {
            return Err(format!("{line}: TYPE of {} follows", kind.0));
        }
        let name = name.0.to_owned();
        let mut family = ExposedFamily {
            kind: kind.1.to_owned(),
            samples: Vec::new(),
        };
        while let Some(line) = lines.next_if(|line| !line.starts_with('#')) {
            let sample = sample(line, &name).map_err(|rule| format!("{line}: {rule}"))?;
            family.samples.push(sample);
        }
        check(&family).map_err(|rule| format!("{name}: {rule}"))?;
        if families.insert(name.clone(), family).is_some() {
            return Err(format!("{name}: told twice"));
        }
    }
    Ok(families)
}

/// Name and rest of a comment of this kind.
fn comment<'l>(line: &'l str, kind: &str) -> Result<(&'l str, &'l str), String> {
    let rest = line.strip_prefix("# ").and_then(|it| it.strip_prefix(kind));
    let named = rest.and_then(|rest| rest.strip_prefix(' ')?.split_once(' '));
    named
        .filter(|(name, rest)| is_name(name, true) && !rest.is_empty())
        .ok_or_else(|| format!("\"{line}\": expected # {kind}, a name and words"))
}

fn is_name(name: &str, with_colon: bool) -> bool {
    let fits = |at: usize, letter: char| {
        letter.is_ascii_alphabetic()
            || letter == '_'
            || (letter == ':' && with_colon)
            || (letter.is_ascii_digit() && at > 0)
    };
    !name.is_empty() && name.chars().enumerate().all(|(at, it)| fits(at, it))
}

fn sample(line: &str, family: &str) -> Result<Sample, String> {
    let (series, value) = line.rsplit_once(' ').ok_or("no value")?;
    let (name, labels) = match series.split_once('{') {
        None => (series, SeriesLabels::new()),
        Some((name, rest)) => (name, labels(rest)?),
    };
    let suffix = name.strip_prefix(family).ok_or("of another family")?;
    Ok(Sample {
        suffix: suffix.to_owned(),
        labels,
        value: number(value)?,
    })
}

fn number(text: &str) -> Result<f64, String> {
    let is_plain = |letter: char| letter.is_ascii_digit() || "+-.e".contains(letter);
    match text {
        "NaN" => Ok(f64::NAN),
        "+Inf" => Ok(f64::INFINITY),
        "-Inf" => Ok(f64::NEG_INFINITY),
        text if text.chars().all(is_plain) => text.parse().map_err(|_| "no number".to_owned()),
        _ => Err(format!("{text} is no number")),
    }
}

/// Labels from behind the opening brace to the closing one, which ends the text.
fn labels(text: &str) -> Result<SeriesLabels, String> {
    let mut labels = SeriesLabels::new();
    let mut rest = text;
    loop {
        let (name, after) = rest.split_once("=\"").ok_or("a label without a value")?;
        if !is_name(name, false) {
            return Err(format!("\"{name}\" is no name of a label"));
        }
        let (value, after) = quoted(after)?;
        if labels.insert(name.to_owned(), value).is_some() {
            return Err(format!("label {name} twice"));
        }
        match after.strip_prefix(',') {
            Some(next) => rest = next,
            None if after == "}" => return Ok(labels),
            None => return Err(format!("\"{after}\" after label {name}")),
        }
    }
}

/// A value up to its closing quote, and what follows.
fn quoted(text: &str) -> Result<(String, &str), String> {
    let mut value = String::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Ok((value, &text[at + 1..])),
            '\\' => value.push(match letters.next() {
                Some((_, '\\')) => '\\',
                Some((_, '"')) => '"',
                Some((_, 'n')) => '\n',
                other => return Err(format!("{other:?} is escaped")),
            }),
            other => value.push(other),
        }
    }
    Err("a value without an end".to_owned())
}

/// Rules of a family as a whole.
fn check(family: &ExposedFamily) -> Result<(), String> {
    let own = match family.kind.as_str() {
        "histogram" => Some("le"),
        "summary" => Some("quantile"),
        "counter" | "gauge" => None,
        other => return Err(format!("{other} is no type")),
    };
    let mut seen = BTreeSet::new();
    let mut series: BTreeMap<SeriesLabels, Vec<&Sample>> = BTreeMap::new();
    let mut names: BTreeSet<Vec<String>> = BTreeSet::new();
    for sample in &family.samples {
        if !seen.insert((&sample.suffix, &sample.labels)) {
            return Err(format!("{sample:?} twice"));
        }
        let mut labels = sample.labels.clone();
        if let Some(own) = own {
            labels.remove(own);
        }
        names.insert(labels.keys().cloned().collect());
        series.entry(labels).or_default().push(sample);
    }
    if names.len() != 1 {
        return Err(format!("series with the labels {names:?}"));
    }
    for samples in series.values() {
        match own {
            Some("le") => histogram(samples)?,
            Some(_) => summary(samples)?,
            None => plain(samples, family.kind == "counter")?,
        }
    }
    Ok(())
}

fn plain(samples: &[&Sample], is_counter: bool) -> Result<(), String> {
    let is_wrong = |sample: &&&Sample| {
        !sample.suffix.is_empty()
            || (is_counter && !(sample.value >= 0.0 && sample.value.is_finite()))
    };
    let wrong = samples.iter().find(is_wrong);
    wrong.map_or(Ok(()), |sample| Err(format!("{sample:?}")))
}

/// The only sample of a suffix.
fn only(samples: &[&Sample], suffix: &str) -> Result<f64, String> {
    let mut own = samples.iter().filter(|sample| sample.suffix == suffix);
    match (own.next(), own.next()) {
        (Some(one), None) => Ok(one.value),
        _ => Err(format!("not one {suffix} in {samples:?}")),
    }
}

fn histogram(samples: &[&Sample]) -> Result<(), String> {
    let (count, _) = (only(samples, "_count")?, only(samples, "_sum")?);
    let mut last = (f64::NEG_INFINITY, 0.0);
    let buckets = samples.iter().filter(|sample| sample.suffix == "_bucket");
    for bucket in buckets.clone() {
        let bound = bucket.labels.get("le").ok_or("a bucket without le")?;
        let bound = number(bound)?;
        if bound <= last.0 || bucket.value < last.1 {
            return Err(format!("buckets do not add up at {bucket:?}"));
        }
        last = (bound, bucket.value);
    }
    if last != (f64::INFINITY, count) || buckets.count() + 2 != samples.len() {
        return Err(format!("{count} observations, and last a bucket {last:?}"));
    }
    Ok(())
}

fn summary(samples: &[&Sample]) -> Result<(), String> {
    only(samples, "_count")?;
    only(samples, "_sum")?;
    let is_quantile =
        |sample: &&&Sample| sample.suffix.is_empty() && sample.labels.contains_key("quantile");
    let quantiles = samples.iter().filter(is_quantile).count();
    if quantiles + 2 == samples.len() && quantiles > 0 {
        Ok(())
    } else {
        Err(format!("{quantiles} quantiles in {samples:?}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WELL: &str =
        "# HELP a_total As.\n# TYPE a_total counter\na_total{x=\"q\\\"\"} 1\na_total{x=\"\"} 2\n";

    #[test]
    fn what_is_well_formed_is_read() {
        let read = read(WELL).unwrap();
        assert_eq!(read["a_total"].sum(&[]), Some(3.0));
        assert_eq!(read["a_total"].sum(&[("x", "q\"")]), Some(1.0));
        assert_eq!(read["a_total"].sum(&[("x", "z")]), None);
    }

    #[test]
    fn what_breaks_a_rule_is_refused() {
        let head = "# HELP h Hs.\n# TYPE h histogram\n";
        let bucket = |bound: &str, count: u32| format!("h_bucket{{le=\"{bound}\"}} {count}\n");
        let broken = [
            format!("{WELL}{WELL}"),
            WELL.replace("q\\\"", ""),
            WELL.replace("x=\"\"", "y=\"\""),
            WELL.replace(" 2", " -2"),
            WELL.replace(" 2", " two"),
            WELL.replace("# TYPE a_total counter\n", ""),
            WELL.replace("# TYPE a_total", "# TYPE b_total"),
            WELL.trim_end().to_owned(),
            "# HELP a As.\n# TYPE a gauge\n".to_owned(),
            format!("{head}{}h_sum 1\nh_count 2\n", bucket("+Inf", 1)),
            format!("{head}{}h_sum 1\nh_count 1\n", bucket("1", 1)),
            format!(
                "{head}{}{}h_sum 1\nh_count 1\n",
                bucket("1", 2),
                bucket("+Inf", 1)
            ),
            format!("{head}{}h_count 1\n", bucket("+Inf", 1)),
            "# HELP s Ss.\n# TYPE s summary\ns_sum 1\ns_count 1\n".to_owned(),
        ];
        for text in broken {
            assert!(read(&text).is_err(), "{text}");
        }
    }
}
