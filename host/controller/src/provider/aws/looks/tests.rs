//! Classes that are looked at, when that is, and what is known of them then, with looks that end by hand.

use plimsoll_model::catalogue::Subnet;
use serde_json::json;
use tokio::sync::{mpsc, oneshot};
use tokio::task::yield_now;

use super::*;

const NOW: Timestamp = Timestamp::from_millis(1_790_000_000_000);
const MINUTE: Duration = Duration::from_mins(1);

/// A look that has begun, as `refresh a`, with the region of the market; it ends with what is sent.
type Begun = (String, oneshot::Sender<Ended>);

/// Looks that end when the test says so.
struct ByHand(mpsc::Sender<Begun>);

impl ByHand {
    async fn begin(&self, words: String) -> Ended {
        let (end, ended) = oneshot::channel();
        self.0.send((words, end)).await.expect("a test");
        match ended.await {
            Ok(ended) => ended,
            Err(_) => std::future::pending().await,
        }
    }
}

impl Look for ByHand {
    async fn refresh(
        &self,
        class: Ec2NodeClass,
        last: Found,
        market: Arc<Market>,
        _: Timestamp,
    ) -> Ended {
        let name = class.metadata.name.unwrap_or_default();
        let known = if last.free.is_empty() { "" } else { " known" };
        self.begin(format!("refresh {name}{known} in {}", market.region))
            .await
    }

    async fn retire(&self, class: Ec2NodeClass, _: Found) -> Ended {
        let name = class.metadata.name.unwrap_or_default();
        self.begin(format!("retire {name}")).await
    }
}

struct Scene {
    looks: Looks<ByHand>,
    begun: mpsc::Receiver<Begun>,
    classes: Classes,
    /// Looks that go on, by their words.
    open: BTreeMap<String, oneshot::Sender<Ended>>,
}

impl Scene {
    /// Classes of these names, none of them looked at.
    fn new(names: &[&str]) -> Self {
        let (say, begun) = mpsc::channel(64);
        let mut scene = Self {
            looks: Looks::new(ByHand(say), Market::of_tables("us-east-1")),
            begun,
            classes: Classes::new(),
            open: BTreeMap::new(),
        };
        for name in names {
            scene.put(name, 1);
        }
        scene
    }

    /// From now on the class has this generation.
    fn put(&mut self, name: &str, generation: i64) {
        let metadata =
            json!({"name": name, "uid": format!("uid-{name}"), "generation": generation});
        let class = serde_json::from_value(json!({ "metadata": metadata })).expect("a class");
        self.classes.insert(name.to_owned(), class);
    }

    /// Somebody deletes the class.
    fn delete(&mut self, name: &str) {
        let deleted = json!("2026-01-31T09:00:00Z");
        let class = self.classes.get_mut(name).expect("a class");
        class.metadata.deletion_timestamp = serde_json::from_value(deleted).expect("a time");
    }

    /// Begins what is due, and says what that was.
    async fn begin(&mut self) -> Vec<String> {
        self.looks.begin(&self.classes, NOW);
        yield_now().await;
        let mut words = Vec::new();
        while let Ok((begun, end)) = self.begun.try_recv() {
            words.push(begun.clone());
            self.open.insert(begun, end);
        }
        words
    }

    /// A look ends like this, and is to be repeated after a minute.
    async fn end(&mut self, words: &str, found: Option<Found>) {
        let end = self.open.remove(words).expect("a look that goes on");
        let again = MINUTE;
        end.send(Ended { found, again }).expect("it is waited for");
        self.looks.ended().await;
    }

    fn outdated(&self) -> Vec<String> {
        self.looks.outdated(&self.classes)
    }

    /// Free addresses that were found for a class.
    fn free(&self, name: &str) -> Option<u32> {
        let found = self.looks.found(name, &self.classes[name])?;
        found.free.first().map(|subnet| subnet.free)
    }
}

/// A class whose subnet has so many free addresses.
fn found(free: u32) -> Found {
    let subnet = Subnet {
        id: "subnet-a".into(),
        zone: "us-east-1a".into(),
        free,
    };
    Found {
        free: vec![subnet],
        ..Found::default()
    }
}

#[tokio::test(start_paused = true)]
async fn a_class_that_aws_does_not_answer_for_holds_up_no_other() {
    let mut scene = Scene::new(&["slow", "other"]);
    let first = ["refresh other in us-east-1", "refresh slow in us-east-1"];
    assert_eq!(scene.begin().await, first);
    scene.end(first[0], Some(found(7))).await;
    assert_eq!(scene.free("other"), Some(7));
    assert_eq!(scene.outdated(), ["slow"]);
    assert!(scene.begin().await.is_empty());
    scene.delete("other");
    assert_eq!(scene.begin().await, ["retire other"]);
    assert_eq!(scene.free("other"), None, "nothing is launched of it");
    scene.end("retire other", None).await;
    scene.classes.remove("other");
    assert!(scene.begin().await.is_empty());
    assert!(!scene.looks.is_idle());
}

