//! Whatever policies answer, the host's own rules hold: random prices with vetoes, random values of moves and random caps
//! are played through whole runs, and every plan, move and command is judged by those who did not make it.

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_base::ids::ObjectName;
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_base::units::PricePerHour;
use plimsoll_check::PriceRule;
use plimsoll_disrupt::confirm;
use plimsoll_disrupt::pass::{DisruptionPass, Proposal};
use plimsoll_hooks::hook::Capacity;
use plimsoll_hooks::rank::{PriceAnswer, PriceQuestion, check_prices, list_price};
use plimsoll_model::action::ConsiderRequest;
use plimsoll_model::catalogue::CapacityType;
use plimsoll_model::command::{Decision, DisruptionQuestion};
use plimsoll_model::plan::PlannedClaim;
use plimsoll_model::snapshot::{Snapshot, StateNode};
use plimsoll_model::{Budget, BudgetNodes, DisruptionReason};
use plimsoll_oracles::fixture::{
    Amounts, OnDemand, Spot, ZONE_1, ZONE_2, cluster, machine, pod, pool,
};
use plimsoll_oracles::judge::{cases, faults};
use plimsoll_oracles::moves;
use plimsoll_scenarios::stage;
use plimsoll_sim::{
    Behaviour, Change, Considered, Delay, Planned, Planner, Random, Recording, Run, TimedChange,
};
use proptest::prelude::*;

const START: Timestamp = Timestamp::from_millis(0);
const HOURS: i64 = 4;
/// Nodes of the pool that its own budget lets go at once.
const MOST_GOING: u32 = 2;

/// A way to buy a node: type, zone, code of its terms.
type Way = (String, String, u8);

/// Answers at random, and has judged whatever the host makes of it.
struct Adversary {
    random: Random,
    asked: u64,
    seen: Seen,
}

/// Plans and moves judged, and the faults found.
#[derive(Clone, Debug, Default)]
struct Seen {
    plans: usize,
    moves: usize,
    commands: usize,
    wrong: Vec<String>,
}

impl Adversary {
    fn draw(&mut self, end: u64) -> u64 {
        self.asked += 1;
        self.random.below("answer", self.asked, end)
    }

    /// A dollar figure that is now and then absurd: nothing, next to nothing, a fortune, or a veto.
    fn price(&mut self) -> f64 {
        match self.draw(10) {
            0 => 0.0,
            1 => 1e-9,
            2 => 10_000.0,
            3 => f64::INFINITY,
            _ => self.draw(1000) as f64 / 1000.0,
        }
    }

    fn prices(&mut self, question: &PriceQuestion) -> PriceAnswer {
        let mut answer = list_price(question);
        for row in 0..question.pools.cand.len() {
            answer.then[row] = self.price();
            answer.first[row] = self.price().min(answer.then[row]);
            answer.first_count[row] = u32::try_from(self.draw(4)).unwrap_or(0);
        }
        answer
    }

    fn values(&mut self, proposal: &Proposal<'_, '_>) -> Vec<PricePerHour> {
        let value = |at: u64| match at % 5 {
            0 => PricePerHour::ZERO,
            1 => PricePerHour::from_nanos(-1),
            2 => PricePerHour::from_nanos(1_000_000_000_000),
            _ => PricePerHour::from_nanos(i64::try_from(at).unwrap_or(0)),
        };
        let moves = proposal.moves.iter();
        moves.map(|_| value(self.draw(1_000_000_000))).collect()
    }

    fn cap(&mut self, pass: &mut DisruptionPass<'_>) {
        let rows = pass.allowances.len();
        let cap = |drawn: u64| u32::try_from(drawn).ok().filter(|cap| *cap < 40);
        let caps: Vec<Option<u32>> = (0..rows).map(|_| cap(self.draw(60))).collect();
        pass.cap(&caps);
    }

