//! Aliases of images: the parameters in which AWS publishes the images of a release, and the types that each fits.

use plimsoll_api::kinds::NodeSelectorRequirement;

use crate::class::family::Family;

/// Label with the number of GPUs of a type.
pub(crate) const GPUS: &str = "karpenter.k8s.aws/instance-gpu-count";
/// Label with the number of accelerators of a type that are no GPUs.
pub(crate) const ACCELERATORS: &str = "karpenter.k8s.aws/instance-accelerator-count";

/// Types by what they accelerate with, for which there are images of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variant {
    /// Neither GPUs nor accelerators.
    Standard,
    /// GPUs of Nvidia.
    Nvidia,
    /// Accelerators of AWS.
    Neuron,
}

impl Variant {
    const fn name(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Nvidia => "nvidia",
            Self::Neuron => "neuron",
        }
    }

    /// Requirements that a type has to satisfy to be of this variant.
    pub(crate) fn requirements(self) -> Vec<NodeSelectorRequirement> {
        let one = |key: &str, operator: &str| NodeSelectorRequirement {
            key: key.to_owned(),
            operator: operator.to_owned(),
            ..NodeSelectorRequirement::default()
        };
        match self {
            Self::Standard => vec![one(ACCELERATORS, "DoesNotExist"), one(GPUS, "DoesNotExist")],
            Self::Nvidia => vec![one(GPUS, "Exists")],
            Self::Neuron => vec![one(ACCELERATORS, "Exists")],
        }
    }
}

/// Architectures in EC2's words, with the variants that AL2023 has images of.
const AL2023: [(&str, &[Variant]); 2] = [
    (
        "x86_64",
        &[Variant::Standard, Variant::Nvidia, Variant::Neuron],
    ),
    ("arm64", &[Variant::Standard, Variant::Nvidia]),
];

/// A published parameter that holds the id of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AliasParameter {
    /// Its name.
    pub name: String,
    /// Types that the image fits, beside its architecture.
    pub variant: Variant,
    /// `true` if it names another image from one release to the next.
    pub moves: bool,
}

/// Why an alias stands for nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AliasError {
    /// The text is no alias of a family that is known.
    #[error(
        "alias \"{0}\"; expected a family and a release, such as al2023@v20250403 or al2023@latest"
    )]
    Malformed(String),
    /// Images of this family are not resolved.
    #[error("alias \"{0}\"; images are found by alias for al2023")]
    Unsupported(String),
}

/// Parameters of an alias on a version of Kubernetes such as `1.34`. Those that AWS has not published are skipped when they are read.
pub(crate) fn parameters(alias: &str, kubernetes: &str) -> Result<Vec<AliasParameter>, AliasError> {
    let malformed = || AliasError::Malformed(alias.to_owned());
    let (family, release) = alias.split_once('@').ok_or_else(malformed)?;
    match Family::of_alias(family).ok_or_else(malformed)? {
        Family::Al2023 => Ok(of_al2023(release, kubernetes)),
        _ => Err(AliasError::Unsupported(alias.to_owned())),
    }
}

fn of_al2023(release: &str, kubernetes: &str) -> Vec<AliasParameter> {
    let all = AL2023.iter();
    let each =
        all.flat_map(|(arch, variants)| variants.iter().map(move |variant| (arch, *variant)));
    let parameter = |(arch, variant): (&&str, Variant)| {
        let name = variant.name();
        let image = match release {
            "latest" => "recommended".to_owned(),
            release => format!("amazon-eks-node-al2023-{arch}-{name}-{kubernetes}-{release}"),
        };
        AliasParameter {
            name: format!(
                "/aws/service/eks/optimized-ami/{kubernetes}/amazon-linux-2023/{arch}/{name}/{image}/image_id"
            ),
            variant,
            moves: release == "latest",
        }
    };
    each.map(parameter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_has_a_parameter_for_each_architecture_and_variant() {
        let names = |alias: &str| {
            let parameters = parameters(alias, "1.34").expect("parameters");
            parameters
                .into_iter()
                .map(|own| own.name)
                .collect::<Vec<_>>()
        };
        for (alias, moves) in [("al2023@latest", true), ("al2023@v20250403", false)] {
            let parameters = parameters(alias, "1.34").expect("parameters");
            assert!(parameters.iter().all(|own| own.moves == moves), "{alias}");
        }
        let latest = names("al2023@latest");
        assert_eq!(latest.len(), 5);
        assert_eq!(
            latest[0],
            "/aws/service/eks/optimized-ami/1.34/amazon-linux-2023/x86_64/standard/recommended/image_id"
        );
        assert_eq!(
            names("al2023@v20250403")[4],
            "/aws/service/eks/optimized-ami/1.34/amazon-linux-2023/arm64/nvidia/amazon-eks-node-al2023-arm64-nvidia-1.34-v20250403/image_id"
        );
    }

    #[test]
    fn what_is_no_alias_is_told() {
        for (alias, words) in [
            ("al2023", "expected a family and a release"),
            ("ubuntu@latest", "expected a family and a release"),
            ("bottlerocket@latest", "found by alias for al2023"),
        ] {
            let refused = parameters(alias, "1.34").expect_err(alias).to_string();
            assert!(
                refused.contains(alias) && refused.contains(words),
                "{refused}"
            );
        }
    }
}
