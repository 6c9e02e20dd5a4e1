//! One decision with a ranking policy: the core asks, the policy answers, the core finishes.
//!
//! A policy that fails never stops a decision. Without its prices list prices are taken, and without its order launch lists
//! stay in order of price; a policy that forbids offerings is not replaced, since pods must not land where it forbids them
//! to: nothing is bought. Either way the plan's notes say what happened.

use plimsoll_hooks::rank::{
    COST_CAP, LaunchLists, OrderQuestion, PriceQuestion, Prices, check_ordering, check_prices,
    list_order, list_price,
};
use plimsoll_model::plan::{Note, Plan};
use plimsoll_model::snapshot::Snapshot;
use plimsoll_schedule::{Packed, Prepared, Reach, Session, launch, pack, prepare};

use crate::cost_cap;
use crate::manifest::{Manifest, Unit};
use crate::module::{Module, invalid};
use crate::named::Named;
use crate::outcome::Fault;

/// Questions that a ranking policy is asked, and what follows where it fails; unless it says otherwise prices in dollars.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RankerFacts {
    /// The unit of its numbers: it is asked for prices where they are dollars.
    pub unit: Unit,
    /// `true` where it is asked for the order of launch lists; else they are in order of price.
    pub orders: bool,
    /// `true` where it forbids offerings: then nothing is bought at list prices when it fails.
    pub vetoes: bool,
}

/// Who answers the core's questions about instances: a module, or code of the host.
pub trait Ranker: Named {
    /// Questions that it is asked.
    fn facts(&self) -> RankerFacts {
        RankerFacts::default()
    }

    /// Price of one more node of each candidate; fails where the policy gives none within the rules.
    fn price(&self, question: &PriceQuestion) -> Result<Prices, Fault>;

    /// In which order the candidates of each claim are tried.
    fn order(&self, question: &OrderQuestion) -> Result<LaunchLists, Fault>;

    /// `true` if the last order failed for some pools alone: prices that are asked for again hold these, and what is planned then may be
    /// ordered.
    fn holds_unordered(&self) -> bool {
        false
    }
}

impl Ranker for Module {
    fn facts(&self) -> RankerFacts {
        let &Manifest {
            unit,
            orders,
            vetoes,
            ..
        } = self.manifest();
        RankerFacts {
            unit,
            orders,
            vetoes,
        }
    }

    fn price(&self, question: &PriceQuestion) -> Result<Prices, Fault> {
        Module::price(self, question)
            .result
            .map(|checked| checked.typed)
    }

    fn order(&self, question: &OrderQuestion) -> Result<LaunchLists, Fault> {
        Module::order(self, question)
            .result
            .map(|checked| checked.typed)
    }
}

/// The ranking built into the core, asked like a module: the twin of `rank-list-price`.
#[derive(Debug, Clone, Copy, Default)]
pub struct ListPrice;

impl Named for ListPrice {
    fn name(&self) -> &'static str {
        "list-price"
    }
}

impl Ranker for ListPrice {
    fn facts(&self) -> RankerFacts {
        RankerFacts {
            orders: true,
            ..RankerFacts::default()
        }
    }

    fn price(&self, question: &PriceQuestion) -> Result<Prices, Fault> {
        check_prices(question, &list_price(question)).map_err(|error| invalid(&error))
    }

    fn order(&self, question: &OrderQuestion) -> Result<LaunchLists, Fault> {
        check_ordering(question, &list_order(question)).map_err(|error| invalid(&error))
    }
}

/// A plan, and what went wrong with the policy while it was made.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// The plan. Its notes name the faults.
    pub plan: Plan,
    /// Questions that were not answered, in the order in which they were asked, each with the policy that failed.
    pub faults: Vec<(String, Fault)>,
    /// `true` if the plan's options carry the policy's prices; otherwise the provider's.
    pub at_policy_prices: bool,
}

/// Decides about a snapshot, asking the policy what instances cost and in which order to try them.
pub fn decide(ranker: &impl Ranker, snapshot: &Snapshot) -> Decision {
    decide_within(ranker, snapshot, &Session::default())
}

/// The same for decisions one after another: what pools sell is kept in the session, and read anew only where it changed.
pub fn decide_within(ranker: &impl Ranker, snapshot: &Snapshot, session: &Session) -> Decision {
    let prepared = session.prepare(snapshot);
    let mut faults = Faults::default();
    let prices = match (prepared.question(), ranker.facts().unit) {
        (Some(question), Unit::Dollars) => Some(ranker.price(question)),
        (None, _) | (_, Unit::Order) => None,
    };
    let prices = match faults.without(ranker, "price", prices, "list prices were taken") {
        Ok(prices) => prices,
        Err(held) => return hold(&prepared, faults, &held),
    };
    let reach = match ranker.facts().unit {
        Unit::Dollars => Reach::Near,
        Unit::Order => Reach::Far,
    };
    let (prices, packed, lists) = ordered(ranker, &prepared, prices, reach);
    let in_price_order = "launch lists are in order of price";
    let lists = match faults.without(ranker, "order", lists, in_price_order) {
        Ok(lists) => lists,
        Err(held) => return hold(&prepared, faults, &held),
    };
    let plan = launch(&packed, lists.as_ref());
    within_cost_cap(ranker, &packed, prices.as_ref(), plan, faults)
}