    /// Has the pass priced at random; what it may not buy by that.
    fn reprice(
        &mut self,
        pass: &mut DisruptionPass<'_>,
        question: &DisruptionQuestion,
    ) -> BTreeSet<Way> {
        let Some(question) = pass.price_question(question) else {
            return BTreeSet::new();
        };
        let answer = self.prices(&question);
        let rows = question.pools.cand.iter().enumerate();
        let vetoed = rows.filter(|(row, _)| {
            let first = answer.first_count[*row] > 0 && answer.first[*row].is_finite();
            !first && !answer.then[*row].is_finite()
        });
        let tables = &question.tables;
        let way = |row: u32| {
            let terms = tables.catalogue.o_capacity[row as usize];
            let words = (tables.type_name(row), tables.zone(row));
            (words.0.to_owned(), words.1.to_owned(), terms)
        };
        let vetoed = vetoed.map(|(_, candidate)| way(*candidate)).collect();
        pass.price(check_prices(&question, &answer).expect("the answer is well formed"));
        vetoed
    }

    /// No claim of a move names what was vetoed.
    fn hold_against(&mut self, vetoed: &BTreeSet<Way>, claims: &[PlannedClaim]) {
        for option in claims.iter().flat_map(|claim| &claim.options) {
            let terms = match option.capacity_type {
                CapacityType::OnDemand => Capacity::OnDemand,
                CapacityType::Spot => Capacity::Spot,
                CapacityType::Reserved => Capacity::Reserved,
            };
            let (name, zone) = (option.instance_type.to_string(), option.zone.to_string());
            let way = (name, zone, terms as u8);
            if vetoed.contains(&way) {
                self.seen
                    .wrong
                    .push(format!("a move buys {way:?}, which is vetoed"));
            }
        }
    }

    fn judge(&mut self, snapshot: &Snapshot, decision: &Decision) {
        let mut going: BTreeMap<DisruptionReason, u32> = BTreeMap::new();
        for command in &decision.commands {
            self.seen.commands += 1;
            let count = u32::try_from(command.members.len()).unwrap_or(u32::MAX);
            *going.entry(command.reason).or_default() += count;
        }
        // A node whose instance is being ended is no longer down, but gone.
        let is_ending = |node: &&StateNode| {
            let claim = node.claim.as_ref();
            claim.is_some_and(|claim| claim.is_instance_terminating())
        };
        let nodes = snapshot.nodes.iter();
        let down = nodes.filter(|node| node.is_deleting() && !is_ending(node));
        let down = u32::try_from(down.count()).unwrap_or(u32::MAX);
        for (reason, count) in going {
            if down + count > MOST_GOING {
                let (at, why) = (snapshot.now.millis(), reason.as_str());
                let words = format!("at {at} {count} nodes go beside {down}, being {why}");
                self.seen.wrong.push(words);
            }
        }
    }
}

impl Planner for &mut Adversary {
    fn plan(&mut self, snapshot: &Snapshot) -> Planned {
        let prepared = plimsoll_schedule::prepare(snapshot);
        let prices = prepared.question().map(|question| {
            let answer = self.prices(question);
            check_prices(question, &answer).expect("the answer is well formed")
        });
        let plan = plimsoll_schedule::finish(&prepared, prices.as_ref());
        let whose = prices
            .as_ref()
            .map_or(PriceRule::List, |_| PriceRule::Policy);
        let faults = faults(snapshot, &plan, whose);
        self.seen
            .wrong
            .extend(faults.iter().map(ToString::to_string));
        self.seen.plans += 1;
        plan.into()
    }

