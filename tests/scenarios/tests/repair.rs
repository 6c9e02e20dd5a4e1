//! Unhealthy nodes: their claims go once that was tolerated, whatever the nodes say afterwards, and none goes where many are unhealthy or a
//! budget of the pool says so.

use std::sync::Arc;

use plimsoll_base::time::{Span, Timestamp};
use plimsoll_engine::Input;
use plimsoll_model::action::{Answer, Order, Outcome, Purpose, Request, Write};
use plimsoll_model::provider::{ProviderFacts, RepairRule};
use plimsoll_model::{
    Budget, BudgetNodes, BudgetReason, BudgetReasons, ConditionStatus, Node, NodeConditions,
    Object, Readiness, Version,
};
use plimsoll_oracles::fixture::{Amounts, cluster, node, pool};

use super::driven::{Driven, ordered};

const TOLERATION: Span = Span::from_secs(600);
const START: Timestamp = Timestamp::from_millis(1_000_000_000);

/// So many nodes of one pool, all well, repaired after ten minutes where that is on.
fn world(nodes: usize, is_on: bool) -> Driven {
    within_budgets(nodes, is_on, Vec::new())
}

/// The same in a pool with these budgets.
fn within_budgets(nodes: usize, is_on: bool, budgets: Vec<Budget>) -> Driven {
    let facts = ProviderFacts {
        repairs: vec![RepairRule {
            condition: "Ready".into(),
            status: ConditionStatus::False,
            toleration: TOLERATION,
        }],
        ..ProviderFacts::default()
    };
    let general = pool("general").with(|pool| {
        pool.disruption.consolidate_after = None;
        pool.disruption.budgets = budgets;
    });
    let mut fixture = cluster().provider(facts).pool(general);
    for number in 0..nodes {
        let ours = node(&format!("n{number}")).managed("general").cpu(4000);
        fixture = fixture.node(ours);
    }
    let fixture = fixture.settings(|settings| settings.node_repair = is_on);
    Driven::start(fixture, START)
}

impl Driven {
    /// A node says of itself whether it is ready.
    fn says(&mut self, name: &str, readiness: Readiness) {
        let seen = self.engine.cluster().nodes.get(name);
        let mut node = Node::clone(seen.expect("the node"));
        node.conditions = NodeConditions::of(readiness, self.now);
        let version = Version(u64::try_from(self.now.millis()).expect("after the epoch"));
        self.hand_in(Input::Applied(Object::Node(Arc::new(node)), version));
    }

    /// Carries out the next write of a deadline; when it was asked for.
    fn doomed(&mut self, within: Span) -> Option<Timestamp> {
        let order = self.next(within, |action| ordered(action, Purpose::MarkDeadline))?;
        let claim = changed(self, &order);
        let version = u64::try_from(self.now.millis()).expect("after the epoch");
        let done = Answer::Object(claim, Version(version));
        self.hand_in(Input::Outcome(order.id, Outcome::Done(done)));
        Some(self.now)
    }
}

/// The claim after the change that an order asks for.
fn changed(driven: &Driven, order: &Order) -> Object {
    let Request::Write(Write::ChangeClaim(name, change)) = &order.request else {
        unreachable!("a deadline is a change of a claim");
    };
    let mut claim = driven.engine.cluster().claims.get(name).cloned();
    let claim = claim.as_mut().expect("the claim");
    Arc::make_mut(claim).drained_by = change.drained_by;
    Object::Claim(Arc::clone(claim))
}

#[test]
fn a_node_that_stays_unready_is_replaced_even_if_it_is_ready_again_by_then() {
    let mut driven = world(5, true);
    driven.says("n1", Readiness::NotReady);
    let doomed = driven.doomed(Span::from_secs(3600));
    assert_eq!(doomed, Some(START + TOLERATION));
    driven.says("n1", Readiness::Ready);
    let deleted = driven.next(Span::from_secs(60), |action| {
        ordered(action, Purpose::DeleteClaim)
    });
    let deleted = deleted.expect("its claim goes");
    assert_eq!(
        deleted.request,
        Request::Write(Write::DeleteClaim("claim-n1".into()))
    );
}

#[test]
fn a_node_that_is_ready_in_time_or_in_a_cluster_that_repairs_nothing_stays() {
    let mut driven = world(5, true);
    driven.says("n1", Readiness::NotReady);
    driven.now = driven.now + Span::from_secs(500);
    driven.says("n1", Readiness::Ready);
    assert_eq!(driven.doomed(Span::from_secs(3600)), None);
    let mut driven = world(5, false);
    driven.says("n1", Readiness::NotReady);
    assert_eq!(driven.doomed(Span::from_secs(3600)), None);
}

#[test]
fn where_more_than_a_fifth_are_unhealthy_none_is_replaced_and_people_are_told() {
    let mut driven = world(5, true);
    driven.says("n1", Readiness::NotReady);
    driven.says("n2", Readiness::NotReady);
    driven.now = START + TOLERATION;
    driven.hand_in(Input::Tick);
    let told = driven.reports("NodeRepairBlocked");
    assert!(
        told[0]
            .message
            .starts_with("node n1: Ready is False for 10m"),
        "{told:?}"
    );
    assert_eq!(driven.doomed(Span::from_secs(1200)), None);
    driven.says("n2", Readiness::Ready);
    assert!(driven.doomed(Span::from_secs(300)).is_some());
}

/// A budget of so many nodes for reasons of these names.
fn budget(nodes: u32, reasons: &[&str]) -> Budget {
    Budget {
        reasons: BudgetReasons::Listed(reasons.iter().map(|name| BudgetReason::of(name)).collect()),
        ..Budget::always(BudgetNodes::Count(nodes))
    }
}

#[test]
fn a_budget_that_names_repair_holds_it_back_and_one_for_other_reasons_does_not() {
    for (budgets, is_repaired) in [
        (vec![budget(0, &["Unhealthy"])], false),
        (vec![budget(0, &["Repacked"])], false),
        (vec![budget(0, &["Drifted", "Empty"])], true),
        (vec![budget(0, &[])], true),
        (vec![Budget::always(BudgetNodes::Count(0))], true),
    ] {
        let mut driven = within_budgets(5, true, budgets.clone());
        driven.says("n1", Readiness::NotReady);
        driven.now = START + TOLERATION;
        driven.hand_in(Input::Tick);
        if !is_repaired {
            let told = driven.reports("NodeRepairBlocked");
            let words = "allows 0 nodes to go at once";
            assert!(told[0].message.contains(words), "{told:?}");
        }
        let doomed = driven.doomed(Span::from_secs(1200));
        assert_eq!(doomed.is_some(), is_repaired, "{budgets:?}");
    }
}

#[test]
fn nodes_that_are_unhealthy_together_are_repaired_as_few_at_a_time_as_the_budget_says() {
    let mut driven = within_budgets(10, true, vec![budget(1, &["Unhealthy"])]);
    driven.says("n1", Readiness::NotReady);
    driven.says("n2", Readiness::NotReady);
    assert!(driven.doomed(Span::from_secs(1200)).is_some());
    // The first goes on going, and the second waits for it.
    assert_eq!(driven.doomed(Span::from_secs(1200)), None);
}
