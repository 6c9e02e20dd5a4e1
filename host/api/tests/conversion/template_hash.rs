//! Hash of a pool's template as Karpenter has it, from the object as an API server hands it out to the annotation.
//!
//! The table is written by `tests/peers/hashes.sh`, from `sigs.k8s.io/karpenter` at the version that `tests/peers/go.mod` pins.

use plimsoll_api::{Interner, Kind, Object, read};
use plimsoll_model::template_hash;
use serde_json::{Value, json};

const TABLE: &str = include_str!("../data/template-hashes.txt");

fn pool(template: &Value) -> Object {
    let object = json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "general"},
        "spec": {"template": template},
    });
    let mut unknown = Vec::new();
    let mut interner = Interner::default();
    let mut note = |path: &str| unknown.push(path.to_owned());
    let read = read(Kind::NodePool, &object, &mut interner, &mut note);
    assert!(unknown.is_empty(), "{unknown:?}");
    read.expect("a pool").1
}

fn hash(pool: &Object) -> String {
    let pool = match pool {
        Object::Whole(plimsoll_model::Object::Pool(pool)) => Some(pool),
        _ => None,
    };
    template_hash::hash(pool.expect("a pool")).to_string()
}

fn rows() -> impl Iterator<Item = (&'static str, Value)> {
    TABLE.lines().map(|line| {
        let (hash, template) = line.split_once(' ').expect("a hash and a template");
        (hash, serde_json::from_str(template).expect("JSON"))
    })
}

#[test]
fn templates_have_the_hashes_of_karpenter() {
    let mut hashes: Vec<&str> = Vec::new();
    for (expected, template) in rows() {
        assert_eq!(hash(&pool(&template)), expected, "{template}");
        hashes.push(expected);
    }
    let rows = hashes.len();
    hashes.sort_unstable();
    hashes.dedup();
    assert!(rows > 120, "{rows} templates");
    assert!(hashes.len() > 110, "{} hashes", hashes.len());
}

#[test]
fn a_pool_that_is_written_and_read_again_has_the_same_hash() {
    for (expected, template) in rows() {
        let written = pool(&template).to_value();
        let again = pool(&written["spec"]["template"]);
        assert_eq!(hash(&again), expected, "{template}");
    }
}
