//! Following a cloud: nodes that have to join or to go by the states of its instances, and so many of them at once that the cluster's API server
//! and not the way to it is the limit.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::core::v1::Node;
use kube::api::{Api, DeleteParams, PostParams};
use kube::{Client, Error};
use plimsoll_cloud::{Cloud, Instance, State, World};
use tokio::task::JoinSet;

use crate::{name, node};

/// From one look at the cloud to the next.
const AGAIN: Duration = Duration::from_millis(200);
/// Nodes that join or go at once.
const AT_ONCE: usize = 32;

/// Nodes that follow a cloud's instances until this is dropped.
pub struct Nodes {
    _task: JoinSet<()>,
}

/// A change that is due.
#[derive(Debug, PartialEq)]
enum Change {
    /// The node of an instance that runs joins.
    Joins(Box<Instance>),
    /// The node of the instance of this id, which is no more, goes.
    Goes(String),
}

/// Has instances of the cloud join the cluster.
pub fn follow(cloud: Arc<Cloud>, client: Client) -> Nodes {
    let mut task = JoinSet::new();
    task.spawn(async move {
        let nodes: Api<Node> = Api::all(client);
        let mut joined = BTreeSet::new();
        loop {
            let mut changes = cloud.with(|world| changes(world, &joined)).into_iter();
            let mut running = JoinSet::new();
            loop {
                let free = AT_ONCE - running.len();
                for change in changes.by_ref().take(free) {
                    running.spawn(make(nodes.clone(), change));
                }
                match running.join_next().await {
                    Some(Ok(Some((id, true)))) => drop(joined.insert(id)),
                    Some(Ok(Some((id, false)))) => drop(joined.remove(&id)),
                    // It is due again at the next look.
                    Some(_) => {}
                    None => break,
                }
            }
            tokio::time::sleep(AGAIN).await;
        }
    });
    Nodes { _task: task }
}

/// Changes that the states of instances ask for, where the nodes of these ids have joined.
fn changes(world: &World, joined: &BTreeSet<String>) -> Vec<Change> {
    let change = |own: &Instance| match (world.state(own)?, joined.contains(&own.id)) {
        (State::Running, false) => Some(Change::Joins(Box::new(own.clone()))),
        (State::Terminated, true) => Some(Change::Goes(own.id.clone())),
        _ => None,
    };
    world.instances.values().filter_map(change).collect()
}

/// The id, and whether its node is there now; `None` where nothing has changed.
async fn make(nodes: Api<Node>, change: Change) -> Option<(String, bool)> {
    match change {
        Change::Joins(instance) => {
            let made = nodes.create(&PostParams::default(), &node(&instance)).await;
            made.is_ok().then_some((instance.id, true))
        }
        Change::Goes(id) => match nodes.delete(&name(&id), &DeleteParams::default()).await {
            Err(Error::Api(status)) if status.code != 404 => None,
            _ => Some((id, false)),
        },
    }
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use plimsoll_cloud::{Clock, Health};
    use serde_json::{Value, json};

    use super::*;

    fn instance(id: &str, launched: u64, ends: Option<u64>) -> Instance {
        let at = |second| UNIX_EPOCH + Duration::from_secs(second);
        Instance {
            id: id.to_owned(),
            reservation: String::new(),
            fleet: String::new(),
            instance_type: String::new(),
            zone: String::new(),
            subnet: String::new(),
            image: String::new(),
            capacity_type: serde_json::from_value(json!("on-demand")).expect("a capacity type"),
            spot_request: None,
            security_groups: Vec::new(),
            profile: None,
            template: Value::Null,
            tags: [].into(),
            launched: at(launched),
            ends: ends.map(at),
            health: Health::default(),
        }
    }

    #[test]
    fn an_instance_joins_once_it_runs_and_goes_once_it_is_no_more() {
        let mut world = World::new();
        world.clock = Clock::standing_at(UNIX_EPOCH + Duration::from_secs(100));
        world.delays.running = Duration::from_secs(10);
        world.delays.terminated = Duration::from_secs(10);
        for own in [
            instance("boots", 95, None),
            instance("runs", 90, None),
            instance("joined", 80, None),
            instance("ends", 80, Some(95)),
            instance("ended", 80, Some(90)),
            instance("never-joined", 80, Some(90)),
        ] {
            world.instances.insert(own.id.clone(), own);
        }
        let joined = ["joined", "ends", "ended"].map(str::to_owned).into();
        let due = changes(&world, &joined);
        let [Change::Goes(gone), Change::Joins(come)] = &due[..] else {
            panic!("{due:?}");
        };
        assert_eq!((&**gone, &*come.id), ("ended", "runs"));
    }
}
