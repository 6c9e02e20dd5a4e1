//! Every write boundary.

mod verdict;
mod world;

use std::collections::BTreeMap;

use plimsoll_core::action::{ObjectKey, Order};
use plimsoll_core::ids::{ClaimName, NodeName};
use plimsoll_core::model::OwnerKind;
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
    StaleBefore(i64, i64),
    StaleAfter(i64, i64),
    Cut(i64),
    CutLost(i64),
    Paused(i64),
    Both(i64),
    PodsAgain(i64),
    ClaimGone,
    ClaimAgain(i64),
    NodeAgain,
    NodeDeleted,
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
        Fault::StaleBefore(age, behind) => {
            run.drop_next_order();
            run.stop();
            let at = run.now() - Span::from_secs(age);
            run.start(FirstList::Stale(at, Span::from_secs(behind)));
        }
        Fault::StaleAfter(age, behind) => {
            run.stop();
            run.step_event();
            let at = run.now() - Span::from_secs(age);
            run.start(FirstList::Stale(at, Span::from_secs(behind)));
        }
        Fault::Cut(span) => run.cut_watches(Span::from_secs(span)),
        Fault::CutLost(span) => {
            run.cut_watches(Span::from_secs(span));
            run.fate_of_next(Fate::AnswerLost);
        }
        Fault::Paused(span) | Fault::Both(span) => {
            let paused = run.pause_before_next().expect("there is an order");
            run.start(FirstList::Present);
            run.run_until(run.now() + Span::from_secs(span));
            run.wake(paused, Span::from_secs(1));
            if matches!(fault, Fault::Paused(_)) {
                run.run_until(run.now() + Span::from_secs(3));
                run.stop_oldest();
            }
        }
        Fault::PodsAgain(cut) => {
            run.cut_watches(Span::from_secs(cut));
            let pods: Vec<_> = run
                .pods()
                .filter(|pod| {
                    pod.owner
                        .as_ref()
                        .is_some_and(|o| o.kind == OwnerKind::ReplicaSet)
                })
                .map(|pod| pod.name.clone())
                .collect();
            for pod in pods {
                run.recreate_pod(&pod);
            }
        }
        Fault::ClaimGone => {
            if let Some(name) = claim_of(&run) {
                run.remove_claim(&name);
            }
        }
        Fault::ClaimAgain(cut) => {
            if let Some(name) = claim_of(&run) {
                if cut > 0 {
                    run.cut_watches(Span::from_secs(cut));
                }
                run.recreate_claim(&name);
            }
        }
        Fault::NodeAgain => {
            if let Some(name) = claim_of(&run) {
                run.recreate_node(&NodeName::from(name.as_str()));
            }
        }
        Fault::NodeDeleted => {
            if let Some(name) = claim_of(&run) {
                run.delete_node(&NodeName::from(name.as_str()));
            }
        }
    }
    run
}

