//! A family of metrics as the text format of Prometheus has it: name, type, labels and meaning.

/// One family.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Family {
    pub(crate) name: &'static str,
    pub(crate) kind: FamilyKind,
    /// Names of its labels, in the order in which values are given.
    pub(crate) labels: &'static [&'static str],
    pub(crate) help: &'static str,
}

/// Type of a family.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FamilyKind {
    Counter,
    Gauge,
    /// With the upper bounds of its buckets, ascending, the last apart, which is infinite.
    Histogram(&'static [f64]),
    Summary,
}

impl FamilyKind {
    /// The word for it in the text format.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram(_) => "histogram",
            Self::Summary => "summary",
        }
    }
}

impl Family {
    /// Bounds of its buckets; none unless it is a histogram.
    pub(crate) const fn bounds(&self) -> &'static [f64] {
        match self.kind {
            FamilyKind::Histogram(bounds) => bounds,
            _ => &[],
        }
    }
}
