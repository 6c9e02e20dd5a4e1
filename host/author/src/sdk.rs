//! Source of a policy's SDK: the folder somebody names, or the checkout that this program was built from.

use std::path::{Path, PathBuf};

use thiserror::Error;

/// The SDK's folder in the checkout that this program was built from.
const CHECKOUT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../sdk");

/// The SDK, and why this one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sdk {
    /// Folder of the crate, absolute or relative to the working directory.
    pub folder: PathBuf,
    /// Where it comes from, for people.
    pub origin: &'static str,
    /// The lock file it was tested with, if it has one.
    pub lock: Option<PathBuf>,
}

/// There is no SDK.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("there is no SDK in {}; expected the folder of the crate plimsoll-sdk", folder.display())]
pub struct NoSdk {
    /// Where it was looked for.
    pub folder: PathBuf,
}

/// Finds the SDK: the folder named, else that of the checkout.
pub fn find(named: Option<&Path>) -> Result<Sdk, NoSdk> {
    let (folder, origin) = match named {
        Some(folder) => (folder, "as asked for"),
        None => (
            Path::new(CHECKOUT),
            "the checkout that this program was built from",
        ),
    };
    let missing = || NoSdk {
        folder: folder.to_owned(),
    };
    let folder = folder.canonicalize().map_err(|_| missing())?;
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
    if !manifest.contains("name = \"plimsoll-sdk\"") {
        return Err(missing());
    }
    let locks = folder.ancestors().map(|above| above.join("Cargo.lock"));
    let lock = locks.into_iter().find(|lock| lock.is_file());
    Ok(Sdk {
        folder,
        origin,
        lock,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checkout_has_an_sdk_and_a_lock() {
        let sdk = find(None).unwrap();
        assert!(sdk.folder.join("src/lib.rs").is_file());
        assert!(sdk.lock.is_some());
    }

    #[test]
    fn a_folder_that_is_no_sdk_is_named() {
        let elsewhere = Path::new(env!("CARGO_MANIFEST_DIR"));
        let error = find(Some(elsewhere)).unwrap_err();
        assert_eq!(error.folder, elsewhere);
        assert!(find(Some(Path::new("/nowhere"))).is_err());
    }
}
