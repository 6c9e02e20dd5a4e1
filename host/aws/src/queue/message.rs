//! A message of the queue, read: what is going to happen to which instances.
//!
//! The body is an event of EventBridge. Events of other sources and kinds, and those about states that change nothing, say nothing to us; text that
//! is no event is told apart from these, since somebody sends it by mistake.

use k8s_openapi::jiff;
use plimsoll_base::time::Timestamp;
use plimsoll_lifecycle::Interruption;
use serde::Deserialize;
use thiserror::Error;

/// The content of a message; by default it says nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// The word on them; `None` where it says nothing to us.
    pub says: Option<Interruption>,
    /// Ids of the instances, in the order of the message; none where it says nothing to us.
    pub instances: Vec<String>,
    /// When it was sent, by itself; `None` where it says no time.
    pub sent: Option<Timestamp>,
    /// The account that it is about; `None` where it says none.
    pub account: Option<String>,
    /// The region that it is about, likewise.
    pub region: Option<String>,
    /// `true` if it is about another account or region: then it says nothing to us.
    pub is_foreign: bool,
}

impl Message {
    /// Its name in metrics: Karpenter's, but for those about other accounts and regions, which Karpenter does not look at.
    pub fn label(&self) -> &'static str {
        match self.says {
            _ if self.is_foreign => "unknown",
            Some(says) => says.facts().label,
            None => "no_op",
        }
    }

    /// The same as heard in an account, where that is known, and a region: one about others says nothing, whatever it is about.
    #[must_use]
    pub fn heard_in(self, account: Option<&str>, region: &str) -> Self {
        let is_other = |said: &Option<String>, own: &str| said.as_ref().is_some_and(|it| it != own);
        let is_foreign = account.is_some_and(|own| is_other(&self.account, own))
            || is_other(&self.region, region);
        if !is_foreign {
            return self;
        }
        Self {
            says: None,
            instances: Vec::new(),
            is_foreign,
            ..self
        }
    }
}