#[tokio::test(start_paused = true)]
async fn some_classes_are_asked_about_at_once_and_those_that_go_wait_for_none() {
    let names: Vec<String> = (0..=AT_ONCE)
        .map(|number| format!("class-{number:02}"))
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut scene = Scene::new(&[names.as_slice(), &["goes"]].concat());
    scene.delete("goes");
    let begun = scene.begin().await;
    assert_eq!(begun.len(), AT_ONCE + 1, "{begun:?}");
    assert!(begun.contains(&"retire goes".to_owned()));
    let (last, first) = (names[AT_ONCE], names[0]);
    assert_eq!(scene.looks.next(), None, "it waits for another to end");
    scene
        .end(&format!("refresh {first} in us-east-1"), Some(found(1)))
        .await;
    assert_eq!(
        scene.begin().await,
        [format!("refresh {last} in us-east-1")]
    );
}

#[tokio::test(start_paused = true)]
async fn a_look_that_takes_too_long_is_given_up_and_what_was_known_stands() {
    let mut scene = Scene::new(&["a"]);
    scene.begin().await;
    scene.end("refresh a in us-east-1", Some(found(7))).await;
    let begun = Instant::now();
    assert!(scene.begin().await.is_empty());
    assert_eq!(scene.looks.next(), Some(begun + MINUTE));
    tokio::time::advance(MINUTE).await;
    assert_eq!(scene.begin().await, ["refresh a known in us-east-1"]);
    scene.looks.ended().await;
    assert_eq!(begun.elapsed(), MINUTE + LONGEST);
    assert_eq!(scene.free("a"), Some(7));
    assert!(scene.outdated().is_empty());
    scene.begin().await;
    assert_eq!(scene.looks.next(), Some(Instant::now() + RETRY));
}

#[tokio::test(start_paused = true)]
async fn a_class_that_changes_is_looked_at_at_once_and_outdated_until_that_has_ended() {
    let mut scene = Scene::new(&["a"]);
    scene.begin().await;
    assert_eq!(scene.outdated(), ["a"]);
    scene.end("refresh a in us-east-1", Some(found(7))).await;
    assert!(scene.outdated().is_empty());
    scene.put("a", 2);
    assert_eq!(scene.outdated(), ["a"]);
    let again = ["refresh a known in us-east-1"];
    assert_eq!(scene.begin().await, again);
    assert_eq!(scene.free("a"), Some(7), "its instances are known");
    // It changes once more before anything was found out.
    let before = scene.open.remove(again[0]).expect("a look that goes on");
    scene.put("a", 3);
    assert_eq!(scene.begin().await, again);
    assert!(before.is_closed(), "that look is given up");
    scene.end(again[0], None).await;
    assert_eq!(scene.outdated(), ["a"], "nothing was found out");
    assert!(
        scene.begin().await.is_empty(),
        "it is not asked about all the time"
    );
    tokio::time::advance(MINUTE).await;
    assert_eq!(scene.begin().await, again);
    scene.end(again[0], Some(found(8))).await;
    assert!(scene.outdated().is_empty());
    assert_eq!(scene.free("a"), Some(8));
}

#[tokio::test(start_paused = true)]
async fn a_class_is_looked_at_once_more_for_what_comes_up_meanwhile() {
    let mut scene = Scene::new(&["a"]);
    scene.begin().await;
    scene.looks.sell(Market::of_tables("eu-west-1"));
    assert!(scene.begin().await.is_empty());
    scene.end("refresh a in us-east-1", Some(found(7))).await;
    let again = ["refresh a known in eu-west-1"];
    assert_eq!(scene.begin().await, again);
    scene.end(again[0], Some(found(7))).await;
    assert!(scene.begin().await.is_empty());
    scene.looks.look_now();
    assert_eq!(scene.begin().await, again);
}

#[tokio::test(start_paused = true)]
async fn another_class_of_the_same_name_begins_with_nothing() {
    let mut scene = Scene::new(&["a"]);
    scene.begin().await;
    scene.end("refresh a in us-east-1", Some(found(7))).await;
    let class = scene.classes.get_mut("a").expect("a class");
    class.metadata.uid = Some("another".to_owned());
    assert_eq!(scene.outdated(), ["a"]);
    assert_eq!(scene.free("a"), None);
    assert_eq!(scene.begin().await, ["refresh a in us-east-1"]);
}