    fn consider(&mut self, request: &ConsiderRequest) -> Considered {
        let snapshot = &request.snapshot;
        let decision = match &request.question {
            DisruptionQuestion::Pass { consolidate } => {
                let mut pass = DisruptionPass::at(snapshot, *consolidate);
                self.cap(&mut pass);
                let vetoed = self.reprice(&mut pass, &request.question);
                let mut proposal = pass.propose();
                for found in &proposal.moves {
                    self.seen.moves += 1;
                    let findings = moves::findings_at(snapshot, found, PriceRule::Policy);
                    let words = findings.iter().map(ToString::to_string);
                    self.seen.wrong.extend(words);
                    self.hold_against(&vetoed, &found.claims);
                }
                let values = self.values(&proposal);
                if let Some(asked) = proposal.reversal_question(Some(&values)) {
                    let answer = self.prices(&asked);
                    let prices = check_prices(&asked, &answer).expect("the answer is well formed");
                    proposal.hold(Some(&values), Some(prices));
                }
                proposal.decide(Some(&values))
            }
            DisruptionQuestion::Confirm(command) => {
                let mut pass = DisruptionPass::at(snapshot, false);
                self.cap(&mut pass);
                let vetoed = self.reprice(&mut pass, &request.question);
                let confirmed = confirm::confirm(&pass, command);
                for command in &confirmed.commands {
                    self.hold_against(&vetoed, &command.plan.claims);
                }
                confirmed
            }
        };
        self.judge(snapshot, &decision);
        decision.into()
    }
}

/// Deployments that rise and fall, in two zones, on demand and on spot.
fn recording(seed: u64) -> Recording {
    let random = Random::new(seed);
    let budget = Budget::always(BudgetNodes::Count(MOST_GOING));
    let general = pool("general").with(|pool| {
        pool.disruption.consolidate_after = Some(Span::from_secs(60));
        pool.disruption.budgets = vec![budget];
    });
    let mut fixture = cluster().pool(general);
    for (name, cores, price) in [("small", 2, 0.1), ("middle", 4, 0.19), ("large", 8, 0.36)] {
        let listed = machine(name, cores, price).pods(58);
        let listed = listed.offered(ZONE_1, OnDemand).offered(ZONE_2, OnDemand);
        fixture = fixture.sells(listed.price(price * 0.4).offered(ZONE_1, Spot));
    }
    let mut changes = Vec::new();
    for at in 0..5_u64 {
        let template = pod(&format!("app{at}")).cpu(400 + 500 * i64::try_from(at).unwrap_or(0));
        let name = ObjectName::new("default", format!("app{at}"));
        let deploy = Change::Deploy(stage::deployment(&template, 4));
        changes.push(TimedChange {
            at: START,
            change: deploy,
        });
        for hour in 1..HOURS {
            let replicas = u32::try_from(random.below("replicas", (at, hour), 9)).unwrap_or(0);
            changes.push(TimedChange {
                at: Timestamp::from_millis(hour * 3_600_000),
                change: Change::Scale(name.clone(), replicas),
            });
        }
    }
    stage::recording(
        fixture.parts(),
        START,
        Some(START + Span::from_secs(HOURS * 3600)),
        changes,
    )
}

fn played(seed: u64) -> Seen {
    let mut adversary = Adversary {
        random: Random::new(seed),
        asked: 0,
        seen: Seen::default(),
    };
    let behaviour = Behaviour {
        seed,
        boot: Delay::always(Span::from_secs(40)),
        ..Behaviour::default()
    };
    Run::new(recording(seed), behaviour, &mut adversary).finish();
    adversary.seen
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn no_answer_of_a_policy_breaks_a_rule_of_the_host(seed in any::<u64>()) {
        let seen = played(seed);
        prop_assert!(seen.wrong.is_empty(), "{:#?}", seen.wrong);
    }
}

/// Random answers may refuse every move of a run; over a few runs there is enough to judge.
#[test]
fn what_is_made_of_random_answers_is_judged() {
    let runs: Vec<Seen> = (1..=3).map(played).collect();
    let plans: usize = runs.iter().map(|seen| seen.plans).sum();
    let moves: usize = runs.iter().map(|seen| seen.moves).sum();
    let commands: usize = runs.iter().map(|seen| seen.commands).sum();
    assert!(plans > 3 && moves > 10 && commands > 3, "{runs:?}");
}