/// A packing at these prices, and the order of its launch lists where the policy gives one. Pools whose policy fails to give it are held, and
/// the others packed again without them.
fn ordered<'p, 's>(
    ranker: &impl Ranker,
    prepared: &'p Prepared<'s>,
    mut prices: Option<Prices>,
    reach: Reach,
) -> (
    Option<Prices>,
    Packed<'p, 's>,
    Option<Result<LaunchLists, Fault>>,
) {
    loop {
        let packed = pack(prepared, prices.as_ref(), reach);
        let question = packed.question().filter(|_| ranker.facts().orders);
        let lists = question.map(|question| ranker.order(&question));
        let again = match (&lists, prepared.question()) {
            (Some(Err(_)), Some(question)) if ranker.holds_unordered() => ranker.price(question),
            _ => return (prices, packed, lists),
        };
        match again {
            Ok(held) => prices = Some(held),
            Err(_) => return (prices, packed, lists),
        }
    }
}

/// The policy's plan, or what is done where it costs too much.
fn within_cost_cap(
    ranker: &impl Ranker,
    packed: &Packed<'_, '_>,
    prices: Option<&Prices>,
    plan: Plan,
    mut faults: Faults,
) -> Decision {
    match cost_cap::instead(packed, prices, &plan) {
        None => faults.on(plan, prices.is_some()),
        // Launch lists in order of price might name what its order forbids.
        Some(_) if ranker.facts().vetoes && ranker.facts().orders => {
            let held = Held::over_cost_cap(ranker);
            faults.note_cost_cap(ranker, HOLD);
            hold(packed.prepared(), faults, &held)
        }
        Some((cheaper, at_policy_prices)) => {
            faults.note_cost_cap(ranker, "that plan is taken instead");
            faults.on(cheaper, at_policy_prices)
        }
    }
}

/// Adds to a plan of this policy what the guards cost in it. Plans several times more: for people who look at one plan.
pub fn note_guards(ranker: &impl Ranker, snapshot: &Snapshot, plan: &mut Plan) {
    let prepared = prepare(snapshot);
    let asked = prepared
        .question()
        .filter(|_| ranker.facts().unit == Unit::Dollars);
    // Of a fault the plan's notes tell already.
    if let Ok(prices) = asked.map(|question| ranker.price(question)).transpose() {
        plimsoll_schedule::note_guards(&prepared, prices.as_ref(), plan);
    }
}

/// Consequence of a failure of a policy that forbids offerings, or whose failure mode is to hold.
pub(crate) const HOLD: &str = "nothing is bought without its answer";

/// Pods go to nodes there are, or wait.
fn hold(prepared: &Prepared<'_>, faults: Faults, Held(why): &Held) -> Decision {
    let rows = prepared
        .question()
        .map_or(0, |question| question.pools.cand.len());
    let packed = pack(prepared, Some(&Prices::all_held(rows, why)), Reach::Near);
    faults.on(launch(&packed, None), true)
}

/// Faults so far, and what is said about them.
#[derive(Default)]
struct Faults {
    faults: Vec<(String, Fault)>,
    notes: Vec<Note>,
}

/// Why nothing is bought without a policy that forbids offerings, in words that follow `but`.
struct Held(String);

impl Held {
    fn over_cost_cap(ranker: &impl Ranker) -> Self {
        let name = ranker.name();
        Self(format!(
            "the plan of policy {name} costs more than {COST_CAP} times the plan at list prices"
        ))
    }
}

impl Faults {
    /// Goes on without an answer that the policy failed to give, as `instead` says; fails where nothing may be bought then.
    fn without<T>(
        &mut self,
        ranker: &impl Ranker,
        asked: &str,
        answer: Option<Result<T, Fault>>,
        instead: &str,
    ) -> Result<Option<T>, Held> {
        let fault = match answer.transpose() {
            Ok(answer) => return Ok(answer),
            Err(fault) => fault,
        };
        let holds = ranker.facts().vetoes;
        let held = Held(fault.of_policy(ranker.name()));
        self.add(ranker, asked, fault, if holds { HOLD } else { instead });
        if holds { Err(held) } else { Ok(None) }
    }

    fn add(&mut self, ranker: &impl Ranker, asked: &str, fault: Fault, instead: &str) {
        let name = ranker.name();
        self.notes.push(Note::of_plan(format!(
            "policy {name} failed to {asked}: {fault}; {instead}"
        )));
        self.faults.push((name.to_owned(), fault));
    }

    fn note_cost_cap(&mut self, ranker: &impl Ranker, instead: &str) {
        let name = ranker.name();
        self.notes.push(Note::of_plan(format!(
                "policy {name}: its plan costs more than {COST_CAP} times the plan at list prices; {instead}"
            )));
    }

    fn on(self, mut plan: Plan, at_policy_prices: bool) -> Decision {
        let Self { faults, notes } = self;
        plan.notes.extend(notes);
        Decision {
            plan,
            faults,
            at_policy_prices,
        }
    }
}
