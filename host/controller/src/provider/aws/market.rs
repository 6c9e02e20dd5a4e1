//! The market of a region, as EC2 tells of it: types, the zones that have them, list prices and spot prices, each asked for by itself at the start and again as
//! it ages. Without an answer the last one stands; at first that is what is compiled in.

#[cfg(test)]
mod tests;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use plimsoll_aws::{
    CallError, Ec2, ErrorClass, ListPrices, Market, OfferedZones, SpotQuotes, ToldTypes, is_priced,
    quotes,
};
use plimsoll_base::time::{Span, Timestamp};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::clock::Clock;

/// From one question to the next where the answer lasts: Karpenter's time.
const SELDOM: Duration = Duration::from_hours(12);
/// From one question for spot prices to the next: they move by the hour.
const OFTEN: Duration = Duration::from_hours(1);
/// After a question that failed.
const AGAIN: Duration = Duration::from_mins(1);
/// The first answers are waited for so long; without them what is compiled in is sold until they come.
const PATIENCE: Duration = Duration::from_secs(10);

/// A part of what a region sells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Types,
    Zones,
    ListPrices,
    SpotPrices,
}

impl Part {
    const fn name(self) -> &'static str {
        match self {
            Self::Types => "instance types",
            Self::Zones => "zones of instance types",
            Self::ListPrices => "list prices",
            Self::SpotPrices => "spot prices",
        }
    }

    const fn lasts(self) -> Duration {
        match self {
            Self::SpotPrices => OFTEN,
            _ => SELDOM,
        }
    }
}

/// What was said of a part; never nothing.
enum Answer {
    Types(ToldTypes),
    Zones(OfferedZones),
    ListPrices(ListPrices),
    SpotPrices(SpotQuotes),
}

/// All that was said so far.
struct Told {
    market: Market,
    /// When list prices were told.
    listed: Option<Timestamp>,
    /// When spot prices were told.
    quoted: Timestamp,
    /// Parts of which the first question has not ended.
    awaited: usize,
}

impl Told {
    fn new(region: &str, awaited: usize) -> Self {
        Self {
            market: Market::of_tables(region),
            listed: None,
            quoted: Timestamp::from_millis(0),
            awaited,
        }
    }

    fn take(&mut self, answer: Answer, now: Timestamp) {
        let market = &mut self.market;
        match answer {
            Answer::Types(types) => market.listing.types = Some(Arc::new(types.sold)),
            Answer::Zones(zones) => market.listing.zones = Some(Arc::new(zones)),
            // A type that is no longer listed keeps its price: it may be sold yet.
            Answer::ListPrices(prices) => {
                let known = market.listing.prices.take().unwrap_or_default();
                let mut known = Arc::unwrap_or_clone(known);
                known.extend(prices);
                market.listing.prices = Some(Arc::new(known));
                self.listed = Some(now);
            }
            // As does a type that is not quoted somewhere this time.
            Answer::SpotPrices(quotes) => {
                let known = market.spot.get_or_insert_default();
                known.renew(quotes, seconds(now.since(self.quoted)));
                self.quoted = now;
            }
        }
    }

    /// The market as it is known now.
    fn market(&self, now: Timestamp) -> Market {
        let age = self.listed.map(|listed| seconds(now.since(listed)));
        Market {
            list_price_age_s: age.unwrap_or(0),
            ..self.market.clone()
        }
    }
}

/// Whole seconds; none where time went back.
fn seconds(span: Span) -> u32 {
    u32::try_from(span.millis().max(0) / 1_000).unwrap_or(u32::MAX)
}

/// The market of the region, kept up to date.
pub(super) struct Follower {
    told: watch::Receiver<Told>,
    clock: Clock,
    _asking: JoinSet<()>,
}

impl Follower {
    /// Begins to ask. In a network without a way to the Pricing service that one is not asked.
    pub(super) fn start(ec2: &Arc<Ec2>, is_isolated: bool) -> Self {
        let region = ec2.clients().region();
        let mut parts = vec![Part::Types, Part::Zones, Part::SpotPrices];
        if is_isolated || !is_priced(region) {
            tracing::info!(region, "list prices are not asked for; compiled ones stand");
        } else {
            parts.push(Part::ListPrices);
        }
        let (clock, asked) = (Clock::default(), Arc::clone(ec2));
        Self::by(region, &parts, clock.clone(), move |part| {
            let (ec2, clock) = (Arc::clone(&asked), clock.clone());
            async move { ask(&ec2, part, clock.now()).await }
        })
    }

