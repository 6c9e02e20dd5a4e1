//! Contents that the fields of a kind may have: a tree out of one table per kind.
//!
//! A row of a table is a path, a type, words such as `required`, `min=1`, `items<=50`, `one-of=A,B` or `as=label-key`, and what the
//! field means. Validation and the definitions that API servers get are read from the same trees, so that neither knows a field
//! that the other does not. Facts about Karpenter's kinds are brought up to date by `schema/derive.py`.

pub(crate) mod known;
mod pattern;

use std::collections::BTreeMap;
use std::sync::LazyLock;

pub(crate) use pattern::Pattern;

/// The table of a kind: group, kind, the one version served, and the table's tree.
pub(crate) struct Table {
    pub(crate) group: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) version: &'static str,
    pub(crate) root: LazyLock<Field>,
    #[cfg(test)]
    rows: &'static str,
}

macro_rules! table {
    ($group:literal, $kind:literal, $version:literal) => {{
        const ROWS: &str = include_str!(concat!("../../schema/", $kind, ".tsv"));
        Table {
            group: $group,
            kind: $kind,
            version: $version,
            root: LazyLock::new(|| parse(ROWS)),
            #[cfg(test)]
            rows: ROWS,
        }
    }};
}

pub(crate) static TABLES: [Table; 7] = [
    table!("karpenter.sh", "NodePool", "v1"),
    table!("karpenter.sh", "NodeClaim", "v1"),
    table!("karpenter.sh", "NodeOverlay", "v1alpha1"),
    table!("karpenter.k8s.aws", "EC2NodeClass", "v1"),
    table!("karpenter.kwok.sh", "KWOKNodeClass", "v1alpha1"),
    table!("autoscaling.x-k8s.io", "CapacityBuffer", "v1beta1"),
    table!("plimsoll.dev", "Policy", "v1alpha1"),
];

/// The JSON type of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Type {
    /// Anything.
    #[default]
    Any,
    /// Fields by name.
    Object,
    /// Values in a row.
    List,
    /// Text.
    Text,
    /// A whole number.
    Integer,
    /// A whole number, or text.
    IntegerOrText,
    /// True or false.
    Boolean,
}

/// How lists and objects are merged by server-side apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Merge {
    /// Replaced as a whole.
    Atomic,
    /// An object by its fields.
    Granular,
    /// A list as a set of values, each of them once.
    Set,
    /// A list as objects that a field tells apart.
    By(&'static str),
}

/// One field.
#[derive(Default)]
pub(crate) struct Field {
    pub(crate) kind: Type,
    pub(crate) is_required: bool,
    /// Least and most: the number itself, the items of a list, the keys of an object or the characters of a text.
    pub(crate) least: Option<i64>,
    pub(crate) most: Option<i64>,
    pub(crate) one_of: Vec<&'static str>,
    pub(crate) pattern: Option<&'static Pattern>,
    /// Size of a number or form of a text: `int32`, `int64` or `date-time`.
    pub(crate) format: Option<&'static str>,
    /// Value when the field is absent, as JSON.
    pub(crate) default: Option<&'static str>,
    pub(crate) merge: Option<Merge>,
    /// `true` if fields without a row are fine.
    pub(crate) is_open: bool,
    /// Meaning in a sentence; empty for items of lists and values of objects with free keys.
    pub(crate) description: &'static str,
    pub(crate) fields: BTreeMap<&'static str, Field>,
    /// The field of a list's items, or of the values of an object with free keys.
    pub(crate) each: Option<Box<Field>>,
}

impl Field {
    /// `true` for a list that holds each value once.
    pub(crate) fn is_set(&self) -> bool {
        self.merge == Some(Merge::Set)
    }
}

fn parse(table: &'static str) -> Field {
    let mut root = Field::default();
    for row in table.lines() {
        let mut columns = row.split('\t');
        let mut next = || columns.next().unwrap_or("");
        let (path, kind) = (next(), next());
        let field = place(&mut root, path);
        field.kind = type_of(kind);
        for word in next().split(' ') {
            rule(field, word);
        }
        field.description = next();
    }
    root
}

