//! Writes every generated file of the checkout that it is run in. One that is right already stays untouched: Cargo goes by the time of
//! the last write, and would compile nearly everything again.

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
        if std::fs::read(&path).is_ok_and(|now| now == text.as_bytes()) {
            continue;
        }
        if let Err(error) = std::fs::write(&path, text) {
            eprintln!("error: {} cannot be written: {error}", path.display());
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
