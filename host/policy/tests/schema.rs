//! The published schema of records is the one of the types.

use std::path::Path;

#[test]
fn the_published_schema_of_records_is_the_one_of_the_types() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema/records-v1alpha1.json");
    let made = format!("{:#}\n", plimsoll_policy::records::schema());
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let published = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        published == made,
        "schema/records-v1alpha1.json is out of date; run the test with UPDATE_SCHEMA=1"
    );
}
