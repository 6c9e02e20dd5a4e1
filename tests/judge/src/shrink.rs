//! Smaller manifests with the same defect: objects and types are dropped while it persists.

use serde_json::Value;

use crate::case::Case;

/// The smallest case that dropping finds for which `persists` still holds.
pub fn shrink(case: &Case, persists: &mut dyn FnMut(&Case) -> bool) -> Case {
    let mut best = case.clone();
    loop {
        let before = size(&best);
        drop_objects(&mut best, persists);
        drop_types(&mut best, persists);
        if size(&best) == before {
            return best;
        }
    }
}

fn size(case: &Case) -> usize {
    case.objects.len() + types(case).len()
}

fn types(case: &Case) -> Vec<Value> {
    crate::case::items(&case.section, "/catalogue/instanceTypes").to_vec()
}

/// Drops runs of objects, halving their length.
fn drop_objects(best: &mut Case, persists: &mut dyn FnMut(&Case) -> bool) {
    let mut length = best.objects.len().div_ceil(2);
    while length > 0 {
        let mut at = 0;
        while at < best.objects.len() {
            let mut smaller = best.clone();
            let end = (at + length).min(smaller.objects.len());
            smaller.objects.drain(at..end);
            if persists(&smaller) {
                *best = smaller;
            } else {
                at += length;
            }
        }
        length = if length == 1 { 0 } else { length.div_ceil(2) };
    }
}

fn drop_types(best: &mut Case, persists: &mut dyn FnMut(&Case) -> bool) {
    let mut at = 0;
    while at < types(best).len() {
        let mut left = types(best);
        left.remove(at);
        let mut smaller = best.clone();
        smaller.section["catalogue"]["instanceTypes"] = Value::Array(left);
        if persists(&smaller) {
            *best = smaller;
        } else {
            at += 1;
        }
    }
}
