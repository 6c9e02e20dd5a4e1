//! Answers of AWS about what classes name, kept for a while, so that the same is not asked every minute.
//!
//! A parameter that AWS publishes is kept for a day: an image that `latest` has come to name meanwhile replaces no nodes before that, unless
//! the one that it named is deprecated or gone.
//!
//! Images and subnets are kept for the intervals of the settings.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use k8s_openapi::jiff::{SignedDuration, Timestamp};

use plimsoll_api::kinds::FoundSecurityGroup;

use super::Query;
use super::images::{Image, is_deprecated};
use super::network::Subnet;

/// A parameter that AWS publishes is read again after so long: Karpenter's time.
const PUBLISHED: SignedDuration = SignedDuration::from_hours(24);
/// One of the user's, and one that AWS has not published so far, is read again after so long: Karpenter's time for the first.
const OWN: SignedDuration = SignedDuration::from_mins(5);
/// A parameter whose image is deprecated or gone is not read more often than this: Karpenter's time.
const MOVES: SignedDuration = SignedDuration::from_mins(30);

/// Times from one question to the next where the answer can be counted on to change; each at least a minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefreshIntervals {
    /// Between two questions for the images of a class.
    pub images: SignedDuration,
    /// Between two questions for the subnets of a class, and the addresses that are free in them.
    pub subnets: SignedDuration,
    /// Between two questions for the security groups of a class.
    pub security_groups: SignedDuration,
}

impl Default for RefreshIntervals {
    /// Karpenter's times.
    fn default() -> Self {
        Self {
            images: SignedDuration::from_mins(1),
            subnets: SignedDuration::from_mins(1),
            security_groups: SignedDuration::from_mins(1),
        }
    }
}

/// Answers by question, each with the time until which it is kept.
#[derive(Debug)]
struct Kept<K, V> {
    by_question: Mutex<BTreeMap<K, Answer<V>>>,
}

#[derive(Clone, Debug)]
struct Answer<V> {
    value: V,
    since: Timestamp,
    lasts: SignedDuration,
}

impl<V> Answer<V> {
    /// `true` if it is not older than it may be, nor younger than now, as where the clock went back.
    fn holds(&self, now: Timestamp) -> bool {
        let age = now.duration_since(self.since);
        (SignedDuration::ZERO..self.lasts).contains(&age)
    }
}

impl<K, V> Default for Kept<K, V> {
    fn default() -> Self {
        Self {
            by_question: Mutex::default(),
        }
    }
}

impl<K: Ord, V: Clone> Kept<K, V> {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<K, Answer<V>>> {
        self.by_question
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn get(&self, question: &K, now: Timestamp) -> Option<V> {
        let known = self.lock();
        let answer = known.get(question).filter(|answer| answer.holds(now))?;
        Some(answer.value.clone())
    }

    /// Keeps an answer; those whose time is over go.
    fn keep(&self, question: K, value: V, now: Timestamp, lasts: SignedDuration) {
        let mut known = self.lock();
        known.retain(|_, answer| answer.holds(now));
        let answer = Answer {
            value,
            since: now,
            lasts,
        };
        known.insert(question, answer);
    }
}

/// A class of a generation, and what it asks for.
type Question = (String, Query);

/// A parameter as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Parameter {
    /// Its value; `None` where there is no such parameter.
    pub(crate) value: Option<String>,
}

/// All that is kept.
#[derive(Debug, Default)]
pub(crate) struct KeptAnswers {
    intervals: RefreshIntervals,
    parameters: Kept<String, Parameter>,
    images: Kept<Question, Vec<Image>>,
    subnets: Kept<Question, Vec<Subnet>>,
    security_groups: Kept<Question, Vec<FoundSecurityGroup>>,
}

impl KeptAnswers {
    /// Nothing yet.
    pub(crate) fn new(intervals: RefreshIntervals) -> Self {
        Self {
            intervals,
            ..Self::default()
        }
    }

