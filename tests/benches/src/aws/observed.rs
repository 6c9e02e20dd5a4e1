//! Rows of objects and calls that a run leaves to be compared, and its figures.

use std::collections::BTreeSet;
use std::time::SystemTime;

use plimsoll_base::units::PricePerHour;
use plimsoll_cloud::{Call, CapacityPool, Instance, World};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::fleets::{Fleets, launches};
use super::load::Load;
use super::normal::{Names, Rows, template};

const TYPE: &str = "node.kubernetes.io/instance-type";

/// A run, observed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Observed {
    /// Objects as they were when it was settled last, and calls of the whole run; nothing of a large script.
    pub rows: Rows,
    /// Figures.
    pub figures: Figures,
}

/// Figures of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Instances that were launched.
    pub launched: usize,
    /// Instances that no claim ever named.
    pub doubles: usize,
    /// Calls of CreateFleet, each token once.
    pub calls: usize,
    /// Different requests among them.
    pub requests: usize,
    /// Tries of those requests, summed.
    pub attempts: usize,
    /// Cost of the instances when it was settled last, in dollars per hour.
    pub price: f64,
    /// Seconds from the first pods to the first call of CreateFleet; `None` where there was none.
    pub seconds: Option<f64>,
    /// Seconds from the first pods to the end of the last step.
    pub took: f64,
    /// Figures that only large scripts have.
    pub load: Option<Load>,
}

/// Objects and instances at one moment.
#[derive(Clone, Debug, Default)]
pub(super) struct Objects {
    pub(super) classes: Vec<Value>,
    pub(super) pools: Vec<Value>,
    pub(super) claims: Vec<Value>,
    pub(super) nodes: Vec<Value>,
    pub(super) instances: Vec<Instance>,
    /// Cost of the instances, in dollars per hour.
    pub(super) price: f64,
}

/// A run to its end.
pub(super) struct Course<'r> {
    /// Objects when it was settled last.
    pub(super) objects: &'r Objects,
    /// Every call.
    pub(super) calls: &'r [Call],
    /// Provider ids that claims ever named.
    pub(super) claimed: &'r BTreeSet<String>,
    /// Ids of all instances that were launched.
    pub(super) launched: &'r [String],
    /// When the first pods came.
    pub(super) began: Option<SystemTime>,
    /// When the last step ended.
    pub(super) ended: SystemTime,
    /// Figures of a large script.
    pub(super) load: Option<Load>,
}

impl Course<'_> {
    pub(super) fn observed(&self) -> Observed {
        let is_claimed = |id: &&String| {
            let end = format!("/{id}");
            self.claimed.iter().any(|own| own.ends_with(&end))
        };
        let claimed = self.launched.iter().filter(is_claimed).count();
        let fleets = Fleets::of(self.calls);
        let figures = Figures {
            launched: self.launched.len(),
            doubles: self.launched.len() - claimed,
            calls: fleets.calls,
            requests: fleets.requests,
            attempts: fleets.attempts,
            price: self.objects.price,
            seconds: self.seconds(),
            took: self.took(),
            load: self.load.clone(),
        };
        let rows = match self.load {
            Some(_) => Rows::default(),
            None => self.rows(),
        };
        Observed { rows, figures }
    }

    fn seconds(&self) -> Option<f64> {
        let began = self.began?;
        let waits = launches(self.calls).filter_map(|call| call.started.duration_since(began).ok());
        waits.min().map(|wait| wait.as_secs_f64())
    }

    fn took(&self) -> f64 {
        let began = self.began.unwrap_or(self.ended);
        let took = self.ended.duration_since(began).unwrap_or_default();
        took.as_secs_f64()
    }

    fn rows(&self) -> Rows {
        let (objects, mut rows) = (self.objects, Rows::default());
        let names = names(objects);
        for (subject, all) in [
            ("EC2NodeClass", &objects.classes),
            ("NodePool", &objects.pools),
            ("NodeClaim", &objects.claims),
            ("Node", &objects.nodes),
        ] {
            for object in all {
                let of_type = object["metadata"]["labels"][TYPE].as_str();
                rows.add(subject, of_type, &object_parts(subject, object), &names);
            }
        }
        for own in &objects.instances {
            rows.add("Instance", Some(&own.instance_type), &instance(own), &names);
        }
        let well = |call: &&Call| call.error.is_none();
        for call in launches(self.calls).filter(well) {
            rows.add("CreateFleet", None, &call.input, &names);
        }
        let made = self.calls.iter().filter(well);
        for call in made.filter(|call| call.operation == "CreateLaunchTemplate") {
            let mut input = call.input.clone();
            input["LaunchTemplateData"] = template(&input["LaunchTemplateData"]);
            rows.add("LaunchTemplate", None, &input, &names);
        }
        for call in self.calls {
            let path = format!("{} {}", call.service.name(), call.operation);
            let outcome = call.error.clone().unwrap_or_else(|| "ok".to_owned());
            rows.put("calls", &path, outcome);
        }
        rows
    }
}

