//! Parts of a market are asked for by themselves, again after a failure and as they age, and what failed leaves what was known.

use std::sync::Mutex;

use plimsoll_aws::SpotPoint;
use plimsoll_base::units::PricePerHour;
use tokio::time::Instant;

use super::*;

const REGION: &str = "us-east-1";
const ALL: [Part; 4] = [Part::Types, Part::Zones, Part::ListPrices, Part::SpotPrices];

fn dollars(amount: f64) -> PricePerHour {
    PricePerHour::from_dollars(amount).expect("a price")
}

/// An answer of each kind.
fn answer(part: Part) -> Answer {
    let name = || "z9.large".to_owned();
    match part {
        Part::Types => Answer::Types(ToldTypes::default()),
        Part::Zones => {
            let zones = ["us-east-1a".to_owned()].into();
            Answer::Zones([(name(), zones)].into())
        }
        Part::ListPrices => Answer::ListPrices([(name(), dollars(0.5))].into()),
        Part::SpotPrices => {
            let since = Timestamp::from_millis(0);
            let point = SpotPoint {
                instance_type: name(),
                zone: "us-east-1a".to_owned(),
                price: "0.2".to_owned(),
                since,
            };
            Answer::SpotPrices(quotes(&[point], since))
        }
    }
}

/// Questions that were asked, with the minutes that had passed.
type Asked = Arc<Mutex<Vec<(Part, u64)>>>;

/// Follows all parts by answers to the first, second and later questions for each.
fn follower(
    answers: impl Fn(Part, usize) -> Option<Result<Answer, Failure>> + Clone + Send + 'static,
) -> (Follower, Asked) {
    let (asked, start) = (Asked::default(), Instant::now());
    let log = Arc::clone(&asked);
    let follower = Follower::by(REGION, &ALL, Clock::default(), move |part| {
        let count = {
            let mut asked = log.lock().expect("a log");
            asked.push((part, start.elapsed().as_secs() / 60));
            asked.iter().filter(|(own, _)| *own == part).count()
        };
        let answer = answers(part, count);
        async move {
            match answer {
                Some(answer) => answer,
                None => std::future::pending().await,
            }
        }
    });
    (follower, asked)
}

/// Minutes at which a part was asked for.
fn minutes(asked: &Asked, part: Part) -> Vec<u64> {
    let asked = asked.lock().expect("a log");
    let of = asked.iter().filter(|(own, _)| *own == part);
    of.map(|(_, minute)| *minute).collect()
}

#[tokio::test(start_paused = true)]
async fn each_part_is_asked_for_at_the_start_and_again_as_it_ages() {
    let (mut market, asked) = follower(|part, _| Some(Ok(answer(part))));
    let first = market.first().await;
    assert!(first.listing.types.is_some() && first.spot.is_some());
    let zones = first.listing.zones.expect("zones");
    assert!(zones["z9.large"].contains("us-east-1a"));
    sleep(Duration::from_mins(12 * 60 + 30)).await;
    let hours: Vec<u64> = (0..=12).map(|hour| hour * 60).collect();
    assert_eq!(minutes(&asked, Part::SpotPrices), hours);
    for part in [Part::Types, Part::Zones, Part::ListPrices] {
        assert_eq!(minutes(&asked, part), [0, 720], "{part:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_part_that_fails_is_asked_for_every_minute_and_leaves_the_others_and_what_was_known() {
    let failing = |part, count| match (part, count) {
        (Part::ListPrices, 1..=2) => Some(Err(Failure::empty("pricing:GetProducts"))),
        _ => Some(Ok(answer(part))),
    };
    let (mut market, asked) = follower(failing);
    let first = market.first().await;
    let compiled = Market::of_tables(REGION).listing.prices;
    assert_eq!(first.listing.prices, compiled);
    assert!(first.listing.types.is_some());
    let next = market.next().await;
    assert_eq!(minutes(&asked, Part::ListPrices), [0, 1, 2]);
    let prices = next.listing.prices.expect("prices");
    assert_eq!(prices.get("z9.large"), Some(&dollars(0.5)));
    assert_eq!(
        prices.get("m5.large"),
        compiled.expect("prices").get("m5.large"),
        "a type that is not listed keeps its price"
    );
}

#[tokio::test(start_paused = true)]
async fn answers_that_do_not_come_are_not_waited_for_and_count_when_they_come() {
    let late = |part, _| (part != Part::Types).then(|| Ok(answer(part)));
    let (mut market, asked) = follower(late);
    let start = Instant::now();
    let first = market.first().await;
    assert_eq!(start.elapsed(), PATIENCE);
    assert_eq!(first.listing.types, None);
    assert!(first.spot.is_some());
    assert_eq!(minutes(&asked, Part::Types), [0]);
    let hour = market.next().await;
    assert_eq!(minutes(&asked, Part::SpotPrices), [0, 60]);
    assert_eq!(hour.listing.types, None);
}

#[test]
fn list_prices_age_from_when_they_were_told() {
    let at = |second: i64| Timestamp::from_millis(second * 1_000);
    let mut told = Told::new(REGION, 0);
    assert_eq!(told.market(at(100)).list_price_age_s, 0);
    told.take(answer(Part::ListPrices), at(100));
    told.take(answer(Part::SpotPrices), at(150));
    assert_eq!(told.market(at(160)).list_price_age_s, 60);
}

#[test]
fn a_right_that_is_missing_is_named_and_told_once_whatever_the_message() {
    let error = |code: &str, message: &str| {
        Failure::from(CallError {
            action: "pricing:GetProducts",
            code: code.to_owned(),
            message: message.to_owned(),
            status: Some(400),
        })
    };
    let first = error("AccessDeniedException", "no 1");
    assert_eq!(
        first.words,
        "pricing:GetProducts: AccessDeniedException: no 1; give the controller's role the right pricing:GetProducts"
    );
    assert_eq!(first.kind, error("AccessDeniedException", "no 2").kind);
    let other = error("InternalErrorException", "no 1");
    assert_eq!(
        other.words,
        "pricing:GetProducts: InternalErrorException: no 1"
    );
    assert_ne!(first.kind, other.kind);
}

#[test]
fn types_of_which_none_can_be_sold_are_no_answer() {
    let unread = plimsoll_aws::TypeError {
        instance_type: "z9.large".to_owned(),
        field: "memoryInfo.sizeInMiB",
        value: "absent".to_owned(),
        expected: "a whole number above 0",
    };
    let broken = ToldTypes {
        unread: vec![unread],
        ..ToldTypes::default()
    };
    for (told, expected) in [
        (
            ToldTypes::default(),
            "ec2:DescribeInstanceTypes: an empty list; expected at least one entry",
        ),
        (
            broken,
            "instance type z9.large: memoryInfo.sizeInMiB is absent; expected a whole number above 0",
        ),
    ] {
        let refused = types(told).expect_err("no types");
        assert_eq!(refused.words, expected);
    }
}
