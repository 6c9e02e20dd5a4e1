//! Writes every generated file of the checkout that it is run in.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for file in plimsoll_columns::emit::files() {
        let path = root.join(&file.path);
        let written = file
            .formatted()
            .and_then(|text| std::fs::write(&path, text));
        if let Err(error) = written {
            eprintln!("error: {} cannot be written: {error}", path.display());
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
