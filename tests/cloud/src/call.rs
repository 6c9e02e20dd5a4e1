//! Calls: the service, the operation, the input, and what came of it.

use std::time::SystemTime;

use serde_json::Value;

/// A service, told by the scope of a request's credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Service {
    /// Instances, networks, images, launch templates, fleets.
    Ec2,
    /// Clusters.
    Eks,
    /// Roles and instance profiles.
    Iam,
    /// List prices.
    Pricing,
    /// Queues.
    Sqs,
    /// Parameters.
    Ssm,
    /// Identities.
    Sts,
}

impl Service {
    const ALL: [Self; 7] = [
        Self::Ec2,
        Self::Eks,
        Self::Iam,
        Self::Pricing,
        Self::Sqs,
        Self::Ssm,
        Self::Sts,
    ];

    /// Its name in credential scopes.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ec2 => "ec2",
            Self::Eks => "eks",
            Self::Iam => "iam",
            Self::Pricing => "pricing",
            Self::Sqs => "sqs",
            Self::Ssm => "ssm",
            Self::Sts => "sts",
        }
    }

    /// The service that a header `Authorization` is signed for, and the region: `Credential=KEY/DATE/REGION/SERVICE/aws4_request`.
    pub(crate) fn signed_for(authorization: &str) -> Option<(Self, &str)> {
        let (_, scope) = authorization.split_once("Credential=")?;
        let (_, scope) = scope.split_once('/')?;
        let mut parts = scope.split('/').skip(1);
        let (region, name) = (parts.next()?, parts.next()?);
        let service = Self::ALL.into_iter().find(|own| own.name() == name)?;
        Some((service, region))
    }
}

/// A call that was answered.
#[derive(Clone, Debug)]
pub struct Call {
    /// The service.
    pub service: Service,
    /// The operation, such as `CreateFleet`.
    pub operation: String,
    /// Its input as a tree: lists of query formats are arrays.
    pub input: Value,
    /// When it came.
    pub started: SystemTime,
    /// Code of the error that it was answered with; `None` where it went well.
    pub error: Option<String>,
}
