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
const AL2023: [(&str, &[Variant]); 5] = [
    ("x86_64", &[Variant::Standard]),
    ("x86_64", &[Variant::Nvidia]),
    ("x86_64", &[Variant::Neuron]),
    ("arm64", &[Variant::Standard]),
    ("arm64", &[Variant::Nvidia]),
];

/// Folders of AL2's parameters, begins of the names of its images, and the types that each fits. The image with drivers for GPUs has those for
/// accelerators, too, and there is none of it for Arm.
const AL2: [(&str, &str, &[Variant]); 3] = [
    ("amazon-linux-2", "amazon-eks-node", &[Variant::Standard]),
    (
        "amazon-linux-2-arm64",
        "amazon-eks-arm64-node",
        &[Variant::Standard],
    ),
    (
        "amazon-linux-2-gpu",
        "amazon-eks-gpu-node",
        &[Variant::Nvidia, Variant::Neuron],
    ),
];

/// Flavours and architectures of Bottlerocket's images, and the types that each fits: types with accelerators boot the standard one. Images for
/// FIPS are not found by alias.
const BOTTLEROCKET: [(&str, &str, &[Variant]); 4] = [
    ("", "x86_64", &[Variant::Standard, Variant::Neuron]),
    ("", "arm64", &[Variant::Standard]),
    ("-nvidia", "x86_64", &[Variant::Nvidia]),
    ("-nvidia", "arm64", &[Variant::Nvidia]),
];

/// First version of Kubernetes for which AWS publishes no images of AL2.
const FIRST_WITHOUT_AL2: (u32, u32) = (1, 33);

/// A published parameter that holds the id of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AliasParameter {
    /// Its name.
    pub name: String,
    /// Types that the image fits, beside its architecture; at least one kind.
    pub variants: &'static [Variant],
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
    #[error("alias \"{0}\"; expected an alias of family al2, al2023 or bottlerocket")]
    Unsupported(String),
    /// AWS publishes no images of AL2 for this version of Kubernetes.
    #[error(
        "alias \"{alias}\" on Kubernetes {kubernetes}; images of AL2 end with 1.32, expected an alias of family al2023 or bottlerocket"
    )]
    Ended {
        /// The alias.
        alias: String,
        /// Version of the cluster, such as `1.34`.
        kubernetes: String,
    },
}

/// Parameters of an alias on a version of Kubernetes such as `1.34`. Those that AWS has not published are skipped when they are read.
pub(crate) fn parameters(alias: &str, kubernetes: &str) -> Result<Vec<AliasParameter>, AliasError> {
    let malformed = || AliasError::Malformed(alias.to_owned());
    let (family, release) = alias.split_once('@').ok_or_else(malformed)?;
    match Family::of_alias(family).ok_or_else(malformed)? {
        Family::Al2 if has_no_al2(kubernetes) => Err(AliasError::Ended {
            alias: alias.to_owned(),
            kubernetes: kubernetes.to_owned(),
        }),
        Family::Al2 => Ok(of_al2(release, kubernetes)),
        Family::Al2023 => Ok(of_al2023(release, kubernetes)),
        Family::Bottlerocket => Ok(of_bottlerocket(release, kubernetes)),
        _ => Err(AliasError::Unsupported(alias.to_owned())),
    }
}

/// `true` for a version of Kubernetes that AWS publishes no images of AL2 for; `false` also for one that cannot be read.
fn has_no_al2(kubernetes: &str) -> bool {
    let numbers = kubernetes.split_once('.').and_then(|(major, minor)| {
        let minor = minor.split('.').next()?;
        Some((major.parse().ok()?, minor.parse().ok()?))
    });
    numbers.is_some_and(|version: (u32, u32)| version >= FIRST_WITHOUT_AL2)
}

/// Names of the EKS-optimized images of Amazon Linux are in folders of a version of Kubernetes.
fn of_amazon_linux(
    (folder, image): (&str, &str),
    variants: &'static [Variant],
    release: &str,
    kubernetes: &str,
) -> AliasParameter {
    let image = match release {
        "latest" => "recommended".to_owned(),
        release => format!("{image}-{kubernetes}-{release}"),
    };
    AliasParameter {
        name: format!("/aws/service/eks/optimized-ami/{kubernetes}/{folder}/{image}/image_id"),
        variants,
        moves: release == "latest",
    }
}

fn of_al2(release: &str, kubernetes: &str) -> Vec<AliasParameter> {
    let all = AL2.iter();
    all.map(|(folder, image, variants)| {
        of_amazon_linux((folder, image), variants, release, kubernetes)
    })
    .collect()
}

