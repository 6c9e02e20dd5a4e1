//! Events of EC2 and AWS Health, in the envelope of EventBridge.

use std::time::SystemTime;

use serde_json::{Value, json};

use crate::clock::whole_seconds;

/// An event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A spot instance will be taken back in two minutes.
    SpotInterruption {
        /// The instance.
        id: String,
    },
    /// A spot instance is likely to be taken back.
    RebalanceRecommendation {
        /// The instance.
        id: String,
    },
    /// An instance has another state.
    StateChange {
        /// The instance.
        id: String,
        /// Its state, such as `stopping`.
        state: String,
    },
    /// Hardware below instances will be worked on.
    ScheduledChange {
        /// The instances.
        ids: Vec<String>,
    },
}

impl Event {
    /// Its source and the type of its detail, by which rules of EventBridge choose.
    fn kind(&self) -> (&'static str, &'static str) {
        match self {
            Self::SpotInterruption { .. } => ("aws.ec2", "EC2 Spot Instance Interruption Warning"),
            Self::RebalanceRecommendation { .. } => {
                ("aws.ec2", "EC2 Instance Rebalance Recommendation")
            }
            Self::StateChange { .. } => ("aws.ec2", "EC2 Instance State-change Notification"),
            Self::ScheduledChange { .. } => ("aws.health", "AWS Health Event"),
        }
    }

    fn ids(&self) -> &[String] {
        match self {
            Self::SpotInterruption { id }
            | Self::RebalanceRecommendation { id }
            | Self::StateChange { id, .. } => std::slice::from_ref(id),
            Self::ScheduledChange { ids } => ids,
        }
    }

    fn detail(&self, region: &str) -> Value {
        match self {
            Self::SpotInterruption { id } => {
                json!({"instance-id": id, "instance-action": "terminate"})
            }
            Self::RebalanceRecommendation { id } => json!({"instance-id": id}),
            Self::StateChange { id, state } => json!({"instance-id": id, "state": state}),
            Self::ScheduledChange { ids } => {
                let code = "AWS_EC2_INSTANCE_RETIREMENT_SCHEDULED";
                let entities = ids.iter().map(|id| json!({"entityValue": id}));
                json!({
                    "service": "EC2",
                    "eventTypeCategory": "scheduledChange",
                    "eventTypeCode": code,
                    "eventArn": format!("arn:aws:health:{region}::event/EC2/{code}/1"),
                    "eventDescription": [{"language": "en_US", "latestDescription": "The instance is scheduled for retirement."}],
                    "affectedEntities": entities.collect::<Vec<_>>(),
                })
            }
        }
    }

    /// The message that a queue gets of it.
    pub(crate) fn envelope(&self, id: &str, account: &str, region: &str, at: SystemTime) -> Value {
        let (source, kind) = self.kind();
        let arn = |id: &String| format!("arn:aws:ec2:{region}:{account}:instance/{id}");
        json!({
            "version": "0",
            "id": id,
            "detail-type": kind,
            "source": source,
            "account": account,
            "time": whole_seconds(at),
            "region": region,
            "resources": self.ids().iter().map(arn).collect::<Vec<_>>(),
            "detail": self.detail(region),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    fn envelope(event: &Event) -> Value {
        let at = UNIX_EPOCH + Duration::from_millis(1_767_322_985_900);
        event.envelope("7", "111122223333", "us-east-1", at)
    }

    #[test]
    fn a_warning_looks_as_eventbridge_sends_it() {
        let id = "i-0abc".to_owned();
        let expected = json!({
            "version": "0", "id": "7", "detail-type": "EC2 Spot Instance Interruption Warning", "source": "aws.ec2",
            "account": "111122223333", "time": "2026-01-02T03:03:05Z", "region": "us-east-1",
            "resources": ["arn:aws:ec2:us-east-1:111122223333:instance/i-0abc"],
            "detail": {"instance-id": "i-0abc", "instance-action": "terminate"},
        });
        assert_eq!(envelope(&Event::SpotInterruption { id }), expected);
    }

    #[test]
    fn a_scheduled_change_names_all_instances() {
        let ids = vec!["i-1".to_owned(), "i-2".to_owned()];
        let told = envelope(&Event::ScheduledChange { ids });
        assert_eq!(told["source"], "aws.health");
        let detail = &told["detail"];
        assert_eq!(detail["eventTypeCategory"], "scheduledChange");
        assert_eq!(detail["service"], "EC2");
        let entities = json!([{"entityValue": "i-1"}, {"entityValue": "i-2"}]);
        assert_eq!(detail["affectedEntities"], entities);
    }

    #[test]
    fn a_change_of_state_says_it() {
        let (id, state) = ("i-1".to_owned(), "stopping".to_owned());
        let told = envelope(&Event::StateChange { id, state });
        assert_eq!(
            told["detail-type"],
            "EC2 Instance State-change Notification"
        );
        assert_eq!(
            told["detail"],
            json!({"instance-id": "i-1", "state": "stopping"})
        );
    }
}