    /// A parameter; `None` where it has to be read.
    pub(crate) fn parameter(&self, name: &str, now: Timestamp) -> Option<Parameter> {
        self.parameters.get(&name.to_owned(), now)
    }

    /// Keeps what a parameter says that AWS publishes.
    pub(crate) fn published(&self, name: &str, value: Option<&String>, now: Timestamp) {
        let lasts = if value.is_some() { PUBLISHED } else { OWN };
        let value = value.cloned();
        let parameter = Parameter { value };
        self.parameters.keep(name.to_owned(), parameter, now, lasts);
    }

    /// Keeps what a parameter of the user's says.
    pub(crate) fn own(&self, name: &str, value: &str, now: Timestamp) {
        let value = Some(value.to_owned());
        let parameter = Parameter { value };
        self.parameters.keep(name.to_owned(), parameter, now, OWN);
    }

    /// Parameters that may come to name other images, by name: those whose images are deprecated or gone are read again, if that was not done lately.
    pub(crate) fn forget_outdated(
        &self,
        names: &BTreeSet<String>,
        found: &[Image],
        now: Timestamp,
    ) {
        let sound = found.iter().filter(|image| !is_deprecated(image, now));
        let sound: BTreeSet<&str> = sound.map(|image| image.id.as_str()).collect();
        self.parameters.lock().retain(|name, answer| {
            let image = answer.value.value.as_deref();
            let is_outdated = image.is_some_and(|image| !sound.contains(image));
            let is_old = now.duration_since(answer.since) >= MOVES;
            !(is_outdated && is_old && names.contains(name))
        });
    }

    /// Images that a class of a generation has asked for, where that was not long ago.
    pub(crate) fn images(&self, class: &str, query: &Query, now: Timestamp) -> Option<Vec<Image>> {
        self.images.get(&(class.to_owned(), query.clone()), now)
    }

    /// Keeps the images of a class; where parameters that may come to name others have named them, no longer than until these may be read again.
    pub(crate) fn keep_images(
        &self,
        (class, query): (&str, &Query),
        found: &[Image],
        moves: bool,
        now: Timestamp,
    ) {
        let lasts = self.intervals.images;
        let lasts = if moves { lasts.min(MOVES) } else { lasts };
        // A class without any waits for some.
        if !found.is_empty() {
            let question = (class.to_owned(), query.clone());
            self.images.keep(question, found.to_vec(), now, lasts);
        }
    }

    /// Subnets that a class of a generation has asked for, where that was not long ago.
    pub(crate) fn subnets(
        &self,
        class: &str,
        query: &Query,
        now: Timestamp,
    ) -> Option<Vec<Subnet>> {
        self.subnets.get(&(class.to_owned(), query.clone()), now)
    }

    /// Keeps the subnets of a class.
    pub(crate) fn keep_subnets(
        &self,
        (class, query): (&str, &Query),
        found: &[Subnet],
        now: Timestamp,
    ) {
        if !found.is_empty() {
            let question = (class.to_owned(), query.clone());
            let lasts = self.intervals.subnets;
            self.subnets.keep(question, found.to_vec(), now, lasts);
        }
    }

    /// Security groups that a class of a generation has asked for, where that was not long ago.
    pub(crate) fn security_groups(
        &self,
        class: &str,
        query: &Query,
        now: Timestamp,
    ) -> Option<Vec<FoundSecurityGroup>> {
        self.security_groups
            .get(&(class.to_owned(), query.clone()), now)
    }

