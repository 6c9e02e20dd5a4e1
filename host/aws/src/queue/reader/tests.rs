//! Thousands of drawn messages on a cloud on loopback: each is heard once and deleted once, and what ends an instance of ours is told until
//! its claim is seen to go, whatever answers are lost meanwhile.

use plimsoll_base::time::Timestamp;
use plimsoll_cloud::{Cloud, Event, Fault, Options, ScriptedFault, World};
use plimsoll_engine::Input;
use plimsoll_lifecycle::Interruption;
use plimsoll_model::{NodeClaim, Object, Version};
use serde_json::json;

use super::*;
use crate::sample;

const QUEUE: &str = "demo";
const EVENTS: usize = 10_000;
const MALFORMED: usize = 1_000;
/// Claims of ours; messages are about the first half of them.
const CLAIMS: usize = 1_000;
const SEED: u64 = 11;
/// Kinds of messages, those that say nothing and that are about another account or region among them.
const LABELS: [&str; 8] = [
    "spot_interrupted",
    "rebalance_recommendation",
    "capacity_reservation_interrupted",
    "instance_stopped",
    "instance_terminated",
    "scheduled_change",
    "no_op",
    "unknown",
];
/// Those that end nothing.
const HARMLESS: [&str; 3] = ["rebalance_recommendation", "no_op", "unknown"];
/// So many claims go before the API server shows any of them as going.
const UNSHOWN: usize = 40;

/// A seeded sequence of draws.
struct Draw(u64);

impl Draw {
    fn below(&mut self, most: usize) -> usize {
        let next = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = next.wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or_default() % most
    }

    /// An instance: in three of four cases one of ours that messages are about.
    fn instance(&mut self) -> String {
        let is_ours = self.below(4) > 0;
        let number = self.below(CLAIMS / 2);
        if is_ours {
            own(number)
        } else {
            format!("i-f{number:016x}")
        }
    }
}

fn own(number: usize) -> String {
    format!("i-{number:017x}")
}

fn provider_id(id: &str) -> ProviderId {
    format!("aws:///us-east-1a/{id}").into()
}

/// A cloud with a queue, and claims of ours, as a process sees them.
struct Scene {
    cloud: Cloud,
    ec2: Arc<Ec2>,
    claim: Arc<NodeClaim>,
}

impl Scene {
    async fn new(claims: usize) -> Self {
        let world = World::demo(QUEUE);
        let cloud = Cloud::start(Options { port: 0, world }).await;
        let cloud = cloud.expect("a cloud");
        let ec2 = Ec2::new(sample::clients(&cloud).await, sample::cluster());
        let scene = Self {
            cloud,
            ec2: Arc::new(ec2),
            claim: sample::claim("web", &json!([])),
        };
        for number in 0..claims {
            scene.show(&provider_id(&own(number)), None);
        }
        scene
    }

    fn reader(&self) -> QueueReader {
        QueueReader::new(Arc::clone(&self.ec2), QUEUE.to_owned())
    }

    /// The API server shows the claim of an instance.
    fn show(&self, instance: &ProviderId, deleting: Option<Timestamp>) {
        let claim = NodeClaim {
            provider_id: Some(instance.clone()),
            deleting,
            ..(*self.claim).clone()
        };
        let claim = Object::Claim(Arc::new(claim));
        self.ec2.observe(&Input::Applied(claim, Version::default()));
    }

    fn show_going(&self, instances: &mut Vec<ProviderId>) {
        for instance in instances.drain(..) {
            self.show(&instance, Some(Timestamp::from_millis(1)));
        }
    }

    fn left(&self) -> usize {
        self.cloud.with(|world| world.queues[QUEUE].messages.len())
    }

    /// `true` if every message that is left was handed out, and is hidden.
    fn is_hidden(&self) -> bool {
        let due = |world: &mut World| world.queues[QUEUE].due(world.now()).count();
        self.cloud.with(due) == 0
    }
}

/// A message of a kind, drawn, with the instances that it is about.
fn draw_event(draw: &mut Draw, label: &str) -> (Vec<String>, Result<Event, String>) {
    let id = draw.instance();
    let state = |states: &[&str], draw: &mut Draw| Event::StateChange {
        id: id.clone(),
        state: states[draw.below(states.len())].to_owned(),
    };
    let event = match label {
        "spot_interrupted" => Event::SpotInterruption { id: id.clone() },
        "rebalance_recommendation" => Event::RebalanceRecommendation { id: id.clone() },
        "instance_stopped" => state(&["stopping", "stopped"], draw),
        "instance_terminated" => state(&["shutting-down", "terminated"], draw),
        "scheduled_change" => {
            let more = draw.below(5);
            let ids: Vec<String> = (0..=more).map(|_| draw.instance()).collect();
            return (ids.clone(), Ok(Event::ScheduledChange { ids }));
        }
        "no_op" if draw.below(2) == 0 => state(&["pending", "running"], draw),
        other => return (vec![id.clone()], Err(draw_text(draw, other, &id))),
    };
    (vec![id], Ok(event))
}

