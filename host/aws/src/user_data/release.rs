//! Releases of Bottlerocket's images, as the alias or the names of a class's images say them.

use plimsoll_api::kinds::ImageTerm;

/// First release of Bottlerocket that knows by itself which folders belong on local disks.
const FIRST_WITH_FOLDERS: [u64; 3] = [1, 46, 0];

/// A release of an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Release {
    /// Nothing names it, or not by three numbers.
    #[default]
    Unknown,
    /// The newest one, by an alias that says so.
    Latest,
    /// That of three numbers, such as 1.46.0.
    Numbered([u64; 3]),
}

impl Release {
    /// The release that an alias among the terms names, or else a name among them, or else the name of the image that is booted, if it is one of
    /// Bottlerocket's.
    pub(crate) fn of(terms: &[ImageTerm], image: Option<&str>) -> Self {
        let mut aliases = terms.iter().filter_map(|term| term.alias.as_deref());
        let alias = aliases.find_map(|alias| Some(alias.split_once('@')?.1));
        let mut names = terms.iter().filter_map(|term| term.name.as_deref());
        let image = image.filter(|name| name.contains("bottlerocket"));
        let said = alias
            .or_else(|| names.find_map(piece))
            .or_else(|| image.and_then(piece));
        match said {
            None => Self::Unknown,
            Some("latest") => Self::Latest,
            Some(version) => numbers(version).map_or(Self::Unknown, Self::Numbered),
        }
    }

    /// `true` if Bottlerocket of this release puts all its folders on local disks unasked; `false` where that is not known.
    pub(crate) fn knows_folders(self) -> bool {
        match self {
            Self::Unknown => false,
            Self::Latest => true,
            Self::Numbered(numbers) => numbers >= FIRST_WITH_FOLDERS,
        }
    }
}

/// The piece of a name that says a release: `v1.46.0` of `bottlerocket-aws-k8s-1.34-x86_64-v1.46.0-431fe75a`.
fn piece(name: &str) -> Option<&str> {
    let mut pieces = name.split('-');
    pieces.find(|piece| piece.starts_with('v') && piece.contains('.'))
}

fn numbers(version: &str) -> Option<[u64; 3]> {
    let numbers = version.trim_start_matches('v').split('.');
    let numbers: Option<Vec<u64>> = numbers.map(|number| number.parse().ok()).collect();
    numbers?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn folders_are_left_to_releases_that_are_known_to_know_them() {
        let own = "bottlerocket-aws-k8s-1.34-x86_64-v1.46.0-431fe75a";
        let older = "bottlerocket-aws-k8s-1.34-x86_64-v1.45.9-431fe75a";
        let alias = |release: &str| json!({"alias": format!("bottlerocket@{release}")});
        let name = |name: &str| json!({"name": name});
        for (term, image, knows) in [
            (alias("latest"), Some(older), true),
            (alias("v1.46.0"), None, true),
            (alias("1.46.0"), None, true),
            (alias("v1.100.0"), None, true),
            (alias("v2.0.0"), None, true),
            (alias("1.45.0"), None, false),
            // Three numbers are needed; the image's name is not read behind an alias.
            (alias("1.46"), Some(own), false),
            (name("bottlerocket-*-x86_64-v1.46.1-*"), None, true),
            (name("bottlerocket-*-x86_64-v1.46.*"), Some(own), false),
            (name("bottlerocket-*-x86_64-v1.45.0-*"), Some(own), false),
            (name("bottlerocket-*"), Some(own), true),
            (name("bottlerocket-*"), Some(older), false),
            (json!({"id": "ami-1"}), Some(own), true),
            (json!({"id": "ami-1"}), Some("my-bottlerocket"), false),
            (json!({"id": "ami-1"}), Some("mine-v1.46.0"), false),
            (json!({"id": "ami-1"}), None, false),
        ] {
            let terms: Vec<ImageTerm> =
                serde_json::from_value(Value::Array(vec![term.clone()])).expect("terms");
            let release = Release::of(&terms, image);
            assert_eq!(
                release.knows_folders(),
                knows,
                "{term} {image:?}: {release:?}"
            );
        }
    }
}