fn of_al2023(release: &str, kubernetes: &str) -> Vec<AliasParameter> {
    let parameter = |(arch, variants): &(&str, &'static [Variant])| {
        let name = variants.first().map_or("", |own| own.name());
        let folder = format!("amazon-linux-2023/{arch}/{name}");
        let image = format!("amazon-eks-node-al2023-{arch}-{name}");
        of_amazon_linux((&folder, &image), variants, release, kubernetes)
    };
    AL2023.iter().map(parameter).collect()
}

fn of_bottlerocket(release: &str, kubernetes: &str) -> Vec<AliasParameter> {
    let version = release.trim_start_matches('v');
    let parameter = |(flavour, arch, variants): &(&str, &str, &'static [Variant])| AliasParameter {
        name: format!(
            "/aws/service/bottlerocket/aws-k8s-{kubernetes}{flavour}/{arch}/{version}/image_id"
        ),
        variants,
        moves: release == "latest",
    };
    BOTTLEROCKET.iter().map(parameter).collect()
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

    /// The parameters of an alias on a version of Kubernetes, each with the kinds of types that it is for.
    fn listed(alias: &str, kubernetes: &str) -> Vec<String> {
        let parameters = parameters(alias, kubernetes).expect("parameters");
        let shown = |own: AliasParameter| {
            let variants = own.variants.iter().map(|own| own.name());
            format!("{} {}", own.name, variants.collect::<Vec<_>>().join(","))
        };
        parameters.into_iter().map(shown).collect()
    }

    #[test]
    fn bottlerocket_has_an_image_for_accelerators_and_none_for_each_of_them() {
        let folder = "/aws/service/bottlerocket/aws-k8s-1.34";
        for (alias, version) in [
            ("bottlerocket@latest", "latest"),
            ("bottlerocket@v1.46.0", "1.46.0"),
            ("bottlerocket@1.46.0", "1.46.0"),
        ] {
            let expected = [
                format!("{folder}/x86_64/{version}/image_id standard,neuron"),
                format!("{folder}/arm64/{version}/image_id standard"),
                format!("{folder}-nvidia/x86_64/{version}/image_id nvidia"),
                format!("{folder}-nvidia/arm64/{version}/image_id nvidia"),
            ];
            assert_eq!(listed(alias, "1.34"), expected, "{alias}");
            let parameters = parameters(alias, "1.34").expect("parameters");
            let moves = alias.ends_with("latest");
            assert!(parameters.iter().all(|own| own.moves == moves), "{alias}");
        }
    }

    #[test]
    fn al2_has_one_image_for_gpus_and_accelerators_and_ends_with_kubernetes_1_32() {
        let folder = "/aws/service/eks/optimized-ami/1.32/amazon-linux-2";
        let latest = [
            format!("{folder}/recommended/image_id standard"),
            format!("{folder}-arm64/recommended/image_id standard"),
            format!("{folder}-gpu/recommended/image_id nvidia,neuron"),
        ];
        assert_eq!(listed("al2@latest", "1.32"), latest);
        let release = [
            format!("{folder}/amazon-eks-node-1.32-v20250403/image_id standard"),
            format!("{folder}-arm64/amazon-eks-arm64-node-1.32-v20250403/image_id standard"),
            format!("{folder}-gpu/amazon-eks-gpu-node-1.32-v20250403/image_id nvidia,neuron"),
        ];
        assert_eq!(listed("al2@v20250403", "1.32"), release);
        for (kubernetes, ended) in [
            ("1.32", false),
            ("1.33", true),
            ("1.100", true),
            ("2.0", true),
            ("?", false),
        ] {
            let refused = parameters("al2@latest", kubernetes).is_err();
            assert_eq!(refused, ended, "{kubernetes}");
        }
    }

    #[test]
    fn what_is_no_alias_is_told() {
        for (alias, words) in [
            ("al2023", "expected a family and a release"),
            ("ubuntu@latest", "expected a family and a release"),
            (
                "windows2022@latest",
                "expected an alias of family al2, al2023 or bottlerocket",
            ),
            (
                "al2@latest",
                "on Kubernetes 1.34; images of AL2 end with 1.32, expected an alias of family al2023 or bottlerocket",
            ),
        ] {
            let refused = parameters(alias, "1.34").expect_err(alias).to_string();
            assert!(
                refused.contains(alias) && refused.contains(words),
                "{refused}"
            );
        }
    }
}
