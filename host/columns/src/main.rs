//! Writes every generated file of the checkout that it is run in.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for file in plimsoll_columns::emit::files() {
        let path = root.join(&file.path);
        let text = match file.formatted() {
            Ok(text) => text,
            Err(error) => {
                eprintln!("error: {}: {error}", file.path);
                return ExitCode::FAILURE;
            }
        };
        if let Err(error) = std::fs::write(&path, text) {
            eprintln!("error: {} cannot be written: {error}", path.display());
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
