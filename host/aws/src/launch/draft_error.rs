//! Why a launch cannot be asked for: claims are told one way, the condition of their class another.

use plimsoll_model::action::Reason;
use plimsoll_model::catalogue::OfferingKey;
use thiserror::Error;

use crate::class::tags::RestrictedTag;
use crate::user_data::UserDataError;

/// A launch that cannot be asked for.
#[derive(Clone, Debug, PartialEq, Error)]
pub(crate) enum DraftError {
    /// There is no claim to launch for.
    #[error("a launch without claims")]
    NoClaims,
    /// Nothing that could be bought boots an image of the class in one of its subnets.
    #[error("none of the ways to buy is in a subnet of the class with an image for its type")]
    NothingToBuy(Vec<OfferingKey>),
    /// The class says what cannot be launched.
    #[error("EC2NodeClass {class}: {fault}")]
    Class {
        /// Its name.
        class: String,
        /// Its fault.
        fault: ClassFault,
    },
}

/// A fault of a class that only a launch brings up.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum ClassFault {
    /// Its tags.
    #[error(transparent)]
    Tag(#[from] RestrictedTag),
    /// Its user data.
    #[error(transparent)]
    UserData(#[from] UserDataError),
}

impl ClassFault {
    /// Reason of the class's condition.
    pub(crate) const fn reason(&self) -> &'static str {
        match self {
            Self::Tag(_) => "TagValidationFailed",
            Self::UserData(UserDataError::NoServiceCidr) => "ClusterCIDRResolutionFailed",
            Self::UserData(
                UserDataError::MalformedMime(_)
                | UserDataError::MalformedToml(_)
                | UserDataError::Settings(_),
            ) => "UserDataInvalid",
            Self::UserData(UserDataError::TooLong(_)) => "UserDataSizeLimitExceeded",
            Self::UserData(UserDataError::UnsupportedFamily(_)) => "UnsupportedFamily",
        }
    }
}

impl From<DraftError> for Reason {
    fn from(error: DraftError) -> Self {
        match error {
            DraftError::NoClaims => Self::Other(error.to_string()),
            DraftError::NothingToBuy(offerings) => Self::out_of_stock(offerings),
            DraftError::Class { .. } => Self::ClassNotReady(error.to_string()),
        }
    }
}
