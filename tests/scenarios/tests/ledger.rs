//! The ledger of moves: each is told at its end as predicted, and once more an hour later with the bill of that hour.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use plimsoll_base::time::{Span, Timestamp};
use plimsoll_base::units::PricePerHour;
use plimsoll_engine::Engine;
use plimsoll_model::action::{Action, ObjectKey};
use plimsoll_model::catalogue::Catalogues;
use plimsoll_model::command::{Settled, WATCHED};
use plimsoll_model::snapshot::{Objects, Settings, Snapshot};
use plimsoll_model::{ConditionType, DisruptionReason};
use plimsoll_oracles::fixture::{Amounts, OnDemand, ZONE_1, cluster, instance_type, pod, pool};
use plimsoll_scenarios::stage;
use plimsoll_sim::{Change, Planned, Planner, Run};

const MINUTE: i64 = 60;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(seconds * 1000)
}

fn dollars(amount: f64) -> PricePerHour {
    PricePerHour::from_dollars(amount).expect("a price")
}

/// A planner at list prices that keeps what commands came to.
#[derive(Clone, Default)]
struct Told(Rc<RefCell<Vec<Settled>>>);

impl Planner for Told {
    fn plan(&mut self, snapshot: &Snapshot) -> Planned {
        plimsoll_schedule::plan(snapshot).into()
    }

    fn settled(&mut self, settled: &Settled) {
        self.0.borrow_mut().push(settled.clone());
    }
}

impl Told {
    fn all(&self) -> Vec<Settled> {
        self.0.borrow().clone()
    }
}

/// Small instances of two cpus at $0.10 and large ones of eight at $0.36.
fn world() -> (Objects, Catalogues, Settings) {
    let sold = |name: &str, cpu: i64, price: f64| {
        let fixture = instance_type(name).cpu(cpu * 1000).memory_mib(cpu * 4096);
        let fixture = fixture.pods(110).no_overhead().price(price);
        fixture.offered(ZONE_1, OnDemand)
    };
    let pool = pool("general").with(|pool| {
        pool.disruption.budgets.clear();
        pool.disruption.consolidate_after = Some(Span::from_secs(30));
    });
    let fixture = cluster()
        .sells(sold("small", 2, 0.1))
        .sells(sold("large", 8, 0.36))
        .pool(pool);
    let (objects, catalogues, mut settings) = fixture.parts();
    settings.guards.enabled = false;
    (objects, catalogues, settings)
}

fn run(inputs_kept: bool) -> (Run<Told>, Told) {
    let recording = stage::recording(world(), at(0), None, Vec::new());
    let told = Told::default();
    let behaviour = stage::uninterrupted();
    let run = if inputs_kept {
        Run::with_inputs_kept(recording, behaviour, told.clone())
    } else {
        Run::new(recording, behaviour, told.clone())
    };
    (run, told)
}

fn scale(run: &mut Run<Told>, name: &str, replicas: u32) {
    let template = pod(name).cpu(900).memory_mib(512);
    run.change(Change::Deploy(stage::deployment(&template, replicas)));
}

/// The first word on the first move that is made to save.
fn first_word(run: &mut Run<Told>, told: &Told) -> Settled {
    loop {
        let mut words = told.all().into_iter();
        if let Some(word) = words.find(|word| word.reason.facts().saves) {
            return word;
        }
        assert!(run.now() < at(60 * MINUTE), "no move is made");
        run.step();
    }
}

/// Two small nodes with a pod of either deployment each, of which one goes once the pods of one deployment have; the word on it at
/// its end.
fn halved(run: &mut Run<Told>, told: &Told) -> Settled {
    scale(run, "api", 2);
    scale(run, "web", 2);
    run.run_until(at(10 * MINUTE));
    assert_eq!(run.claims().count(), 2);
    scale(run, "web", 0);
    let first = first_word(run, told);
    assert_eq!((run.claims().count(), run.counts().evictions), (1, 1));
    first
}

/// Runs to the end of the hour after a move; the last word on it.
fn realised(run: &mut Run<Told>, told: &Told, first: &Settled) -> Settled {
    run.run_until(first.ended + WATCHED + Span::from_secs(60));
    let own = told.all().into_iter().filter(|word| word.id == first.id);
    let words: Vec<Settled> = own.collect();
    assert_eq!(words.len(), 2, "each word once: {words:#?}");
    words[1].clone()
}

