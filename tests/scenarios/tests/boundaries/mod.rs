//! Every write boundary.

mod verdict;
mod world;

use std::collections::BTreeMap;

use plimsoll_core::action::Order;
use plimsoll_core::time::Span;
use plimsoll_sim::{Fate, FirstList};

use verdict::{Verdict, rest};
use world::{LAST, Simulated, start};

/// Hands out the run at each boundary, before the order is carried out; their number.
fn boundaries(mut visit: impl FnMut(usize, &Simulated)) -> usize {
    let mut run = start();
    let mut number = 0;
    while run.next_at().is_some_and(|at| at <= LAST) {
        if run.next_order().is_some() {
            visit(number, &run);
            number += 1;
        }
        run.step_event();
    }
    number
}

/// Way to be in the way of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fault {
    StopBefore,
    StopBeforeOthersArrive,
    StopAfter,
    StopAfterAndWait,
    Lost,
    AnswerLost,
    Late,
}

const ALL: [Fault; 7] = [
    Fault::StopBefore,
    Fault::StopBeforeOthersArrive,
    Fault::StopAfter,
    Fault::StopAfterAndWait,
    Fault::Lost,
    Fault::AnswerLost,
    Fault::Late,
];

fn disturbed(run: &Simulated, fault: Fault) -> Simulated {
    let mut run = run.clone();
    match fault {
        Fault::StopBefore => {
            run.drop_next_order();
            run.crash();
        }
        Fault::StopBeforeOthersArrive => {
            run.drop_next_order();
            run.stop();
            run.start(FirstList::Present);
        }
        Fault::StopAfter => {
            run.stop();
            run.step_event();
            run.crash();
        }
        Fault::StopAfterAndWait => {
            run.stop();
            run.step_event();
            run.run_until(run.now() + Span::from_secs(90));
            run.start(FirstList::Present);
        }
        Fault::Lost => run.fate_of_next(Fate::Lost),
        Fault::AnswerLost => run.fate_of_next(Fate::AnswerLost),
        Fault::Late => run.fate_of_next(Fate::Late(Span::from_secs(3))),
    }
    run
}

fn words(order: &Order) -> String {
    format!("{:?} {:?}", order.purpose, order.object)
}

#[test]
fn explore() {
    let calm = rest(start());
    println!("calm: {calm}");
    let mut n = 0;
    let mut outcomes: BTreeMap<(Fault, String), (usize, String)> = BTreeMap::new();
    let step: usize = std::env::var("EVERY").ok().and_then(|v| v.parse().ok()).unwrap_or(10);
    let count = boundaries(|number, run| {
        if number % step != 0 {
            return;
        }
        for fault in ALL {
            n += 1;
            let verdict: Verdict = rest(disturbed(run, fault));
            let order = run.next_order().expect("there is one");
            let bad = !verdict.is_clean() || verdict.price != calm.price || verdict.launches > calm.launches;
            if bad {
                println!("{number} {} {fault:?} {}: {verdict}", run.now().millis(), words(order));
            }
            let own = outcomes.entry((fault, verdict.to_string())).or_default();
            own.0 += 1;
            own.1 = format!("{number} {}", words(order));
        }
    });
    println!("{count} boundaries, {n} runs");
    for (key, (times, one)) in outcomes {
        println!("{:?} {}: {times} such as {one}", key.0, key.1);
    }
}
