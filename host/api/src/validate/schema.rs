//! Allowed contents of the fields of a kind: a tree out of one table per kind.
//!
//! A row of a table is a path, a type and words such as `required`, `min=1`, `items<=50`, `one-of=A,B` or `as=label-key`.
//! The tables are made from the API's own definitions by `schema/derive.py`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::pattern::Pattern;

/// The kinds that have a table: group, kind, the one version served, and the table's tree.
pub(super) struct Table {
    pub(super) group: &'static str,
    pub(super) kind: &'static str,
    pub(super) version: &'static str,
    pub(super) root: LazyLock<Field>,
}

macro_rules! table {
    ($group:literal, $kind:literal, $version:literal) => {
        Table {
            group: $group,
            kind: $kind,
            version: $version,
            root: LazyLock::new(|| parse(include_str!(concat!("../../schema/", $kind, ".tsv")))),
        }
    };
}

pub(super) static TABLES: [Table; 6] = [
    table!("karpenter.sh", "NodePool", "v1"),
    table!("karpenter.sh", "NodeClaim", "v1"),
    table!("karpenter.sh", "NodeOverlay", "v1alpha1"),
    table!("karpenter.k8s.aws", "EC2NodeClass", "v1"),
    table!("karpenter.kwok.sh", "KWOKNodeClass", "v1alpha1"),
    table!("autoscaling.x-k8s.io", "CapacityBuffer", "v1beta1"),
];

/// The JSON type of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Type {
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

/// One field.
#[derive(Default)]
pub(super) struct Field {
    pub(super) kind: Type,
    pub(super) is_required: bool,
    /// Least and most: the number itself, the items of a list, the keys of an object or the characters of a text.
    pub(super) least: Option<i64>,
    pub(super) most: Option<i64>,
    pub(super) one_of: Vec<&'static str>,
    pub(super) pattern: Option<&'static Pattern>,
    pub(super) is_set: bool,
    /// `true` if fields without a row are fine.
    pub(super) is_open: bool,
    pub(super) fields: BTreeMap<&'static str, Field>,
    /// The field of a list's items, or of the values of an object with free keys.
    pub(super) each: Option<Box<Field>>,
}

fn parse(table: &'static str) -> Field {
    let mut root = Field {
        kind: Type::Object,
        is_open: true,
        ..Field::default()
    };
    for row in table.lines() {
        let mut columns = row.split('\t');
        let (path, kind) = (columns.next().unwrap_or(""), columns.next().unwrap_or(""));
        let field = place(&mut root, path);
        field.kind = type_of(kind);
        for word in columns.next().unwrap_or("").split(' ') {
            rule(field, word);
        }
    }
    root
}

/// The field of a path; rows come after those that they stand in.
fn place<'a>(root: &'a mut Field, path: &'static str) -> &'a mut Field {
    let mut at = root;
    for part in path.split('.') {
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
    let of_length = |prefix: &str| word.strip_prefix(prefix).and_then(number);
    // The API puts some rules for items on their list, where they have no effect.
    let is_text = field.kind == Type::Text;
    match word {
        "required" => field.is_required = true,
        "unique" => field.is_set = true,
        "open" => field.is_open = true,
        _ => {}
    }
    if let Some(least) = of_length("min=").or_else(|| of_length("items>=")) {
        field.least = Some(least);
    } else if let Some(most) = of_length("max=")
        .or_else(|| of_length("items<="))
        .or_else(|| of_length("keys<="))
    {
        field.most = Some(most);
    } else if let Some(least) = of_length("length>=").filter(|_| is_text) {
        field.least = Some(least);
    } else if let Some(most) = of_length("length<=").filter(|_| is_text) {
        field.most = Some(most);
    } else if let Some(values) = word.strip_prefix("one-of=") {
        field.one_of = values.split(',').collect();
    } else if let Some(name) = word.strip_prefix("as=") {
        field.pattern = Pattern::named(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_every_table_is_understood() {
        let tables = [
            include_str!("../../schema/NodePool.tsv"),
            include_str!("../../schema/NodeClaim.tsv"),
            include_str!("../../schema/NodeOverlay.tsv"),
            include_str!("../../schema/EC2NodeClass.tsv"),
            include_str!("../../schema/KWOKNodeClass.tsv"),
            include_str!("../../schema/CapacityBuffer.tsv"),
        ];
        for row in tables.iter().flat_map(|table| table.lines()) {
            let columns: Vec<&str> = row.split('\t').collect();
            assert!(columns.len() <= 3, "{row}");
            for word in columns.get(2).unwrap_or(&"").split(' ') {
                let name = word.trim_end_matches(|mark: char| mark.is_ascii_digit());
                let is_known = match name.split_once("as=") {
                    Some((_, name)) => Pattern::named(name).is_some(),
                    None => {
                        [
                            "", "required", "unique", "open", "min=", "max=", "items>=", "items<=",
                        ]
                        .contains(&name)
                            || ["length>=", "length<=", "keys<="].contains(&name)
                            || name.starts_with("one-of=")
                    }
                };
                assert!(is_known, "{row}: {word}");
            }
        }
    }

    #[test]
    fn a_field_stands_where_its_path_says() {
        let pool = parse(include_str!("../../schema/NodePool.tsv"));
        let spec = &pool.fields["spec"].fields["template"].fields["spec"];
        assert!(spec.is_required);
        let one = spec.fields["requirements"].each.as_ref().unwrap();
        assert_eq!(one.fields["minValues"].most, Some(50));
        assert_eq!(one.fields["values"].each.as_ref().unwrap().kind, Type::Text);
    }
}