#[test]
fn a_move_is_told_once_as_predicted_and_once_as_the_hour_after_it_was() {
    let (mut run, told) = run(false);
    let first = halved(&mut run, &told);
    assert_eq!(first.reason, DisruptionReason::Underutilized);
    assert_eq!((first.nodes, first.gone.len()), (1, 1));
    assert_eq!((first.replacements, first.came.len()), (0, 0));
    assert_eq!(
        (first.predicted, first.realised),
        (dollars(0.1), dollars(0.1))
    );
    assert!(!first.is_realised());
    let last = realised(&mut run, &told, &first);
    assert!(last.is_realised());
    let expected = Settled {
        watched: WATCHED,
        ..first.clone()
    };
    assert_eq!(last, expected);
    assert_eq!(
        run.counts().ledger,
        std::slice::from_ref(&last),
        "one line of a score card"
    );
    let reports = run.take_reports();
    let own = reports
        .iter()
        .filter(|it| it.reason.as_str().starts_with("Saving"));
    let own: Vec<_> = own.collect();
    assert_eq!(own.len(), 2);
    for (event, reason, at) in [
        (own[0], "SavingPredicted", first.ended),
        (own[1], "SavingRealised", first.ended + WATCHED),
    ] {
        assert_eq!(event.object, ObjectKey::Pool("general".into()));
        assert_eq!((event.reason.as_str(), event.at), (reason, at));
        assert!(event.message.contains(&first.id.to_string()), "{event:?}");
        assert!(event.message.contains("$0.1000/h"), "{event:?}");
        assert!(event.message.contains(first.gone[0].as_str()), "{event:?}");
    }
}

#[test]
fn pods_that_come_back_are_on_the_bill_for_as_long_as_their_node_was() {
    let (mut run, told) = run(false);
    let first = halved(&mut run, &told);
    run.run_until(first.ended + Span::from_secs(20 * MINUTE));
    // The node that stays is full: two more pods need another, and one of them stands for the pod that was moved.
    scale(&mut run, "api", 4);
    let last = realised(&mut run, &told, &first);
    assert_eq!((last.predicted, last.bought_since.len()), (dollars(0.1), 1));
    let mut claims = run.claims();
    let bought = claims.find(|claim| claim.name == last.bought_since[0]);
    let bought = bought.expect("it is there");
    let launched = bought.conditions.get(ConditionType::Launched);
    let launched = launched.expect("it is launched").since;
    let end = first.ended + WATCHED;
    let stood = i128::from(end.since(launched).millis());
    assert!(stood > 0 && stood < i128::from(WATCHED.millis()));
    let cost = i128::from(dollars(0.1).nanos()) * stood / (i128::from(WATCHED.millis()) * 2);
    let cost = PricePerHour::from_nanos(i64::try_from(cost).expect("small"));
    assert_eq!(last.realised, dollars(0.1) - cost);
    assert!(last.realised < last.predicted && last.realised > PricePerHour::ZERO);
}

#[test]
fn pods_of_others_are_not_on_the_bill() {
    let (mut run, told) = run(false);
    let first = halved(&mut run, &told);
    run.run_until(first.ended + Span::from_secs(20 * MINUTE));
    scale(&mut run, "web", 2);
    let last = realised(&mut run, &told, &first);
    assert_eq!(run.claims().count(), 2);
    assert_eq!(
        (last.bought_since.len(), last.realised),
        (0, last.predicted)
    );
}

#[test]
fn a_replacement_is_on_the_bill_and_named() {
    let (mut run, told) = run(false);
    scale(&mut run, "web", 7);
    run.run_until(at(10 * MINUTE));
    scale(&mut run, "web", 1);
    let first = first_word(&mut run, &told);
    let last = realised(&mut run, &told, &first);
    let claims: Vec<_> = run.claims().map(|claim| claim.name.clone()).collect();
    assert_eq!((last.gone.len(), &last.came), (1, &claims));
    let saving = dollars(0.36) - dollars(0.1);
    assert_eq!((last.predicted, last.realised), (saving, saving));
}

#[test]
fn a_process_that_ends_within_the_hour_leaves_the_first_word() {
    let (mut run, told) = run(false);
    let first = halved(&mut run, &told);
    run.run_until(first.ended + Span::from_secs(20 * MINUTE));
    run.crash();
    run.run_until(first.ended + WATCHED + WATCHED);
    assert_eq!(told.all(), std::slice::from_ref(&first));
    assert_eq!(run.counts().ledger, [first]);
}

#[test]
fn an_engine_with_the_same_inputs_settles_the_same() {
    let (mut run, told) = run(true);
    let first = halved(&mut run, &told);
    run.run_until(first.ended + Span::from_secs(20 * MINUTE));
    scale(&mut run, "api", 4);
    realised(&mut run, &told, &first);
    let (_, catalogues, settings) = world();
    let seed = stage::uninterrupted().seed;
    let mut engine = Engine::new(Arc::new(settings), Arc::new(catalogues), seed);
    let mut settled = Vec::new();
    for (now, input) in run.take_inputs() {
        let actions = engine.handle(input, now).into_iter();
        settled.extend(actions.filter_map(|action| match action {
            Action::Settle(settled) => Some(*settled),
            _ => None,
        }));
    }
    assert_eq!(settled, told.all());
}
