//! Calls to the cloud as values, and the instances that it answers with. The driver of a provider carries them out; nothing here
//! knows which provider that is.

use std::sync::Arc;

use plimsoll_base::ids::{ClaimName, LaunchToken, NodeName, ProviderId};
use plimsoll_base::labels::Labels;
use plimsoll_base::resources::Resources;
use plimsoll_base::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::LaunchRequest;

/// A call to the cloud.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum CloudCall {
    /// Get instances for claims, under one token: asked again with it, the cloud answers with the instances of the first time. Answered
    /// with [`Answer::Launched`](super::Answer::Launched).
    Launch(LaunchRequest),
    /// Look which instances a launch has given, and give none. Answered as [`CloudCall::Launch`] is.
    Find(LaunchRequest),
    /// Look for an instance; answered with [`Answer::Instance`](super::Answer::Instance), or [`Answer::Absent`](super::Answer::Absent)
    /// where it is no more, is being ended, or is not of this provider.
    Get {
        /// The instance.
        instance: ProviderId,
    },
    /// End an instance; answered with [`Answer::Ending`](super::Answer::Ending) until it is no more, then with
    /// [`Answer::Gone`](super::Answer::Gone), which one that is not of this provider is as well.
    Terminate {
        /// The instance.
        instance: ProviderId,
    },
    /// List every instance that was launched for claims of this cluster and is not gone; answered with
    /// [`Answer::Listed`](super::Answer::Listed).
    List,
    /// Name an instance after its node and claim, for people who look at the cloud; names that they gave it themselves stay.
    Tag {
        /// The instance.
        instance: ProviderId,
        /// Its claim.
        claim: ClaimName,
        /// Its node.
        node: NodeName,
    },
}

/// One instance of a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ListedInstance {
    /// The instance.
    pub instance: ProviderId,
    /// The launch that gave it; `None` where the provider does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<LaunchToken>,
    /// Since when it is being ended, as far as is known; `None` while it stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ending: Option<Timestamp>,
    /// Why it no longer is what its class says, as the claim's condition `Drifted` names it; `None` where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<Arc<str>>,
}

/// An instance that was had.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LaunchedInstance {
    /// Provider id of the instance.
    pub provider_id: ProviderId,
    /// Labels that follow from its type and offering.
    pub labels: Labels,
    /// Annotations with which the provider tells later what it was launched of.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub annotations: Labels,
    /// All it has.
    pub capacity: Resources,
    /// Resources of the node for pods and daemons.
    pub allocatable: Resources,
    /// The image that it runs; `None` where the provider has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<Arc<str>>,
    /// When it was launched; `None` where the provider does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launched: Option<Timestamp>,
}
