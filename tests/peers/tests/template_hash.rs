//! Our hash of a pool's template against Karpenter's own, on templates drawn at random.

use plimsoll_api::{Interner, Kind, Object, read};
use plimsoll_model::template_hash;
use plimsoll_peers::{HashedTemplate, Peer};
use proptest::prelude::*;
use serde_json::{Value, json};

fn hash(template: &str) -> String {
    let template: Value = serde_json::from_str(template).expect("JSON");
    let pool = json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "general"},
        "spec": {"template": template},
    });
    let read = read(Kind::NodePool, &pool, &mut Interner::default(), &mut |_| {});
    let pool = match read.expect("a pool that can be read") {
        (_, Object::Whole(plimsoll_model::Object::Pool(pool))) => Some(pool),
        _ => None,
    };
    template_hash::hash(&pool.expect("a pool")).to_string()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4, ..ProptestConfig::default() })]

    #[test]
    fn drawn_templates_have_the_hashes_of_karpenter(seed: u32) {
        let peer = Peer::build().expect("the peer builds");
        let templates = peer.hashed_templates(2000, seed).expect("templates");
        prop_assert_eq!(templates.len(), 2000);
        for HashedTemplate { hash: expected, template } in templates {
            prop_assert_eq!(hash(&template), expected, "{}", template);
        }
    }
}
