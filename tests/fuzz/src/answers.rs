//! Answers of guests: what the core takes is what its rules allow, told once more in plain words; and a guest whose answer is any memory at
//! all ends in a class, with words.

use std::sync::{Arc, LazyLock};

use plimsoll_core::hook::Settings;
use plimsoll_core::rank::{
    Architecture, Capacity, Context, InstanceTypeRow, OfferingRow, PoolRow, Pools, PriceAnswer,
    PriceQuestion, TablesBuilder, check_prices, list_price,
};
use plimsoll_guests::handmade;
use plimsoll_policy::{Engine, EngineSettings, Outcome};

use crate::Draw;
use crate::acceptance::judge_words;

static ENGINE: LazyLock<Engine> =
    LazyLock::new(|| Engine::new(EngineSettings::default()).expect("the engine starts"));
static QUESTION: LazyLock<PriceQuestion> = LazyLock::new(question);

/// Candidates that the handmade guests answer about.
const CANDIDATES: u8 = 18;
/// Once in so many inputs a guest is compiled and called.
const CALLED: usize = 50;

/// One answer.
pub(crate) fn run(draw: &mut Draw) {
    if draw.once_in(CALLED) {
        call(draw);
    }
    let question = &*QUESTION;
    let mut answer = list_price(question);
    for _ in 0..=draw.below(3) {
        change(draw, &mut answer);
    }
    let checked = check_prices(question, &answer);
    assert_eq!(
        checked.is_ok(),
        is_legal(&answer),
        "{checked:?}: {answer:?}"
    );
    if let Err(error) = checked {
        judge_words(&error.to_string());
    }
}

fn change(draw: &mut Draw, answer: &mut PriceAnswer) {
    let odd = [
        0.0,
        -0.0,
        1.0,
        -1e-300,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        100_000.0,
        100_000.000_1,
        f64::MIN_POSITIVE,
        f64::from_bits(draw.any()),
    ];
    let row = draw.below(answer.first.len());
    let number = u32::from(draw.byte() % 4);
    match draw.below(8) {
        0 => answer.first.truncate(row),
        1 => answer.then.push(1.0),
        2 => answer.first_reason.push(1),
        3 => drop(answer.first_count.pop()),
        _ if row >= answer.first.len().min(answer.then.len()) => {}
        4 => answer.first[row] = *draw.pick(&odd),
        5 => {
            let price = *draw.pick(&odd);
            (answer.first[row], answer.then[row]) = (price, price);
        }
        6 => answer.then[row] = *draw.pick(&odd),
        _ if row < answer.first_count.len() => {
            answer.first_group[row] = number;
            answer.first_count[row] = u32::from(draw.byte() % 3);
        }
        _ => {}
    }
}

/// The rule of the interface, row by row.
fn is_legal(answer: &PriceAnswer) -> bool {
    let rows = usize::from(CANDIDATES);
    let lengths = [
        answer.first.len(),
        answer.first_count.len(),
        answer.first_group.len(),
        answer.first_reason.len(),
        answer.then.len(),
        answer.then_reason.len(),
    ];
    let is_price = |price: f64| price == f64::INFINITY || (0.0..=100_000.0).contains(&price);
    let is_shared = |row: usize, other: usize| {
        let groups = &answer.first_group;
        groups[row] == 0
            || groups[row] != groups[other]
            || answer.first_count[row] == answer.first_count[other]
    };
    lengths.iter().all(|length| *length == rows)
        && (0..rows).all(|row| {
            let (first, then) = (answer.first[row], answer.then[row]);
            is_price(first)
                && is_price(then)
                && first <= then
                && (0..rows).all(|other| is_shared(row, other))
        })
}

/// A guest whose answer is made of any bytes: where lists lie, how long they are, and whether it declines.
fn call(draw: &mut Draw) {
    let mut guest = handmade("gives-away").expect("it is there").to_vec();
    // Its answer: prices, and six lists of as many rows as there are candidates, from the same address on.
    let list = [0, 0x10, 0, 0, CANDIDATES, 0, 0, 0];
    let told = [&[0; 4][..], &list.repeat(6)].concat();
    let at = guest.windows(told.len()).position(|window| window == told);
    let at = at.expect("the guest keeps its answer in its data");
    for _ in 0..=draw.below(6) {
        guest[at + draw.below(told.len())] = draw.byte();
    }
    let module = ENGINE.accept(&guest, &Settings::new());
    let called = module.expect("data is any data").price(&QUESTION);
    assert!(
        !matches!(
            called.outcome(),
            Outcome::Trap | Outcome::Memory | Outcome::Quarantined
        ),
        "{:?}",
        called.result
    );
    if let Err(fault) = called.result {
        judge_words(&fault.sentence);
    }
}

/// Three types in three zones, for two pools.
fn question() -> PriceQuestion {
    let mut builder = TablesBuilder::default();
    let mut offerings = Vec::new();
    for (name, price) in [("small", 0.1), ("middle", 0.2), ("large", 0.4)] {
        let instance_type = builder.instance_type(&InstanceTypeRow {
            name,
            family: "f",
            architecture: Architecture::Amd64,
            cpu_milli: 2_000,
            memory_mib: 8_192,
            pods: 29,
            gpus: 0,
            gpu_kind: "",
            labels: &[],
        });
        for zone in ["a", "b", "c"] {
            let offering = builder.offering(&OfferingRow {
                instance_type,
                zone,
                capacity: Capacity::OnDemand,
                price,
                price_age_s: 60,
                interruptions_per_day: 0.0,
                failures_1h: 0,
                reserved_left: 0,
                running: 0,
            });
            offerings.push(offering.expect("its numbers can be"));
        }
    }
    let mut pools = Pools::default();
    for name in ["general", "batch"] {
        let name = builder.symbol(name);
        let row = PoolRow {
            name,
            weight: 0,
            nodes: 0,
            cost: 0.0,
        };
        pools.push(row, &offerings);
    }
    PriceQuestion {
        context: Context {
            generation: 0,
            now_unix_s: 1_800_000_000,
            seed: 1,
        },
        tables: Arc::new(builder.finish()),
        pools,
    }
}
