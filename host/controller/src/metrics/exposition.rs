//! The text format of Prometheus: families one after another, each with its meaning and type once, before its first sample.

use std::fmt::Write as _;

use super::family::Family;
use super::histogram::Histogram;
use super::keyed::{Counters, Histograms, Summaries};
use super::summary::Summary;
use plimsoll_base::time::Timestamp;

/// Text that grows by families.
#[derive(Debug, Default)]
pub(crate) struct Exposition {
    text: String,
}

/// Samples of one family. Nothing is written of a family without samples.
pub(crate) struct Samples<'e> {
    text: &'e mut String,
    family: &'static Family,
    is_begun: bool,
}

impl Exposition {
    /// Begins a family; each may be begun once.
    pub(crate) fn family(&mut self, family: &'static Family) -> Samples<'_> {
        Samples {
            text: &mut self.text,
            family,
            is_begun: false,
        }
    }

    /// A family with one sample and no labels.
    pub(crate) fn value(&mut self, family: &'static Family, value: f64) {
        self.family(family).sample(&[], value);
    }

    /// A family of counters.
    pub(crate) fn counters<const N: usize>(
        &mut self,
        family: &'static Family,
        counters: &Counters<N>,
    ) {
        let mut samples = self.family(family);
        for (labels, count) in counters.iter() {
            samples.sample(&labels.each_ref().map(|label| &**label), whole(count));
        }
    }

    /// A family of histograms.
    pub(crate) fn histograms<const N: usize>(
        &mut self,
        family: &'static Family,
        histograms: &Histograms<N>,
    ) {
        let mut samples = self.family(family);
        for (labels, histogram) in histograms.iter() {
            samples.histogram(&labels.each_ref().map(|label| &**label), histogram);
        }
    }

    /// A family of summaries.
    pub(crate) fn summaries<const N: usize>(
        &mut self,
        family: &'static Family,
        summaries: &Summaries<N>,
        now: Timestamp,
    ) {
        let mut samples = self.family(family);
        for (labels, summary) in summaries.iter() {
            samples.summary(&labels.each_ref().map(|label| &**label), summary, now);
        }
    }

    /// All of the text.
    pub(crate) fn into_text(self) -> String {
        self.text
    }
}

impl Samples<'_> {
    /// One sample, with a value for each label of the family.
    pub(crate) fn sample(&mut self, values: &[&str], value: f64) {
        self.sample_beside("", values, value);
    }

    /// One sample with further labels, as [`labels_text`] writes them.
    pub(crate) fn sample_beside(&mut self, more: &str, values: &[&str], value: f64) {
        self.line("", more, values, None, value);
    }

    /// All samples of a histogram.
    pub(crate) fn histogram(&mut self, values: &[&str], histogram: &Histogram) {
        let bounds = self.family.bounds();
        let mut below = 0;
        for (bound, count) in bounds.iter().zip(histogram.counts()) {
            below += count;
            let bound = number(*bound);
            self.line("_bucket", "", values, Some(("le", &bound)), whole(below));
        }
        let count = whole(histogram.count());
        self.line("_bucket", "", values, Some(("le", "+Inf")), count);
        self.line("_sum", "", values, None, histogram.sum());
        self.line("_count", "", values, None, count);
    }

    /// All samples of a summary.
    pub(crate) fn summary(&mut self, values: &[&str], summary: &Summary, now: Timestamp) {
        for (quantile, value) in summary.quantiles(now) {
            let quantile = number(quantile);
            self.line("", "", values, Some(("quantile", &quantile)), value);
        }
        self.line("_sum", "", values, None, summary.sum());
        self.line("_count", "", values, None, whole(summary.count()));
    }

