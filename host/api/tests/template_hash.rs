//! Hash of a pool's template as the incumbent has it, from the object as an API server hands it out to the annotation.
//!
//! The table is written by `tests/peers/hashes.sh`, from `sigs.k8s.io/karpenter` at the version that `tests/peers/go.mod` pins.

use plimsoll_api::{Interner, Kind, Object, read};
use plimsoll_core::{model, template_hash};
use serde_json::{Value, json};

const TABLE: &str = include_str!("data/template-hashes.txt");

fn pool(template: &Value) -> Object {
    let object = json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "general"},
        "spec": {"template": template},
    });
    let mut unknown = |path: &str| panic!("no field {path}");
    let mut interner = Interner::default();
    let (_, object) = read(Kind::NodePool, &object, &mut interner, &mut unknown).unwrap();
    object
}

fn hash(pool: &Object) -> String {
    let Object::Whole(model::Object::Pool(pool)) = pool else {
        panic!("{pool:?} is no pool");
    };
    template_hash::hash(pool).to_string()
}

fn rows() -> impl Iterator<Item = (&'static str, Value)> {
    TABLE.lines().map(|line| {
        let (hash, template) = line.split_once(' ').unwrap();
        (hash, serde_json::from_str(template).unwrap())
    })
}

#[test]
fn templates_have_the_hashes_of_the_incumbent() {
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
