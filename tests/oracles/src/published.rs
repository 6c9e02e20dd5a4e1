//! Files that are made from the code and published with it.

/// Fails where a published file is not what is made now; with `UPDATE_SCHEMA` set it is written first.
#[track_caller]
pub fn is_up_to_date(folder: &str, file: &str, made: &str) {
    let path = std::path::Path::new(folder).join(file);
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(&path, made).expect("the checkout can be written");
    }
    let published = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        published == made,
        "{file} is out of date; run the test with UPDATE_SCHEMA=1"
    );
}
