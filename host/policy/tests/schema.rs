//! The published schema of records is the one of the types.

use plimsoll_oracles::published::is_up_to_date;

#[test]
fn the_published_schema_of_records_is_the_one_of_the_types() {
    let made = format!("{:#}\n", plimsoll_policy::records::schema());
    is_up_to_date(
        env!("CARGO_MANIFEST_DIR"),
        "schema/records-v1alpha1.json",
        &made,
    );
}