/// Messages that are not of the events of the cloud.
fn draw_text(draw: &mut Draw, label: &str, id: &str) -> String {
    let mut event = json!({
        "version": "0", "source": "aws.ec2", "detail-type": "EC2 Capacity Reservation Instance Interruption Warning",
        "account": "111122223333", "region": "us-east-1", "time": "2026-01-02T03:04:05Z",
        "detail": {"instance-id": id, "instance-action": "terminate"},
    });
    match (label, draw.below(2)) {
        ("no_op", _) => event["source"] = "my.app".into(),
        ("unknown", 0) => event["account"] = "444455556666".into(),
        ("unknown", _) => event["region"] = "eu-west-1".into(),
        _ => {}
    }
    event.to_string()
}

/// Text that is no event: cut short, of other shapes, or no JSON at all.
fn draw_malformed(draw: &mut Draw) -> String {
    let id = draw.instance();
    let kind = "EC2 Spot Instance Interruption Warning";
    let sound = json!({"version": "0", "source": "aws.ec2", "detail-type": kind, "detail": {"instance-id": id}});
    let sound = sound.to_string();
    match draw.below(5) {
        0 => sound[..=draw.below(sound.len() - 2)].to_owned(),
        1 => sound.replace(&format!("\"{id}\""), "17"),
        2 => sound.replace("\"0\"", "[]"),
        3 => format!("{sound}{sound}"),
        _ => format!("{id} goes"),
    }
}

/// What was sent.
#[derive(Default)]
struct Sent {
    by_label: BTreeMap<&'static str, usize>,
    /// Instances of ours that a message says the end of.
    ending: BTreeSet<ProviderId>,
}

/// Sends messages of all kinds, one in eight twice, and those that are none among them.
fn send(scene: &Scene, draw: &mut Draw) -> Sent {
    let mut sent = Sent::default();
    let (mut events, mut malformed) = (EVENTS, MALFORMED);
    let mut count = |label| *sent.by_label.entry(label).or_default() += 1;
    while events + malformed > 0 {
        if draw.below(events + malformed) < malformed {
            let text = draw_malformed(draw);
            scene.cloud.with(|world| world.send(QUEUE, text));
            malformed -= 1;
            count("malformed");
            continue;
        }
        let label = LABELS[draw.below(LABELS.len())];
        let (ids, event) = draw_event(draw, label);
        let times = if draw.below(8) == 0 { events.min(2) } else { 1 };
        for _ in 0..times {
            scene.cloud.with(|world| match &event {
                Ok(event) => world.emit(QUEUE, event),
                Err(text) => drop(world.send(QUEUE, text.as_str())),
            });
            count(label);
        }
        events -= times;
        if !HARMLESS.contains(&label) {
            let ours = ids.iter().filter(|id| !id.starts_with("i-f"));
            sent.ending.extend(ours.map(|id| provider_id(id)));
        }
    }
    sent
}

#[tokio::test]
async fn ten_thousand_messages_are_each_heard_once_and_deleted_once() {
    let scene = Scene::new(CLAIMS).await;
    let sent = send(&scene, &mut Draw(SEED));
    assert_eq!(scene.left(), EVENTS + MALFORMED);
    let broken = Fault::new("InternalError", "An internal error has occurred").with_status(500);
    scene.cloud.with(|world| {
        world.faults.extend([
            ScriptedFault::lost_answer("ReceiveMessage").times(5),
            ScriptedFault::lost_answer("DeleteMessageBatch").times(5),
            ScriptedFault::error("DeleteMessageBatch", broken).times(4),
        ]);
    });
    let mut reader = scene.reader();
    let (mut heard, mut deleted) = (BTreeMap::<&str, usize>::new(), 0);
    let (mut told, mut unshown) = (BTreeSet::new(), Vec::new());
    while scene.left() > 0 {
        if scene.is_hidden() {
            // What is not deleted comes once more.
            scene.show_going(&mut unshown);
            scene.cloud.with(|world| world.clock.advance(Queue::HIDDEN));
        }
        // A question whose answer is lost as often as it is asked fails; the next one goes well.
        let Ok(news) = reader.next().await else {
            continue;
        };
        match news {
            Heard::Message {
                message,
                staying,
                is_repeated,
            } => {
                *heard.entry(message.label()).or_default() += usize::from(!is_repeated);
                if message.says.is_some_and(Interruption::ends_instance) {
                    let new = staying.into_iter().filter(|own| told.insert(own.clone()));
                    unshown.extend(new);
                }
            }
            Heard::Malformed(_) => *heard.entry("malformed").or_default() += 1,
            Heard::Deleted(count) => deleted += count,
            Heard::NotDeleted(_) | Heard::Nothing => {}
        }
        if unshown.len() > UNSHOWN {
            scene.show_going(&mut unshown);
        }
    }
    assert_eq!(heard, sent.by_label);
    assert_eq!(heard["malformed"], MALFORMED);
    assert_eq!(heard.values().sum::<usize>(), EVENTS + MALFORMED);
    assert_eq!(told, sent.ending, "each instance that ends was told of");
    // The last deletion may be seen in the queue before its answer.
    while deleted < EVENTS + MALFORMED {
        if let Ok(Heard::Deleted(count)) = reader.next().await {
            deleted += count;
        }
    }
    assert_eq!(deleted, EVENTS + MALFORMED, "and deleted once");
    let faults = scene
        .cloud
        .with(|world| world.faults.iter().map(|own| own.times).sum::<u32>());
    assert_eq!(faults, 0_u32, "all faults were met");
}

