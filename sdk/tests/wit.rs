//! The copy of the interface that is packaged with this crate equals the contract.

use std::path::Path;

#[test]
fn the_packaged_interface_is_the_contract() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (ours, contract) = (here.join("wit/0.1"), here.join("../wit/0.1"));
    let names = |folder: &Path| -> Vec<_> {
        let mut names: Vec<_> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        names.sort();
        names
    };
    assert_eq!(names(&ours), names(&contract));
    for name in names(&contract) {
        let read = |folder: &Path| std::fs::read_to_string(folder.join(&name)).unwrap();
        assert_eq!(
            read(&ours),
            read(&contract),
            "sdk/wit/0.1 and wit/0.1 differ in {}",
            name.display()
        );
    }
}