fn claim_of(run: &Simulated) -> Option<ClaimName> {
    match &run.next_order()?.object {
        ObjectKey::Claim(name) => Some(name.clone()),
        ObjectKey::Node(name) => Some(ClaimName::from(name.as_str())),
        ObjectKey::Pod(uid) => {
            let pod = run.pods().find(|pod| pod.uid == *uid)?;
            pod.node.as_ref().map(|node| ClaimName::from(node.as_str()))
        }
        _ => None,
    }
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
    let step: usize = std::env::var("EVERY")
        .ok()
        .and_then(|v| v.parse().ok())
        .unwrap_or(10);
    let count = boundaries(|number, run| {
        if number % step != 0 {
            return;
        }
        let faults: Vec<Fault> = match std::env::var("FAMILY").as_deref() {
            Ok("stale") => vec![
                Fault::StaleBefore(0, 5),
                Fault::StaleAfter(0, 5),
                Fault::StaleBefore(5, 5),
                Fault::StaleAfter(60, 5),
                Fault::StaleAfter(60, 60),
                Fault::StaleAfter(300, 30),
                Fault::StaleAfter(900, 5),
            ],
            Ok("cut") => vec![
                Fault::Cut(5),
                Fault::Cut(60),
                Fault::CutLost(5),
                Fault::CutLost(60),
                Fault::CutLost(200),
            ],
            Ok("two") => vec![
                Fault::Paused(20),
                Fault::Paused(120),
                Fault::Paused(600),
                Fault::Paused(3),
            ],
            Ok("hand") => vec![
                Fault::PodsAgain(0),
                Fault::PodsAgain(30),
                Fault::ClaimGone,
                Fault::ClaimAgain(0),
                Fault::ClaimAgain(30),
                Fault::NodeAgain,
                Fault::NodeDeleted,
            ],
            _ => ALL.to_vec(),
        };
        for fault in faults {
            n += 1;
            let verdict: Verdict = rest(disturbed(run, fault));
            let order = run.next_order().expect("there is one");
            let bad = !verdict.is_clean()
                || verdict.price != calm.price
                || verdict.launches > calm.launches;
            if bad {
                println!(
                    "{number} {} {fault:?} {}: {verdict}",
                    run.now().millis(),
                    words(order)
                );
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

#[test]
fn story() {
    let Ok(number) = std::env::var("NUMBER") else {
        return;
    };
    let number: usize = number.parse().unwrap();
    let fault = std::env::var("FAULT").unwrap();
    let span = |i: usize| {
        std::env::var("SPANS")
            .ok()
            .and_then(|v| v.split(',').nth(i).map(|v| v.parse::<i64>().unwrap()))
            .unwrap_or(0)
    };
    let fault = match fault.as_str() {
        "StopBefore" => Fault::StopBefore,
        "StopAfter" => Fault::StopAfter,
        "StopAfterAndWait" => Fault::StopAfterAndWait,
        "StaleAfter" => Fault::StaleAfter(span(0), span(1)),
        "StaleBefore" => Fault::StaleBefore(span(0), span(1)),
        "Both" => Fault::Both(span(0)),
        "Paused" => Fault::Paused(span(0)),
        "PodsAgain" => Fault::PodsAgain(span(0)),
        "ClaimGone" => Fault::ClaimGone,
        "ClaimAgain" => Fault::ClaimAgain(span(0)),
        "NodeAgain" => Fault::NodeAgain,
        "NodeDeleted" => Fault::NodeDeleted,
        "Late" => Fault::Late,
        _ => Fault::Lost,
    };
    let mut found = None;
    boundaries(|at, run| {
        if at == number {
            found = Some(run.clone())
        }
    });
    let mut run = disturbed(&found.unwrap(), fault);
    run.take_reports();
    let mut lines = 0;
    while run.next_at().is_some_and(|at| at <= world::STAYS) && lines < 400 {
        if let Some(order) = run.next_order() {
            let request = format!("{:?}", order.request);
            println!(
                "{:>9} {} v{:?} {}",
                run.next_at().unwrap().millis(),
                words(order),
                order.version.map(|v| v.0),
                &request[..request.len().min(160)]
            );
            lines += 1;
        }
        run.step_event();
        for report in run.take_reports() {
            println!(
                "{:>9} -- {:?} {} {}",
                run.now().millis(),
                report.object,
                report.reason,
                report.message
            );
        }
    }
    for claim in run.claims() {
        println!(
            "{} {} {:?} {:?} {:?}",
            claim.name,
            claim.uid,
            claim.provider_id,
            claim.deleting,
            claim.phase()
        );
    }
    for node in run.nodes() {
        println!(
            "{} {:?} {:?} held {}",
            node.name,
            node.provider_id,
            node.deleting,
            run.is_held(&node.name)
        );
    }
    for (id, claim) in run.instances() {
        println!("{id} {}", claim.name);
    }
}
