//! The CRD chart's definitions are what `plimsoll schema crds` prints, byte by byte.

use std::collections::BTreeMap;
use std::path::Path;

use crate::user::plimsoll;

#[test]
fn the_chart_has_the_definitions_that_are_printed() {
    let printed = plimsoll(&["schema", "crds"]).ok().out;
    let documents = printed.split("---\n").filter(|text| !text.is_empty());
    let printed: BTreeMap<String, String> = documents
        .map(|text| {
            let (_, rest) = text.split_once("\nmetadata:\n  name: ").expect("a name");
            let (name, _) = rest.split_once('\n').expect("a line");
            (format!("{name}.yaml"), text.to_owned())
        })
        .collect();
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../charts/plimsoll-crd/definitions");
    let kept = std::fs::read_dir(folder).expect("the folder").map(|entry| {
        let entry = entry.expect("an entry");
        let text = std::fs::read_to_string(entry.path()).expect("a file");
        (entry.file_name().to_string_lossy().into_owned(), text)
    });
    let kept: BTreeMap<String, String> = kept.collect();
    assert!(
        kept.keys().eq(printed.keys()),
        "{:?} are kept and {:?} are printed; `make definitions` makes them anew",
        kept.keys(),
        printed.keys()
    );
    for (name, text) in &printed {
        assert!(
            kept[name] == *text,
            "{name} is not what is printed; `make definitions` makes it anew"
        );
    }
}
