//! Status of instances, as far as something is wrong with them.

use aws_sdk_ec2::types::{
    Filter, InstanceStatus as Described, InstanceStatusSummary, StatusName, StatusType,
};
use plimsoll_base::time::Timestamp;
use plimsoll_lifecycle::Interruption;

use super::paced::Call;
use super::{CallError, Clients};
use crate::health::{Impairment, SCHEDULED};

/// Entries of a list at once: as many as EC2 gives.
const PAGE: i32 = 1_000;

/// Questions for what is wrong: filters of one question must all be met, so there is one for each.
const QUESTIONS: [(&str, &[&str], Interruption); 3] = [
    (
        "instance-status.status",
        &["impaired"],
        Interruption::InstanceImpaired,
    ),
    (
        "system-status.status",
        &["impaired"],
        Interruption::SystemImpaired,
    ),
    ("event.code", &SCHEDULED, Interruption::ScheduledEvent),
];

impl Clients {
    /// All that EC2 finds wrong with instances of the region, ours and others', or has scheduled for them.
    pub async fn impairments(&self) -> Result<Vec<Impairment>, CallError> {
        let mut found = Vec::new();
        for (name, values, says) in QUESTIONS {
            let values: Vec<String> = values.iter().map(ToString::to_string).collect();
            let filter = Filter::builder()
                .name(name)
                .set_values(Some(values))
                .build();
            let ask = self.ec2.describe_instance_status().filters(filter);
            let ask = ask.max_results(PAGE);
            let pages = self.pages(
                Call::read("ec2:DescribeInstanceStatus"),
                |token| ask.clone().set_next_token(token).send(),
                |page| page.next_token.as_deref(),
            );
            let answered = pages.await?.into_iter();
            let answered = answered.flat_map(|page| page.instance_statuses.unwrap_or_default());
            found.extend(answered.filter_map(|own| read(own, says)));
        }
        Ok(found)
    }
}

fn read(described: Described, says: Interruption) -> Option<Impairment> {
    let since = match says {
        Interruption::InstanceImpaired => failing_since(described.instance_status),
        Interruption::SystemImpaired => failing_since(described.system_status),
        _ => None,
    };
    Some(Impairment {
        instance: described.instance_id?,
        says,
        since,
    })
}

/// Since when the check for reachability fails; `None` where EC2 does not say.
fn failing_since(summary: Option<InstanceStatusSummary>) -> Option<Timestamp> {
    let details = summary?.details?.into_iter();
    let mut failing = details.filter(|own| {
        own.name == Some(StatusName::Reachability) && own.status == Some(StatusType::Failed)
    });
    let since = failing.find_map(|own| own.impaired_since)?;
    Some(Timestamp::from_millis(since.to_millis().ok()?))
}