    fn line(
        &mut self,
        suffix: &str,
        more: &str,
        values: &[&str],
        last: Option<(&str, &str)>,
        value: f64,
    ) {
        debug_assert_eq!(values.len(), self.family.labels.len());
        if !self.is_begun {
            self.begin();
        }
        self.text.push_str(self.family.name);
        self.text.push_str(suffix);
        let own = self.family.labels.iter().copied();
        let own = own.zip(values.iter().copied()).chain(last);
        let mut opened = false;
        if !more.is_empty() {
            self.text.push('{');
            self.text.push_str(more);
            opened = true;
        }
        for (name, value) in own {
            self.text.push(if opened { ',' } else { '{' });
            opened = true;
            push_label(self.text, name, value);
        }
        if opened {
            self.text.push('}');
        }
        self.text.push(' ');
        self.text.push_str(&number(value));
        self.text.push('\n');
    }

    fn begin(&mut self) {
        self.is_begun = true;
        let Family { name, help, .. } = self.family;
        let kind = self.family.kind.word();
        // Writing to a text cannot fail.
        let _ = write!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
    }
}

/// Labels as they stand between braces.
pub(crate) fn labels_text<'l>(labels: impl IntoIterator<Item = (&'l str, &'l str)>) -> String {
    let mut text = String::new();
    for (name, value) in labels {
        if !text.is_empty() {
            text.push(',');
        }
        push_label(&mut text, name, value);
    }
    text
}

fn push_label(text: &mut String, name: &str, value: &str) {
    text.push_str(name);
    text.push_str("=\"");
    for part in value.chars() {
        match part {
            '\\' => text.push_str("\\\\"),
            '"' => text.push_str("\\\""),
            '\n' => text.push_str("\\n"),
            other => text.push(other),
        }
    }
    text.push('"');
}

/// A number as the format has it.
fn number(value: f64) -> String {
    if value == f64::INFINITY {
        "+Inf".to_owned()
    } else if value == f64::NEG_INFINITY {
        "-Inf".to_owned()
    } else {
        value.to_string()
    }
}

/// A count as a number; exact below 2^53.
pub(crate) fn whole(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::super::family::FamilyKind;
    use super::*;

    static COUNTER: Family = Family {
        name: "a_total",
        kind: FamilyKind::Counter,
        labels: &["x", "y"],
        help: "As.",
    };
    static HISTOGRAM: Family = Family {
        name: "b_seconds",
        kind: FamilyKind::Histogram(&[0.5, 1.0]),
        labels: &["x"],
        help: "Bs.",
    };

    #[test]
    fn a_family_is_told_once_and_its_labels_are_escaped() {
        let mut out = Exposition::default();
        let mut samples = out.family(&COUNTER);
        samples.sample(&["a\"b", "c\\d"], 1.0);
        samples.sample_beside("z=\"1\"", &["", "e\nf"], 2.5);
        out.family(&HISTOGRAM);
        assert_eq!(
            out.into_text(),
            "# HELP a_total As.\n# TYPE a_total counter\na_total{x=\"a\\\"b\",y=\"c\\\\d\"} 1\na_total{z=\"1\",x=\"\",y=\"e\\nf\"} 2.5\n"
        );
    }

    #[test]
    fn buckets_of_a_histogram_add_up() {
        let mut histogram = Histogram::new(HISTOGRAM.bounds());
        for seconds in [0.1, 0.5, 0.7, 30.0] {
            histogram.observe(seconds);
        }
        let mut out = Exposition::default();
        out.family(&HISTOGRAM).histogram(&["n"], &histogram);
        let lines: Vec<String> = out.into_text().lines().map(ToOwned::to_owned).collect();
        assert_eq!(
            lines[2..],
            [
                "b_seconds_bucket{x=\"n\",le=\"0.5\"} 2",
                "b_seconds_bucket{x=\"n\",le=\"1\"} 3",
                "b_seconds_bucket{x=\"n\",le=\"+Inf\"} 4",
                "b_seconds_sum{x=\"n\"} 31.3",
                "b_seconds_count{x=\"n\"} 4",
            ]
        );
    }
}
