//! Values of fields, many of them at an edge of their kind.

use serde_json::{Value, json};

use super::draw::Draw;

/// Empty, of other kinds by their looks, of many bytes a letter, alike but for how letters are put together, and such as escaping changes.
const TEXTS: [&str; 20] = [
    "",
    "",
    " ",
    "a",
    "b",
    "0",
    "true",
    "null",
    "enabled",
    "disabled",
    "größe",
    "gro\u{308}ße",
    "ß☃日本語",
    "👩\u{200d}🚀🇦🇶",
    "<script>&\"\\/'",
    "line\u{2028}line\u{2029}",
    "\u{0}\u{8}\u{b}\u{c}\r\n\t\u{1f}\u{7f}\u{80}",
    "\u{feff}\u{fffd}\u{ffff}\u{10ffff}",
    "kubernetes.io/cluster/a",
    "#!/bin/bash\necho 'joins' && exit 0\n",
];

const LETTERS: [char; 16] = [
    'a', 'B', '9', '-', '.', '/', ' ', '\n', '"', '\\', '<', '&', 'é', '☃', '\u{2028}', '🚀',
];

/// Forms of one size, of none, and the ends of ranges.
const SIZES: [&str; 14] = [
    "1Gi", "1Ti", "1024Gi", "1T", "1000G", "58Ti", "59000Gi", "57344Gi", "64T", "64000G", "1536Gi",
    "1500G", "Ti", "T",
];

/// Conditions of CEL, as settings of kubelets have them.
const EXPRESSIONS: [&str; 4] = [
    "vcpus > 8 ? 58 : 110",
    "max(10, min(max_pods - 1, vcpus * 12))",
    "default_enis < 4 && ips_per_eni >= 10 ? '250m' : \"0.5\"",
    "memory_mib <= 4096 || instance_type.startsWith('t3') ? 5 : 7",
];

const NUMBERS: [f64; 16] = [
    0.0,
    -0.0,
    1.0,
    0.1,
    0.9,
    -2.5,
    0.000_001,
    0.000_000_999,
    1e15,
    123_456_789.125,
    1e20,
    1e21,
    -1.5e300,
    5e-324,
    f64::MAX,
    9_223_372_036_854_775_808.0,
];

pub(super) fn flag(draw: &mut Draw) -> Value {
    draw.once_in(2).into()
}

pub(super) fn text(draw: &mut Draw) -> Value {
    words(draw).into()
}

/// Text that may be empty or long.
pub(super) fn words(draw: &mut Draw) -> String {
    match draw.below(16) {
        0..=2 => (0..draw.length(40)).map(|_| draw.pick(&LETTERS)).collect(),
        3 => draw.pick(&TEXTS).repeat(1 + draw.below(90)),
        _ => draw.pick(&TEXTS).to_owned(),
    }
}

/// A number of 32 bits.
pub(super) fn small(draw: &mut Draw) -> Value {
    let any = i32::try_from(draw.below(1 << 31)).unwrap_or(i32::MAX);
    draw.pick(&[0, 1, -1, 30, 256, 432_000, i32::MAX, i32::MIN, any, -any])
        .into()
}

/// A number of 64 bits.
pub(super) fn large(draw: &mut Draw) -> Value {
    let any = draw.any().cast_signed();
    draw.pick(&[0, 1, -1, 125, 3000, i64::MAX, i64::MIN, 1 << 32, any])
        .into()
}

/// A size of a volume, such as the API allows.
pub(super) fn size(draw: &mut Draw) -> Value {
    match draw.below(6) {
        0 => draw.pick(&SIZES).into(),
        1 => format!("{}Gi", 1024 * (1 + draw.below(57))).into(),
        2 => format!("{}G", 1000 * (1 + draw.below(64))).into(),
        3 => format!("{}Gi", 1 + draw.below(59_000)).into(),
        4 => format!("{}G", 1 + draw.below(64_000)).into(),
        _ => format!("{}T{}", 1 + draw.below(9), draw.pick(&["", "i"])).into(),
    }
}

/// Keys and values of text.
pub(super) fn texts(draw: &mut Draw) -> Value {
    let entries = 0..draw.length(50);
    let map = entries.map(|at| {
        let key = format!("{}{at}", words(draw));
        (key, text(draw))
    });
    Value::Object(map.collect())
}

/// An expression, or an amount that needs none.
pub(super) fn expression(draw: &mut Draw) -> Value {
    match draw.below(3) {
        0 => draw.pick(&["", "100m", "1Gi", "5%", "2m30s"]).into(),
        1 => draw.pick(&EXPRESSIONS).into(),
        _ => small(draw),
    }
}

/// Any number of JSON.
pub(super) fn number(draw: &mut Draw) -> Value {
    let any = f64::from_bits(draw.any());
    match draw.below(4) {
        0 if any.is_finite() => any.into(),
        0 | 1 => draw.pick(&NUMBERS).into(),
        2 => draw
            .pick(&[u64::MAX, 1 << 63, (1 << 63) - 1, (1 << 53) + 1])
            .into(),
        _ => large(draw),
    }
}

/// Any value of JSON, with so many layers at most.
pub(super) fn anything(draw: &mut Draw, layers: usize) -> Value {
    match draw.below(if layers > 0 { 7 } else { 5 }) {
        0 => json!(null),
        1 => flag(draw),
        2 => number(draw),
        3 => expression(draw),
        4 => text(draw),
        5 => (0..draw.length(5))
            .map(|_| anything(draw, layers - 1))
            .collect(),
        _ => {
            let fields = 0..draw.length(5);
            let fields = fields.map(|_| (words(draw), anything(draw, layers - 1)));
            Value::Object(fields.collect())
        }
    }
}
