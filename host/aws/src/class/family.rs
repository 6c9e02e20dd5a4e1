//! Image families: how instances are booted.

use plimsoll_api::kinds::Ec2NodeClassSpec;

/// An image family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// Amazon Linux 2.
    Al2,
    /// Amazon Linux 2023.
    Al2023,
    /// Bottlerocket.
    Bottlerocket,
    /// Images that know by themselves how to join.
    Custom,
    /// Windows Server 2019.
    Windows2019,
    /// Windows Server 2022.
    Windows2022,
    /// Windows Server 2025.
    Windows2025,
}

/// Families of which instances are launched, as texts for people list them.
pub(crate) const LAUNCHED_FAMILIES: &str = "AL2, AL2023, Bottlerocket or Custom";

impl Family {
    const ALL: [Self; 7] = [
        Self::Al2,
        Self::Al2023,
        Self::Bottlerocket,
        Self::Custom,
        Self::Windows2019,
        Self::Windows2022,
        Self::Windows2025,
    ];

    /// Its name in `spec.amiFamily`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Al2 => "AL2",
            Self::Al2023 => "AL2023",
            Self::Bottlerocket => "Bottlerocket",
            Self::Custom => "Custom",
            Self::Windows2019 => "Windows2019",
            Self::Windows2022 => "Windows2022",
            Self::Windows2025 => "Windows2025",
        }
    }

    /// `true` for a family of which instances are launched.
    pub(crate) const fn is_launched(self) -> bool {
        matches!(
            self,
            Self::Al2 | Self::Al2023 | Self::Bottlerocket | Self::Custom
        )
    }

    /// The family of a class: the one that it names, or else that of its alias; `None` where neither is one that is known.
    pub fn of(spec: &Ec2NodeClassSpec) -> Option<Self> {
        if let Some(name) = &spec.ami_family {
            return Self::ALL.into_iter().find(|family| family.name() == name);
        }
        let mut terms = spec.ami_selector_terms.iter();
        let alias = terms.find_map(|term| term.alias.as_deref())?;
        let (name, _) = alias.split_once('@')?;
        Self::of_alias(name)
    }

    /// The family that the first half of an alias names, such as `al2023`; `None` where there is none of that name.
    pub(crate) fn of_alias(name: &str) -> Option<Self> {
        let mut families = Self::ALL.into_iter();
        families.find(|family| *family != Self::Custom && family.name().eq_ignore_ascii_case(name))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn family(spec: serde_json::Value) -> Option<Family> {
        Family::of(&serde_json::from_value(spec).expect("a spec"))
    }

    #[test]
    fn a_family_is_named_or_follows_from_the_alias() {
        let alias = |alias: &str| json!({"amiSelectorTerms": [{"alias": alias}]});
        assert_eq!(family(alias("al2023@v20250403")), Some(Family::Al2023));
        assert_eq!(
            family(alias("windows2025@latest")),
            Some(Family::Windows2025)
        );
        assert_eq!(family(alias("custom@latest")), None);
        assert_eq!(family(alias("ubuntu@latest")), None);
        let mut both = alias("al2023@latest");
        both["amiFamily"] = "Custom".into();
        assert_eq!(family(both), Some(Family::Custom));
        assert_eq!(family(json!({"amiSelectorTerms": [{"id": "ami-1"}]})), None);
    }
    #[test]
    fn families_that_are_launched_are_those_that_texts_list() {
        for family in Family::ALL {
            let mut listed = LAUNCHED_FAMILIES.split([',', ' ']);
            let is_listed = listed.any(|name| name == family.name());
            assert_eq!(family.is_launched(), is_listed, "{family:?}");
        }
    }
}
