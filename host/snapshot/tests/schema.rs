//! The published schema is the one of the types.

use plimsoll_oracles::published::is_up_to_date;

#[test]
fn the_published_schema_is_the_one_of_the_types() {
    let made = format!("{:#}\n", plimsoll_snapshot::section::schema());
    is_up_to_date(
        env!("CARGO_MANIFEST_DIR"),
        "schema/snapshot-v1alpha1.json",
        &made,
    );
}
