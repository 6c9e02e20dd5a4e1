//! Instances: their life goes by the clock, from what was asked of them.

use std::time::{Duration, SystemTime};

use plimsoll_model::catalogue::CapacityType;
use serde_json::Value;

use super::{Subnet, Tags, World};
use crate::event::Event;

/// How long an instance takes for its life. By default it runs at once, ends at once, and is listed for an hour after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delays {
    /// From its launch until calls know of it.
    pub visible: Duration,
    /// From its launch until it runs.
    pub running: Duration,
    /// From the call to terminate it until it is terminated.
    pub terminated: Duration,
    /// From when it is terminated until calls know no more of it.
    pub forgotten: Duration,
}

impl Default for Delays {
    fn default() -> Self {
        Self {
            visible: Duration::ZERO,
            running: Duration::ZERO,
            terminated: Duration::ZERO,
            forgotten: Duration::from_hours(1),
        }
    }
}

/// State of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// It starts.
    Pending,
    /// It runs.
    Running,
    /// It ends.
    ShuttingDown,
    /// It has ended.
    Terminated,
}

impl State {
    /// Its name in answers and filters.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::ShuttingDown => "shutting-down",
            Self::Terminated => "terminated",
        }
    }

    /// Its number in answers.
    pub const fn code(self) -> u32 {
        match self {
            Self::Pending => 0,
            Self::Running => 16,
            Self::ShuttingDown => 32,
            Self::Terminated => 48,
        }
    }
}

/// An instance.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    /// Its id.
    pub id: String,
    /// Id of the launch that it came with.
    pub reservation: String,
    /// Id of the fleet that launched it.
    pub fleet: String,
    /// Its type.
    pub instance_type: String,
    /// Its zone.
    pub zone: String,
    /// Its subnet.
    pub subnet: String,
    /// Its image.
    pub image: String,
    /// How it is paid for.
    pub capacity_type: CapacityType,
    /// Id of the request for a spot instance; `None` on demand.
    pub spot_request: Option<String>,
    /// Ids of its security groups.
    pub security_groups: Vec<String>,
    /// Name of its instance profile.
    pub profile: Option<String>,
    /// Content of its launch template, as the tree of the request.
    pub template: Value,
    /// Its tags.
    pub tags: Tags,
    /// When it was launched.
    pub launched: SystemTime,
    /// When it begins to end, which may be a time to come; `None` while nothing ends it.
    pub ends: Option<SystemTime>,
    /// Its troubles.
    pub health: Health,
}

/// Troubles of an instance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// Since when the instance does not answer.
    pub instance_impaired: Option<SystemTime>,
    /// Since when its host does not.
    pub system_impaired: Option<SystemTime>,
    /// Codes of scheduled events, such as `instance-retirement`.
    pub events: Vec<String>,
}

/// Why an instance is in its state, as EC2 tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateReason {
    /// Its code, such as `Client.InternalError`.
    pub code: String,
    /// Its message.
    pub message: String,
}

impl StateReason {
    /// A reason; its message begins with its code, as EC2's do.
    pub fn new(code: &str, words: &str) -> Self {
        Self {
            code: code.to_owned(),
            message: format!("{code}: {words}"),
        }
    }
}

impl World {
    /// State of an instance now; `None` if calls do not know of it yet, or no more.
    pub fn state(&self, instance: &Instance) -> Option<State> {
        let (now, delays) = (self.now(), self.delays);
        if now < instance.launched + delays.visible {
            return None;
        }
        match instance.ends {
            Some(ends) if now >= ends + delays.terminated + delays.forgotten => None,
            Some(ends) if now >= ends + delays.terminated => Some(State::Terminated),
            Some(ends) if now >= ends => Some(State::ShuttingDown),
            _ if now < instance.launched + delays.running => Some(State::Pending),
            _ => Some(State::Running),
        }
    }

    /// Instances that are in the cloud, as seen by itself: calls may not know of all of them yet.
    pub fn alive(&self) -> impl Iterator<Item = &Instance> {
        let (now, terminated) = (self.now(), self.delays.terminated);
        let all = self.instances.values();
        all.filter(move |instance| instance.ends.is_none_or(|ends| now < ends + terminated))
    }

    /// Addresses of a subnet that no instance has.
    pub fn free_addresses(&self, subnet: &Subnet) -> u32 {
        let taken = self.alive().filter(|instance| instance.subnet == subnet.id);
        let taken = u32::try_from(taken.count()).unwrap_or(u32::MAX);
        subnet.free_addresses.saturating_sub(taken)
    }

    /// Ends an instance at a time, unless it ends earlier anyhow. Nothing happens to one that is not there.
    pub fn end(&mut self, id: &str, at: SystemTime) {
        let terminated = at + self.delays.terminated;
        let Some(instance) = self.instances.get_mut(id) else {
            return;
        };
        if instance.ends.is_some_and(|ends| ends <= at) {
            return;
        }
        instance.ends = Some(at);
        self.tell_state(id, State::ShuttingDown, at);
        self.tell_state(id, State::Terminated, terminated);
    }

