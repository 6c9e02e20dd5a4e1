//! Inputs of query formats: pairs with dotted keys, as a tree.

use std::collections::BTreeMap;

use serde_json::Value;

#[derive(Default)]
struct Node {
    text: Option<String>,
    children: BTreeMap<String, Node>,
}

/// The tree of a form: `Filter.1.Value.2=x` is the second entry of `Value` in the first entry of `Filter`. Keys that are all numbers make an
/// array; `member` between a list and its numbers is left out.
pub(crate) fn tree(form: &[u8]) -> Value {
    let mut root = Node::default();
    for (key, value) in form_urlencoded::parse(form) {
        let path = key.split('.').filter(|step| *step != "member");
        let leaf = path.fold(&mut root, |node, step| {
            node.children.entry(step.to_owned()).or_default()
        });
        leaf.text = Some(value.into_owned());
    }
    value(root)
}

fn value(node: Node) -> Value {
    if let Some(text) = node.text {
        return Value::String(text);
    }
    let is_list = |children: &BTreeMap<String, Node>| {
        !children.is_empty() && children.keys().all(|key| key.parse::<u32>().is_ok())
    };
    if !is_list(&node.children) {
        let fields = node.children.into_iter();
        return Value::Object(fields.map(|(key, child)| (key, value(child))).collect());
    }
    let numbered = node.children.into_iter();
    let mut entries: Vec<(u32, Node)> = numbered
        .filter_map(|(key, child)| Some((key.parse().ok()?, child)))
        .collect();
    entries.sort_by_key(|(number, _)| *number);
    entries.into_iter().map(|(_, child)| value(child)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_make_lists_in_their_order() {
        let form = b"Action=DescribeSubnets&Filter.1.Name=tag%3Aa&Filter.1.Value.10=z&Filter.1.Value.2=y&Role.member.1=r&Empty=";
        let expected = json!({
            "Action": "DescribeSubnets", "Empty": "", "Role": ["r"],
            "Filter": [{"Name": "tag:a", "Value": ["y", "z"]}],
        });
        assert_eq!(tree(form), expected);
    }
}