/// Text that is no event.
#[derive(Debug, Error)]
#[error("the message is no event of EventBridge: {0}")]
pub struct MalformedMessage(#[from] serde_json::Error);

#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
struct Envelope {
    version: String,
    source: String,
    detail_type: String,
    time: Option<String>,
    account: Option<String>,
    region: Option<String>,
    detail: serde_json::Value,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
struct InstanceDetail {
    instance_id: String,
    state: String,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct HealthDetail {
    service: String,
    event_type_category: String,
    affected_entities: Vec<Entity>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Entity {
    entity_value: String,
}

/// Reads the body of a message. An empty one says nothing.
pub fn parse(body: &str) -> Result<Message, MalformedMessage> {
    if body.trim().is_empty() {
        return Ok(nothing(None));
    }
    let mut event: Envelope = serde_json::from_str(body)?;
    let of = (event.account.take(), event.region.take());
    let (account, region) = (of.0.filter(is_said), of.1.filter(is_said));
    Ok(Message {
        account,
        region,
        ..content(event)?
    })
}

#[expect(clippy::ptr_arg, reason = "as filters of options want it")]
fn is_said(text: &String) -> bool {
    !text.is_empty()
}

/// The word of an event.
fn content(event: Envelope) -> Result<Message, MalformedMessage> {
    let sent = event.time.as_deref().and_then(instant);
    let known = [event.version.as_str(), &event.source, &event.detail_type];
    let says = match known {
        ["0", "aws.ec2", "EC2 Spot Instance Interruption Warning"] => Interruption::SpotReclaimed,
        ["0", "aws.ec2", "EC2 Instance Rebalance Recommendation"] => {
            Interruption::RebalanceRecommended
        }
        [
            "0",
            "aws.ec2",
            "EC2 Capacity Reservation Instance Interruption Warning",
        ] => Interruption::ReservationReclaimed,
        ["0", "aws.ec2", "EC2 Instance State-change Notification"] => {
            return Ok(of_state(serde_json::from_value(event.detail)?, sent));
        }
        ["0", "aws.health", "AWS Health Event"] => {
            return Ok(of_health(serde_json::from_value(event.detail)?, sent));
        }
        _ => return Ok(nothing(sent)),
    };
    let detail: InstanceDetail = serde_json::from_value(event.detail)?;
    Ok(about(says, vec![detail.instance_id], sent))
}

/// States of an instance on its way to an end; the way up says nothing.
fn of_state(detail: InstanceDetail, sent: Option<Timestamp>) -> Message {
    let says = match detail.state.to_ascii_lowercase().as_str() {
        "stopping" | "stopped" => Interruption::Stopping,
        "shutting-down" | "terminated" => Interruption::Terminating,
        _ => return nothing(sent),
    };
    about(says, vec![detail.instance_id], sent)
}

/// Work that AWS has planned on EC2; notices about accounts and other services say nothing.
fn of_health(detail: HealthDetail, sent: Option<Timestamp>) -> Message {
    if detail.service != "EC2" || detail.event_type_category != "scheduledChange" {
        return nothing(sent);
    }
    let entities = detail.affected_entities.into_iter();
    let instances = entities.map(|entity| entity.entity_value).collect();
    about(Interruption::ScheduledChange, instances, sent)
}

fn about(says: Interruption, mut instances: Vec<String>, sent: Option<Timestamp>) -> Message {
    instances.retain(|id| !id.is_empty());
    Message {
        says: Some(says),
        instances,
        sent,
        ..Message::default()
    }
}

fn nothing(sent: Option<Timestamp>) -> Message {
    Message {
        sent,
        ..Message::default()
    }
}

fn instant(text: &str) -> Option<Timestamp> {
    let at: jiff::Timestamp = text.parse().ok()?;
    Some(Timestamp::from_millis(at.as_millisecond()))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn event(source: &str, kind: &str, detail: &Value) -> String {
        json!({
            "version": "0", "id": "7bf73129", "detail-type": kind, "source": source, "account": "111122223333",
            "time": "2026-01-02T03:04:05Z", "region": "us-east-1", "resources": ["arn:aws:ec2:us-east-1:instance/i-0abc"],
            "detail": detail,
        })
        .to_string()
    }

    fn read(source: &str, kind: &str, detail: &Value) -> (&'static str, String) {
        let message = parse(&event(source, kind, detail)).expect("an event");
        assert_eq!(
            message.sent,
            Some(Timestamp::from_millis(1_767_323_045_000))
        );
        (message.label(), message.instances.join(" "))
    }

    #[test]
    fn each_kind_of_event_names_its_instances() {
        let one = json!({"instance-id": "i-0abc", "instance-action": "terminate"});
        let state = |state: &str| json!({"instance-id": "i-0abc", "state": state});
        let health = |service: &str, category: &str| {
            json!({
                "service": service, "eventTypeCategory": category,
                "affectedEntities": [{"entityValue": "i-0abc"}, {"entityValue": "i-0def"}],
            })
        };
        let changes = "EC2 Instance State-change Notification";
        for (source, kind, detail, label, instances) in [
            (
                "aws.ec2",
                "EC2 Spot Instance Interruption Warning",
                one.clone(),
                "spot_interrupted",
                "i-0abc",
            ),
            (
                "aws.ec2",
                "EC2 Instance Rebalance Recommendation",
                one.clone(),
                "rebalance_recommendation",
                "i-0abc",
            ),
            (
                "aws.ec2",
                "EC2 Capacity Reservation Instance Interruption Warning",
                one.clone(),
                "capacity_reservation_interrupted",
                "i-0abc",
            ),
            (
                "aws.ec2",
                changes,
                state("stopping"),
                "instance_stopped",
                "i-0abc",
            ),
            (
                "aws.ec2",
                changes,
                state("stopped"),
                "instance_stopped",
                "i-0abc",
            ),
            (
                "aws.ec2",
                changes,
                state("Shutting-Down"),
                "instance_terminated",
                "i-0abc",
            ),
            (
                "aws.ec2",
                changes,
                state("terminated"),
                "instance_terminated",
                "i-0abc",
            ),
            ("aws.ec2", changes, state("running"), "no_op", ""),
            (
                "aws.health",
                "AWS Health Event",
                health("EC2", "scheduledChange"),
                "scheduled_change",
                "i-0abc i-0def",
            ),
            (
                "aws.health",
                "AWS Health Event",
                health("EC2", "issue"),
                "no_op",
                "",
            ),
            (
                "aws.health",
                "AWS Health Event",
                health("RDS", "scheduledChange"),
                "no_op",
                "",
            ),
            // Somebody else's source cannot speak for EC2.
            (
                "my.app",
                "EC2 Spot Instance Interruption Warning",
                one,
                "no_op",
                "",
            ),
        ] {
            assert_eq!(
                read(source, kind, &detail),
                (label, instances.to_owned()),
                "{kind}"
            );
        }
    }

    #[test]
    fn a_message_about_another_account_or_region_says_nothing() {
        let kind = "EC2 Spot Instance Interruption Warning";
        let own = event("aws.ec2", kind, &json!({"instance-id": "i-0abc"}));
        let mut nameless: Value = serde_json::from_str(&own).expect("JSON");
        for field in ["account", "region"] {
            nameless[field] = Value::Null;
        }
        let nameless = nameless.to_string();
        for (body, account, region, label) in [
            (&own, Some("111122223333"), "us-east-1", "spot_interrupted"),
            (&own, Some("444455556666"), "us-east-1", "unknown"),
            (&own, Some("111122223333"), "eu-west-1", "unknown"),
            // The account of the queue is not known.
            (&own, None, "us-east-1", "spot_interrupted"),
            (
                &nameless,
                Some("444455556666"),
                "eu-west-1",
                "spot_interrupted",
            ),
        ] {
            let read = parse(body).expect("an event").heard_in(account, region);
            assert_eq!(read.label(), label, "{account:?} {region}");
            assert_eq!(read.instances.is_empty(), label == "unknown");
            assert_eq!(read.says.is_none(), label == "unknown");
        }
    }

    #[test]
    fn what_is_no_event_is_told_apart_from_what_says_nothing() {
        for body in ["", "  \n", "{}", r#"{"version":"1","source":"aws.ec2"}"#] {
            assert_eq!(parse(body).expect("nothing"), nothing(None), "{body}");
        }
        let kind = "EC2 Spot Instance Interruption Warning";
        for body in [
            "[",
            "3",
            "null x",
            &event("aws.ec2", kind, &json!({"instance-id": 3})),
        ] {
            let fault = parse(body).expect_err(body).to_string();
            assert!(
                fault.starts_with("the message is no event of EventBridge: "),
                "{fault}"
            );
        }
        let nameless = parse(&event("aws.ec2", kind, &json!({}))).expect("an event");
        assert!(nameless.instances.is_empty());
    }
}
