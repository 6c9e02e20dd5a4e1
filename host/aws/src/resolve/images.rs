//! Images of a class: of those that fit the same types the best one.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use k8s_openapi::jiff::Timestamp;
use plimsoll_api::kinds::{FoundImage, ImageTerm, NodeSelectorRequirement};

use super::Query;
use super::alias::Variant;

const ARCH: &str = "kubernetes.io/arch";

/// An image, as EC2 tells of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Image {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its architecture, in EC2's words.
    pub architecture: String,
    /// When it was made; `None` where it does not say.
    pub created: Option<Timestamp>,
    /// From when on it is deprecated; `None` for never.
    pub deprecated: Option<Timestamp>,
}

/// Variants that published images are for, by id.
pub(crate) type Published = BTreeMap<String, Vec<Variant>>;

/// Queries for the images of terms. `ids` are those that parameters named: of aliases, and of terms with a parameter.
pub(crate) fn queries(terms: &[ImageTerm], ids: impl IntoIterator<Item = String>) -> Vec<Query> {
    let available =
        |query: Query| Some(query.and(Query::one_of("state", ["available".to_owned()])?));
    let own = terms.iter().filter_map(|term| term.id.clone());
    let by_id = Query::one_of("image-id", own.chain(ids)).and_then(available);
    let is_by_name = |term: &&ImageTerm| {
        term.id.is_none() && term.alias.is_none() && term.ssm_parameter.is_none()
    };
    let by_name = terms
        .iter()
        .filter(is_by_name)
        .filter_map(|term| available(named(term)?));
    by_id.into_iter().chain(by_name).collect()
}

/// An image with the requirements of the types that it fits.
type Fitting = (Image, Vec<NodeSelectorRequirement>);

/// Query for the images of a term by their name and their tags; `None` where it says neither, whatever their owner.
fn named(term: &ImageTerm) -> Option<Query> {
    let name = term.name.clone().map(|name| Query::one_of("name", [name]));
    let tags = (!term.tags.is_empty()).then(|| Query::tagged(&term.tags));
    let query = match (name, tags) {
        (Some(name), Some(tags)) => name?.and(tags?),
        (Some(only), None) | (None, Some(only)) => only?,
        (None, None) => return None,
    };
    let owners = match &term.owner {
        Some(owner) => vec![owner.clone()],
        None if term.name.is_some() => vec!["self".to_owned(), "amazon".to_owned()],
        None => Vec::new(),
    };
    Some(query.owned_by(owners))
}

/// Images as the status has them, the newest first. Of those that fit the same types only the best is there: one that is not deprecated before
/// one that is, then the newest, then the one whose name comes last. Images of architectures that nodes do not have are left out.
pub(crate) fn images(found: Vec<Image>, published: &Published, now: Timestamp) -> Vec<FoundImage> {
    let mut best: BTreeMap<Vec<(String, String)>, Fitting> = BTreeMap::new();
    for image in found {
        let Some(arch) = arch(&image.architecture) else {
            continue;
        };
        let variants = published.get(&image.id);
        let sets = variants.map_or_else(
            || vec![Vec::new()],
            |variants| {
                variants
                    .iter()
                    .map(|variant| variant.requirements())
                    .collect()
            },
        );
        for mut requirements in sets {
            requirements.push(NodeSelectorRequirement {
                key: ARCH.to_owned(),
                operator: "In".to_owned(),
                values: vec![arch.to_owned()],
                min_values: None,
            });
            requirements.sort_by(|one, other| {
                (one.key.len(), &one.key).cmp(&(other.key.len(), &other.key))
            });
            let fits = requirements.iter().map(|own| {
                (
                    own.key.clone(),
                    format!("{} {}", own.operator, own.values.join(",")),
                )
            });
            let fits: Vec<_> = fits.collect();
            let is_better = best
                .get(&fits)
                .is_none_or(|(last, _)| rank(&image, now) > rank(last, now));
            if is_better {
                best.insert(fits, (image.clone(), requirements));
            }
        }
    }
    let mut all: Vec<_> = best.into_values().collect();
    all.sort_by_key(|(image, _)| (Reverse(image.created), image.id.clone()));
    let shown = |(image, requirements): (Image, Vec<NodeSelectorRequirement>)| FoundImage {
        deprecated: is_deprecated(&image, now),
        id: image.id,
        name: Some(image.name),
        requirements,
    };
    all.into_iter().map(shown).collect()
}

fn rank(image: &Image, now: Timestamp) -> (bool, Option<Timestamp>, &str) {
    (!is_deprecated(image, now), image.created, &image.name)
}