#[tokio::test]
async fn a_message_stays_until_its_claim_goes_and_is_said_again_meanwhile() {
    let scene = Scene::new(1).await;
    let id = own(0);
    scene
        .cloud
        .with(|world| world.emit(QUEUE, &Event::SpotInterruption { id: id.clone() }));
    let mut reader = scene.reader();
    for is_second in [false, true] {
        let heard = reader.next().await.expect("an answer");
        let Heard::Message {
            staying,
            is_repeated,
            ..
        } = heard
        else {
            panic!("{heard:?}");
        };
        assert_eq!(staying, [provider_id(&id)]);
        assert_eq!(is_repeated, is_second);
        assert_eq!(scene.left(), 1);
        if !is_second {
            scene.cloud.with(|world| world.clock.advance(Queue::HIDDEN));
        }
    }
    drop(reader);
    while scene.cloud.waiting_polls() > 0 {
        tokio::task::yield_now().await;
    }
    // Another process is handed it too.
    scene.cloud.with(|world| world.clock.advance(Queue::HIDDEN));
    let mut reader = scene.reader();
    let heard = reader.next().await.expect("an answer");
    assert!(
        matches!(
            heard,
            Heard::Message {
                is_repeated: false,
                ..
            }
        ),
        "{heard:?}"
    );
    scene.show_going(&mut vec![provider_id(&id)]);
    let heard = reader.next().await.expect("an answer");
    assert!(matches!(heard, Heard::Deleted(1)), "{heard:?}");
    assert_eq!(scene.left(), 0);
}

#[tokio::test]
async fn a_message_about_an_instance_that_was_given_just_now_waits_for_its_claim() {
    let scene = Scene::new(0).await;
    let (id, other) = (own(0), own(1));
    scene.ec2.unseen.note_given([id.as_str()].into_iter());
    scene.cloud.with(|world| {
        for id in [&id, &other] {
            world.emit(QUEUE, &Event::SpotInterruption { id: id.clone() });
        }
    });
    let mut reader = scene.reader();
    while scene.left() > 1 {
        let heard = reader.next().await.expect("an answer");
        if let Heard::Message { staying, .. } = heard {
            assert_eq!(staying, []);
        }
    }
    scene.show(&provider_id(&id), None);
    let said = loop {
        let heard = reader.next().await.expect("an answer");
        if let Heard::Message { staying, .. } = heard {
            break staying;
        }
    };
    assert_eq!(said, [provider_id(&id)]);
    assert_eq!(scene.left(), 1);
    scene.show_going(&mut vec![provider_id(&id)]);
    while scene.left() > 0 {
        reader.next().await.expect("an answer");
    }
}

#[tokio::test]
async fn more_questions_are_under_way_while_answers_bring_several_messages() {
    let scene = Scene::new(0).await;
    let mut reader = scene.reader();
    assert_eq!(reader.wanted, 1);
    scene.cloud.with(|world| {
        for _ in 0..200 {
            world.send(QUEUE, "{}");
        }
    });
    let mut most = 0;
    while scene.left() > 0 {
        reader.next().await.expect("an answer");
        most = most.max(reader.asking.len());
    }
    assert_eq!(most, MOST);
    for _ in 0..MOST {
        reader
            .take(EndedCall::Asked(Some(Ok(Vec::new()))))
            .expect("an answer");
    }
    assert_eq!(reader.wanted, 1);
}

#[tokio::test]
async fn a_queue_that_is_not_there_is_asked_for_again() {
    let scene = Scene::new(0).await;
    let gone = scene.cloud.with(|world| world.queues.remove(QUEUE));
    let mut reader = scene.reader();
    for _ in 0..2 {
        let refused = reader.next().await.expect_err("no queue");
        assert_eq!(refused.action, "sqs:GetQueueUrl");
    }
    scene.cloud.with(|world| {
        world
            .queues
            .extend(gone.map(|queue| (QUEUE.to_owned(), queue)));
        world.send(QUEUE, "{}");
    });
    let heard = reader.next().await.expect("an answer");
    assert!(matches!(heard, Heard::Message { .. }), "{heard:?}");
}