    /// Keeps the security groups of a class.
    pub(crate) fn keep_security_groups(
        &self,
        (class, query): (&str, &Query),
        found: &[FoundSecurityGroup],
        now: Timestamp,
    ) {
        if !found.is_empty() {
            let question = (class.to_owned(), query.clone());
            let lasts = self.intervals.security_groups;
            self.security_groups
                .keep(question, found.to_vec(), now, lasts);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(minutes: i64) -> Timestamp {
        Timestamp::from_second(1_790_000_000 + minutes * 60).expect("a time")
    }

    fn image(id: &str, deprecated: Option<i64>) -> Image {
        Image {
            id: id.to_owned(),
            deprecated: deprecated.map(at),
            ..Image::default()
        }
    }

    #[test]
    fn a_published_parameter_is_known_for_a_day_and_others_for_five_minutes() {
        let kept = KeptAnswers::default();
        assert_eq!(kept.parameter("a", at(0)), None);
        kept.published("a", Some(&"ami-1".to_owned()), at(0));
        kept.published("none", None, at(0));
        kept.own("own", "ami-2", at(0));
        let named = |id: &str| {
            let value = Some(id.to_owned());
            Some(Parameter { value })
        };
        for (name, told, lasts) in [
            ("a", named("ami-1"), 24 * 60),
            ("none", Some(Parameter { value: None }), 5),
            ("own", named("ami-2"), 5),
        ] {
            assert_eq!(kept.parameter(name, at(lasts - 1)), told, "{name}");
            assert_eq!(kept.parameter(name, at(lasts)), None, "{name}");
            assert_eq!(kept.parameter(name, at(-1)), None, "the clock went back");
        }
    }

    #[test]
    fn a_parameter_whose_image_is_deprecated_or_gone_is_read_again_after_half_an_hour() {
        let names = || -> BTreeSet<String> { ["latest".to_owned()].into() };
        for (found, is_kept) in [
            (vec![image("ami-1", None)], true),
            (vec![image("ami-1", Some(31))], true),
            (vec![image("ami-1", Some(30))], false),
            (vec![], false),
        ] {
            let kept = KeptAnswers::default();
            for name in ["latest", "pinned"] {
                kept.published(name, Some(&"ami-1".to_owned()), at(0));
            }
            kept.forget_outdated(&names(), &[], at(29));
            assert!(kept.parameter("latest", at(29)).is_some());
            kept.forget_outdated(&names(), &found, at(30));
            let known = kept.parameter("latest", at(30));
            assert_eq!(known.is_some(), is_kept, "{found:?}");
            assert!(kept.parameter("pinned", at(30)).is_some());
        }
    }

    #[test]
    fn what_classes_choose_is_known_for_its_interval_to_the_class_that_asked() {
        let kept = KeptAnswers::new(RefreshIntervals {
            images: SignedDuration::from_mins(90),
            subnets: SignedDuration::from_mins(10),
            security_groups: SignedDuration::from_mins(20),
        });
        let query = Query::one_of("name", ["own".to_owned()]).expect("a query");
        let (own, subnet) = (image("ami-1", None), Subnet::default());
        let found = std::slice::from_ref(&own);
        kept.keep_images(("a-1", &query), found, false, at(0));
        kept.keep_images(("b-1", &query), found, true, at(0));
        kept.keep_subnets(("a-1", &query), std::slice::from_ref(&subnet), at(0));
        kept.keep_subnets(("c-1", &query), &[], at(0));
        let images = |class, minutes| kept.images(class, &query, at(minutes)).is_some();
        assert!(images("a-1", 89) && !images("a-1", 90) && !images("a-2", 0));
        // A parameter has named them that may come to name others.
        assert!(images("b-1", 29) && !images("b-1", 30));
        let subnets = |class, minutes| kept.subnets(class, &query, at(minutes)).is_some();
        assert!(subnets("a-1", 9) && !subnets("a-1", 10));
        assert!(!subnets("c-1", 0), "none are waited for");
        let group = FoundSecurityGroup::default();
        kept.keep_security_groups(("a-1", &query), std::slice::from_ref(&group), at(0));
        kept.keep_security_groups(("c-1", &query), &[], at(0));
        let groups = |class, minutes| {
            let known = kept.security_groups(class, &query, at(minutes));
            known.is_some()
        };
        assert!(groups("a-1", 19) && !groups("a-1", 20) && !groups("a-2", 0));
        assert!(!groups("c-1", 0), "none are waited for");
    }
}