/// `true` if an image is deprecated at a time.
pub(super) fn is_deprecated(image: &Image, now: Timestamp) -> bool {
    image.deprecated.is_some_and(|from| from <= now)
}

/// An architecture in Kubernetes' words.
fn arch(architecture: &str) -> Option<&'static str> {
    match architecture {
        "x86_64" => Some("amd64"),
        "arm64" => Some("arm64"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().expect("a time")
    }

    fn now() -> Timestamp {
        at("2026-01-01T00:00:00Z")
    }

    fn image(id: &str, architecture: &str, created: &str, deprecated: Option<&str>) -> Image {
        Image {
            id: id.to_owned(),
            name: format!("name-{id}"),
            architecture: architecture.to_owned(),
            created: Some(at(created)),
            deprecated: deprecated.map(at),
        }
    }

    fn ids(found: Vec<Image>, published: &Published) -> Vec<String> {
        let images = images(found, published, now()).into_iter();
        images
            .map(|own| {
                format!(
                    "{}{}",
                    own.id,
                    if own.deprecated { " deprecated" } else { "" }
                )
            })
            .collect()
    }

    #[test]
    fn ids_are_asked_for_together_and_names_are_sought_with_us_and_amazon() {
        let terms: Vec<ImageTerm> = serde_json::from_value(json!([
            {"alias": "al2023@latest"}, {"id": "ami-1"}, {"ssmParameter": "/mine"},
            {"name": "mine-*"}, {"name": "x", "owner": "111122223333", "tags": {"a": "*"}}, {"tags": {"b": "c"}},
        ]))
        .expect("terms");
        let queries = queries(&terms, ["ami-2".to_owned()]);
        let shown = queries.iter().map(|query| {
            let filters = query
                .filters()
                .iter()
                .map(|(name, values)| format!("{name}={}", values.join("|")));
            format!(
                "{} by {}",
                filters.collect::<Vec<_>>().join(" "),
                query.owners().join("|")
            )
        });
        let expected = [
            "image-id=ami-1|ami-2 state=available by ",
            "name=mine-* state=available by self|amazon",
            "name=x tag-key=a state=available by 111122223333",
            "tag:b=c state=available by ",
        ];
        assert_eq!(shown.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn the_best_image_is_newest_and_not_deprecated() {
        let none = Published::new();
        let (old, new) = ("2025-01-01T00:00:00Z", "2025-06-01T00:00:00Z");
        let both = vec![
            image("a", "x86_64", old, None),
            image("b", "x86_64", new, None),
        ];
        assert_eq!(ids(both, &none), ["b"]);
        let gone = vec![
            image("a", "x86_64", old, None),
            image("b", "x86_64", new, Some(new)),
        ];
        assert_eq!(ids(gone, &none), ["a"]);
        let later = vec![image("b", "x86_64", new, Some("2027-01-01T00:00:00Z"))];
        assert_eq!(ids(later, &none), ["b"]);
        let only = vec![image("b", "x86_64", new, Some(new))];
        assert_eq!(ids(only, &none), ["b deprecated"]);
        let twins = vec![
            image("b", "arm64", new, None),
            image("a", "arm64", new, None),
            image("i", "i386", new, None),
        ];
        assert_eq!(ids(twins, &none), ["b"]);
    }

    #[test]
    fn images_of_different_types_stand_beside_each_other_and_one_may_fit_in_two_ways() {
        let created = "2025-01-01T00:00:00Z";
        let found = vec![
            image("a", "x86_64", created, None),
            image("b", "arm64", created, None),
        ];
        let published: Published =
            [("a".to_owned(), vec![Variant::Standard, Variant::Neuron])].into();
        let images = images(found, &published, now());
        let shown = images.iter().map(|image| {
            let requirements = image
                .requirements
                .iter()
                .map(|own| format!("{} {}{}", own.key, own.operator, own.values.join(",")));
            format!(
                "{}: {}",
                image.id,
                requirements.collect::<Vec<_>>().join("; ")
            )
        });
        let expected = [
            "a: kubernetes.io/arch Inamd64; karpenter.k8s.aws/instance-accelerator-count Exists",
            "a: kubernetes.io/arch Inamd64; karpenter.k8s.aws/instance-gpu-count DoesNotExist; karpenter.k8s.aws/instance-accelerator-count DoesNotExist",
            "b: kubernetes.io/arch Inarm64",
        ];
        assert_eq!(shown.collect::<Vec<_>>(), expected);
    }
}
