//! Names of fields: paths without indexes, and what an unknown field probably meant.

use serde_json::Value;

/// Least likeness of two names, from 0 to 1, for one to be suggested for the other.
const LIKENESS: f64 = 0.7;

/// A path with its indexes left out: `spec.containers[0].prots` is `spec.containers[].prots`.
pub(crate) fn without_indexes(path: &str) -> String {
    path.split_inclusive(['[', ']'])
        .map(|part| match part.strip_suffix(']') {
            Some(index) if index.bytes().all(|byte| byte.is_ascii_digit()) => "]",
            _ => part,
        })
        .collect()
}

/// The field of the section that is most like the last of `path`, within the object that the path leads to.
pub(crate) fn closest_field(path: &str) -> Option<String> {
    let schema = super::schema();
    let clean = without_indexes(path);
    let (outer, last) = clean.rsplit_once('.').unwrap_or(("", clean.as_str()));
    let mut at = &schema;
    for part in outer.split('.').filter(|part| !part.is_empty()) {
        let depth = part.matches("[]").count();
        let name = part.trim_end_matches("[]");
        at = property(&schema, at, name)?;
        for _ in 0..depth {
            at = element(&schema, at)?;
        }
    }
    let properties = object(&schema, at)?.get("properties")?.as_object()?;
    let likeness = |name: &&String| strsim::jaro_winkler(name, last);
    let best = properties
        .keys()
        .max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    (likeness(&best) >= LIKENESS).then(|| best.clone())
}

/// Follows references and alternatives to a schema of an object.
fn object<'a>(root: &'a Value, schema: &'a Value) -> Option<&'a Value> {
    resolved(root, schema, &|schema| schema.get("properties").is_some())
}

fn property<'a>(root: &'a Value, schema: &'a Value, name: &str) -> Option<&'a Value> {
    object(root, schema)?.get("properties")?.get(name)
}

fn element<'a>(root: &'a Value, schema: &'a Value) -> Option<&'a Value> {
    resolved(root, schema, &|schema| schema.get("items").is_some())?.get("items")
}

fn resolved<'a>(
    root: &'a Value,
    schema: &'a Value,
    is_found: &dyn Fn(&Value) -> bool,
) -> Option<&'a Value> {
    if is_found(schema) {
        return Some(schema);
    }
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        return resolved(root, root.pointer(reference.strip_prefix('#')?)?, is_found);
    }
    let mut alternatives = ["anyOf", "oneOf", "allOf"]
        .iter()
        .filter_map(|key| schema.get(key)?.as_array())
        .flatten();
    alternatives.find_map(|schema| resolved(root, schema, is_found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lose_their_indexes() {
        for (path, clean) in [
            ("spec.containers[0].prots[12]", "spec.containers[].prots[]"),
            ("sed", "sed"),
        ] {
            assert_eq!(without_indexes(path), clean);
        }
    }

    #[test]
    fn a_field_is_suggested_from_the_object_it_stands_in() {
        for (path, meant) in [
            ("sed", Some("seed")),
            ("settings.batchIdel", Some("batchIdle")),
            ("settings.guards.spotSharePercen", Some("spotSharePercent")),
            ("catalogue.instanceTypes[3].offering", Some("offerings")),
            (
                "catalogue.instanceTypes[3].offerings[0].availabel",
                Some("available"),
            ),
            ("xyzzy", None),
        ] {
            assert_eq!(closest_field(path).as_deref(), meant, "{path}");
        }
    }
}