    /// The same, for a reason; that of an earlier end stands.
    pub(crate) fn end_for(&mut self, id: &str, at: SystemTime, code: &str, words: &str) {
        self.end(id, at);
        let reason = self.state_reasons.entry(id.to_owned());
        reason.or_insert_with(|| StateReason::new(code, words));
    }

    /// Takes a spot instance back: a queue is warned now, and it ends in two minutes.
    pub fn interrupt(&mut self, queue: &str, id: &str) {
        self.emit(queue, &Event::SpotInterruption { id: id.to_owned() });
        let ends = self.now() + Duration::from_mins(2);
        self.end_for(
            id,
            ends,
            "Server.SpotInstanceTermination",
            "Spot instance termination",
        );
    }

    /// Tells the queue for it of a state that an instance is in from a time on.
    pub(crate) fn tell_state(&mut self, id: &str, state: State, at: SystemTime) {
        let Some(queue) = self.state_changes.clone() else {
            return;
        };
        let event = Event::StateChange {
            id: id.to_owned(),
            state: state.name().to_owned(),
        };
        self.emit_at(&queue, &event, at);
    }
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;
    use crate::clock::Clock;

    fn at(second: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(second)
    }

    fn instance(world: &mut World) -> String {
        let id = world.next_id("i");
        let instance = Instance {
            id: id.clone(),
            reservation: String::new(),
            fleet: String::new(),
            instance_type: "m5.large".to_owned(),
            zone: "us-east-1a".to_owned(),
            subnet: "subnet-1".to_owned(),
            image: "ami-1".to_owned(),
            capacity_type: CapacityType::OnDemand,
            spot_request: None,
            security_groups: Vec::new(),
            profile: None,
            template: Value::Null,
            tags: Tags::new(),
            launched: world.now(),
            ends: None,
            health: Health::default(),
        };
        world.instances.insert(id.clone(), instance);
        id
    }

    #[test]
    fn an_instance_goes_through_its_states_as_time_passes() {
        let mut world = World::new();
        world.clock = Clock::standing_at(at(100));
        world.delays = Delays {
            visible: Duration::from_secs(2),
            running: Duration::from_secs(10),
            terminated: Duration::from_secs(30),
            forgotten: Duration::from_mins(1),
        };
        let id = instance(&mut world);
        world.end(&id, at(150));
        // A later end does not put off an earlier one.
        world.end(&id, at(160));
        for (second, state) in [
            (101, None),
            (102, Some(State::Pending)),
            (110, Some(State::Running)),
            (149, Some(State::Running)),
            (150, Some(State::ShuttingDown)),
            (179, Some(State::ShuttingDown)),
            (180, Some(State::Terminated)),
            (239, Some(State::Terminated)),
            (240, None),
        ] {
            world.clock = Clock::standing_at(at(second));
            assert_eq!(world.state(&world.instances[&id]), state, "{second}");
        }
    }

    #[test]
    fn an_instance_has_its_address_until_it_is_terminated() {
        let mut world = World::new();
        world.clock = Clock::standing_at(at(0));
        world.delays.terminated = Duration::from_secs(30);
        let subnet = Subnet {
            id: "subnet-1".to_owned(),
            free_addresses: 2,
            ..Subnet::default()
        };
        let first = instance(&mut world);
        instance(&mut world);
        assert_eq!(world.free_addresses(&subnet), 0);
        world.end(&first, at(0));
        assert_eq!(world.free_addresses(&subnet), 0);
        world.clock.advance(Duration::from_secs(30));
        assert_eq!(world.free_addresses(&subnet), 1);
    }

    #[test]
    fn an_interruption_warns_and_ends_the_instance_two_minutes_later() {
        let mut world = World::new();
        world.clock = Clock::standing_at(at(0));
        let id = instance(&mut world);
        world.interrupt("demo", &id);
        let messages = world.queues["demo"].messages.values();
        let bodies: Vec<&str> = messages.map(|message| message.body.as_str()).collect();
        assert!(matches!(bodies[..], [body] if body.contains(&id)));
        world.clock.advance(Duration::from_secs(119));
        assert_eq!(world.state(&world.instances[&id]), Some(State::Running));
        world.clock.advance(Duration::from_secs(1));
        assert_eq!(world.state(&world.instances[&id]), Some(State::Terminated));
    }

    #[test]
    fn a_queue_with_a_rule_hears_of_each_state_when_it_begins() {
        let mut world = World::new();
        world.clock = Clock::standing_at(at(0));
        world.delays.terminated = Duration::from_secs(30);
        world.queues.entry("demo".to_owned()).or_default();
        world.state_changes = Some("demo".to_owned());
        let id = instance(&mut world);
        world.end(&id, at(5));
        let states = |world: &World| {
            let due = world.queues["demo"].due(world.now());
            due.map(|message| message.body.contains(r#""state":"terminated""#))
                .collect::<Vec<_>>()
        };
        assert_eq!(states(&world), [false; 0]);
        world.clock.advance(Duration::from_secs(5));
        assert_eq!(states(&world), [false]);
        world.clock.advance(Duration::from_secs(30));
        assert_eq!(states(&world), [false, true]);
    }
}