/// Names that were given at random.
fn names(objects: &Objects) -> Names {
    let of = |all: &[Value], word: &'static str| {
        let names = all
            .iter()
            .filter_map(|own| own["metadata"]["name"].as_str());
        names.map(|name| (name.to_owned(), word)).collect::<Names>()
    };
    let mut names = of(&objects.claims, "<claim>");
    names.extend(of(&objects.nodes, "<node>"));
    names
}

/// The parts of an object that a controller writes. Of a node's status only its room: the rest is its kubelet's.
fn object_parts(subject: &str, object: &Value) -> Value {
    let (metadata, spec, status) = (&object["metadata"], &object["spec"], &object["status"]);
    if subject == "Node" {
        let room = json!({"capacity": status["capacity"], "allocatable": status["allocatable"]});
        return json!({"metadata": metadata, "spec": spec, "status": room});
    }
    json!({"metadata": metadata, "spec": spec, "status": status})
}

fn instance(own: &Instance) -> Value {
    json!({
        "tags": own.tags,
        "capacityType": own.capacity_type.as_str(),
        "profile": own.profile,
        "securityGroups": own.security_groups,
        "image": own.image,
        "template": template(&own.template),
    })
}

/// Cost of instances in dollars per hour.
pub(super) fn price(world: &World, instances: &[Instance]) -> f64 {
    let pool = |own: &Instance| CapacityPool::new(&own.instance_type, &own.zone, own.capacity_type);
    let prices = instances.iter().filter_map(|own| world.price(&pool(own)));
    prices.map(PricePerHour::dollars).sum()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use plimsoll_cloud::Service;

    use super::*;

    fn call(operation: &str, input: Value, error: Option<&str>, seconds: u64) -> Call {
        Call {
            service: Service::Ec2,
            operation: operation.to_owned(),
            input,
            started: UNIX_EPOCH + Duration::from_secs(seconds),
            error: error.map(str::to_owned),
        }
    }

    #[test]
    fn an_instance_that_no_claim_named_is_a_double_and_calls_are_told_by_their_outcomes() {
        let dry = json!({"DryRun": "true", "Type": "dry"});
        let calls = [
            call("CreateFleet", dry, Some("DryRunOperation"), 1),
            call(
                "CreateFleet",
                json!({"Type": "refused", "ClientToken": "t"}),
                Some("RequestLimitExceeded"),
                12,
            ),
            call(
                "CreateFleet",
                json!({"Type": "instant", "ClientToken": "t"}),
                None,
                14,
            ),
            call(
                "CreateLaunchTemplate",
                json!({"LaunchTemplateName": "a"}),
                None,
                13,
            ),
        ];
        let claim = json!({"metadata": {"name": "general-x", "labels": {TYPE: "m5.large"}}, "status": {"capacity": {"cpu": "2"}}});
        let objects = Objects {
            claims: vec![claim],
            price: 0.5,
            ..Objects::default()
        };
        let course = Course {
            objects: &objects,
            calls: &calls,
            claimed: &["aws:///us-east-1a/i-1".to_owned()].into(),
            launched: &["i-1".to_owned(), "i-11".to_owned()],
            began: Some(UNIX_EPOCH + Duration::from_secs(10)),
            ended: UNIX_EPOCH + Duration::from_secs(30),
            load: None,
        };
        let Observed { rows, figures } = course.observed();
        assert_eq!(
            (figures.launched, figures.doubles, figures.calls),
            (2, 1, 1)
        );
        assert_eq!(
            (figures.seconds, figures.took, figures.price),
            (Some(2.0), 20.0, 0.5)
        );
        let values = |subject: &str, path: &str| -> Vec<String> {
            let values = rows.0.get(subject).and_then(|paths| paths.get(path));
            values.into_iter().flatten().cloned().collect()
        };
        assert_eq!(values("NodeClaim", "metadata.name"), ["<claim>"]);
        assert_eq!(
            values("NodeClaim of m5.large", "status.capacity.cpu"),
            ["2"]
        );
        assert_eq!(values("CreateFleet", "Type"), ["instant"]);
        assert_eq!(
            values("LaunchTemplate", "LaunchTemplateName"),
            ["<template>"]
        );
        let outcomes = ["DryRunOperation", "RequestLimitExceeded", "ok"];
        assert_eq!(values("calls", "ec2 CreateFleet"), outcomes);
        let large = Course {
            load: Some(Load::default()),
            ..course
        };
        let large = large.observed();
        assert_eq!((large.rows.0.len(), large.figures.launched), (0, 2));
    }
}