    fn by<A, F>(region: &str, parts: &[Part], clock: Clock, ask: A) -> Self
    where
        A: Fn(Part) -> F + Clone + Send + 'static,
        F: Future<Output = Result<Answer, Failure>> + Send + 'static,
    {
        let (tell, told) = watch::channel(Told::new(region, parts.len()));
        let mut asking = JoinSet::new();
        for part in parts {
            asking.spawn(follow(*part, ask.clone(), tell.clone(), clock.clone()));
        }
        Self {
            told,
            clock,
            _asking: asking,
        }
    }

    /// The market once all parts were asked for, or as far as it is known when patience ends.
    pub(super) async fn first(&mut self) -> Market {
        let all = self.told.wait_for(|told| told.awaited == 0);
        if timeout(PATIENCE, all).await.is_err() {
            tracing::warn!(
                "EC2 has not said in time all that it sells; compiled tables stand until it does"
            );
        }
        self.market()
    }

    /// The market when more is known of it; nothing is lost if the wait is given up.
    pub(super) async fn next(&mut self) -> Market {
        if self.told.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
        self.market()
    }

    fn market(&mut self) -> Market {
        self.told.borrow_and_update().market(self.clock.now())
    }
}

/// A question that has no answer that could stand in place of what is known.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Failure {
    /// Equal for failures of which the first alone is told: messages of AWS may be other ones each time.
    kind: String,
    words: String,
}

impl Failure {
    fn new(words: String) -> Self {
        Self {
            kind: words.clone(),
            words,
        }
    }

    fn empty(action: &str) -> Self {
        Self::new(format!(
            "{action}: an empty list; expected at least one entry"
        ))
    }
}

/// A failed call, with the way out where a right is missing.
impl From<CallError> for Failure {
    fn from(error: CallError) -> Self {
        let action = error.action;
        let words = match error.class() {
            ErrorClass::Denied => format!("{error}; give the controller's role the right {action}"),
            _ => error.to_string(),
        };
        Self {
            kind: format!("{action} {}", error.code),
            words,
        }
    }
}

/// Asks for a part for ever, and tells what is new.
async fn follow<A, F>(part: Part, ask: A, tell: watch::Sender<Told>, clock: Clock)
where
    A: Fn(Part) -> F,
    F: Future<Output = Result<Answer, Failure>> + Send,
{
    let (mut failed, mut is_first) = (None, true);
    loop {
        let answer = ask(part).await;
        let wait = match &answer {
            Ok(_) => {
                failed = None;
                part.lasts()
            }
            Err(Failure { kind, words }) => {
                if failed.as_ref() != Some(kind) {
                    tracing::warn!(
                        error = words,
                        "{} are not known; what was known stands, asked for again every minute",
                        part.name()
                    );
                }
                failed = Some(kind.clone());
                AGAIN
            }
        };
        tell.send_if_modified(|told| {
            told.awaited -= usize::from(is_first);
            let is_news = answer.is_ok();
            if let Ok(answer) = answer {
                told.take(answer, clock.now());
            }
            is_news || is_first
        });
        is_first = false;
        sleep(wait).await;
    }
}

/// One question.
async fn ask(ec2: &Ec2, part: Part, now: Timestamp) -> Result<Answer, Failure> {
    let clients = ec2.clients();
    match part {
        Part::Types => types(clients.instance_types().await?).map(Answer::Types),
        Part::Zones => {
            let zones = clients.offered_zones().await?;
            if zones.is_empty() {
                return Err(Failure::empty("ec2:DescribeInstanceTypeOfferings"));
            }
            Ok(Answer::Zones(zones))
        }
        Part::ListPrices => {
            let prices = clients.price_list().await?.prices(clients.region());
            let prices = prices.map_err(|error| Failure::new(error.to_string()))?;
            Ok(Answer::ListPrices(prices))
        }
        Part::SpotPrices => {
            let quotes = quotes(&clients.spot_prices(now).await?, now);
            if quotes.is_empty() {
                return Err(Failure::empty("ec2:DescribeSpotPriceHistory"));
            }
            Ok(Answer::SpotPrices(quotes))
        }
    }
}

/// Types of which some can be sold.
fn types(told: ToldTypes) -> Result<ToldTypes, Failure> {
    match (told.sold.is_empty(), told.unread.first()) {
        (true, Some(error)) => Err(Failure::new(error.to_string())),
        (true, None) => Err(Failure::empty("ec2:DescribeInstanceTypes")),
        (false, None) => Ok(told),
        (false, Some(error)) => {
            let count = told.unread.len();
            tracing::warn!(%error, count, "some instance types cannot be read and are not sold");
            Ok(told)
        }
    }
}