/// The field of a path, `.` being the object itself; rows come after those that they stand in.
fn place<'a>(root: &'a mut Field, path: &'static str) -> &'a mut Field {
    let mut at = root;
    for part in path.split('.').filter(|part| !part.is_empty()) {
        let name = part.trim_end_matches(['[', ']', '{', '}']);
        at = at.fields.entry(name).or_default();
        let depth = (part.len() - name.len()) / 2;
        for _ in 0..depth {
            at = at.each.get_or_insert_default();
        }
    }
    at
}

fn type_of(word: &str) -> Type {
    match word {
        "object" => Type::Object,
        "array" => Type::List,
        "string" => Type::Text,
        "integer" => Type::Integer,
        "int-or-string" => Type::IntegerOrText,
        "boolean" => Type::Boolean,
        _ => Type::Any,
    }
}

fn rule(field: &mut Field, word: &'static str) {
    let number = |text: &str| text.parse().ok();
    let of_prefix = |prefixes: &[&str]| {
        let mut found = prefixes.iter().map(|prefix| word.strip_prefix(prefix));
        found.find_map(|rest| rest.and_then(number))
    };
    match word {
        "required" => field.is_required = true,
        "open" => field.is_open = true,
        "unique" => field.merge = Some(Merge::Set),
        "atomic" => field.merge = Some(Merge::Atomic),
        "granular" => field.merge = Some(Merge::Granular),
        "int32" | "int64" | "date-time" => field.format = Some(word),
        _ => {}
    }
    if let Some(least) = of_prefix(&["min=", "items>=", "length>="]) {
        field.least = Some(least);
    } else if let Some(most) = of_prefix(&["max=", "items<=", "keys<=", "length<="]) {
        field.most = Some(most);
    } else if let Some(values) = word.strip_prefix("one-of=") {
        field.one_of = values.split(',').collect();
    } else if let Some(name) = word.strip_prefix("as=") {
        field.pattern = Pattern::named(name);
    } else if let Some(name) = word.strip_prefix("by=") {
        field.merge = Some(Merge::By(name));
    } else if let Some(value) = word.strip_prefix("default=") {
        field.default = Some(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> impl Iterator<Item = (&'static str, Vec<&'static str>)> {
        let of = |table: &'static Table| {
            let rows = table.rows.lines();
            rows.map(|row| (table.kind, row.split('\t').collect()))
        };
        TABLES.iter().flat_map(of)
    }

    fn is_known(word: &str) -> bool {
        let flags = [
            "", "required", "open", "unique", "atomic", "granular", "int32", "int64",
        ];
        let bounds = [
            "min=", "max=", "items>=", "items<=", "length>=", "length<=", "keys<=",
        ];
        match word.split_once('=') {
            Some(("as", name)) => Pattern::named(name).is_some(),
            Some(("default", json)) => serde_json::from_str::<serde_json::Value>(json).is_ok(),
            Some(("one-of" | "by", names)) => !names.is_empty(),
            _ => {
                let name = word.trim_end_matches(|mark: char| mark.is_ascii_digit());
                flags.contains(&word) || word == "date-time" || bounds.contains(&name)
            }
        }
    }

    #[test]
    fn every_row_of_every_table_is_understood() {
        for (kind, row) in rows() {
            assert!(row.len() <= 4, "{kind}: {row:?}");
            for word in row.get(2).unwrap_or(&"").split(' ') {
                assert!(is_known(word), "{kind} {}: {word}", row[0]);
            }
        }
    }

    #[test]
    fn every_field_says_what_it_means() {
        for (kind, row) in rows() {
            let is_part = row[0].ends_with("[]") || row[0].ends_with("{}");
            let description = row.get(3).unwrap_or(&"");
            assert!(is_part || description.ends_with('.'), "{kind} {}", row[0]);
        }
    }

    #[test]
    fn a_field_stands_where_its_path_says() {
        let pool = TABLES
            .iter()
            .find(|table| table.kind == "NodePool")
            .unwrap();
        let spec = &pool.root.fields["spec"].fields["template"].fields["spec"];
        assert!(spec.is_required);
        let requirements = &spec.fields["requirements"];
        assert_eq!(requirements.merge, Some(Merge::Atomic));
        let one = requirements.each.as_ref().unwrap();
        assert_eq!(one.fields["minValues"].most, Some(50));
        assert_eq!(one.fields["values"].each.as_ref().unwrap().kind, Type::Text);
        assert_eq!(spec.fields["expireAfter"].default, Some("\"720h\""));
    }
}
