//! Instances that no longer are what their class says: the provider's word of it is written on the claim, and the node is replaced.

use std::sync::Arc;

use plimsoll_base::ids::ClaimName;
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_engine::Input;
use plimsoll_model::action::{
    Answer, ClaimChange, ListedInstance, Outcome, Purpose, Request, Write,
};
use plimsoll_model::{
    ClaimPhase, ConditionType, DisruptionReason, NodeClaim, Object, Stamp, Version, template_hash,
};
use plimsoll_oracles::fixture::{
    Amounts, CAPACITY_TYPE, OnDemand, ZONE_1, cluster, instance_type, node, pod, pool,
};

use super::driven::{Driven, consider, ordered};

/// Longer than from one list of instances to the next.
const NEXT_LIST: Span = Span::from_secs(180);

/// A node of ours with a pod, in a pool that never consolidates.
fn world() -> Driven {
    let sold = instance_type("four").cpu(4000).memory_mib(16_384).pods(110);
    let sold = sold.no_overhead().price(0.2);
    let general = pool("general").with(|pool| {
        pool.disruption.consolidate_after = None;
        pool.status.memory = template_hash::annotations(pool).into();
    });
    let ours = node("n1").managed("general").of_type("four").cpu(4000);
    let ours = ours.memory_mib(16_384).pods(110).zone(ZONE_1);
    let ours = ours.label(CAPACITY_TYPE, "on-demand");
    let fixture = cluster().pool(general);
    let fixture = fixture.sells(sold.offered(ZONE_1, OnDemand));
    let fixture = fixture.node(ours.phase(ClaimPhase::Initialized));
    let fixture = fixture.pod(pod("web").cpu(1000).on("n1"));
    Driven::start(fixture, Timestamp::from_millis(1_000_000_000))
}

impl Driven {
    fn claim(&self) -> Arc<NodeClaim> {
        let mut claims = self.engine.cluster().claims.objects().into_iter();
        claims.next().expect("there is one")
    }

    /// Answers the next list of instances with this drift of the only one; when it was asked for.
    fn listed(&mut self, drift: Option<&str>) {
        let list = self.next(NEXT_LIST, |action| ordered(action, Purpose::List));
        let list = list.expect("instances are listed");
        let instance = self.claim().provider_id.clone();
        let listed = ListedInstance {
            instance: instance.expect("it has one"),
            token: None,
            ending: None,
            drift: drift.map(Arc::from),
        };
        let listed = Answer::Listed(vec![listed]);
        self.hand_in(Input::Outcome(list.id, Outcome::Done(listed)));
    }

    /// Carries out the next order to write down how the claim stands; what it changes.
    fn marked(&mut self) -> ClaimChange {
        let within = Span::from_secs(5);
        let mark = self.next(within, |action| ordered(action, Purpose::MarkDisruption));
        let mark = mark.expect("it is written down within five seconds");
        let change = match mark.request {
            Request::Write(Write::ChangeClaim(_, change)) => Some(*change),
            _ => None,
        };
        let change = change.expect("it changes the claim");
        let mut claim = NodeClaim::clone(&self.claim());
        let stamp = Stamp {
            created: claim.created,
            now: self.now,
            generation: 1,
            deleting: false,
        };
        let dependents = ConditionType::OF_CLAIMS;
        claim.conditions.say(&change.conditions, dependents, &stamp);
        claim.conditions.clear(&change.cleared);
        let version = u64::try_from(self.now.millis()).expect("after the epoch");
        let claim = Object::Claim(Arc::new(claim));
        let done = Answer::Object(claim, Version(version));
        self.hand_in(Input::Outcome(mark.id, Outcome::Done(done)));
        change
    }
}

#[test]
fn an_instance_that_has_drifted_is_said_so_and_its_node_is_replaced() {
    let mut driven = world();
    driven.listed(None);
    let quiet = driven.next(Span::from_secs(60), consider);
    assert!(quiet.is_none(), "nothing is to be disrupted");
    driven.listed(Some("AMIDrift"));
    let change = driven.marked();
    let said = &change.conditions[0];
    assert_eq!(said.kind, ConditionType::Drifted);
    assert_eq!(&*said.reason, "AMIDrift");
    let request = driven.next(Span::from_secs(30), consider);
    let request = request.expect("a decision is asked for");
    let decision = plimsoll_disrupt::consider(&request.snapshot, &request.question);
    let commands = decision.commands.iter();
    let commands: Vec<(DisruptionReason, &[ClaimName])> = commands
        .map(|command| (command.reason, &*command.members))
        .collect();
    let only = [driven.claim().name.clone()];
    assert_eq!(commands, [(DisruptionReason::Drifted, &only[..])]);
}

#[test]
fn drift_that_is_over_is_taken_back() {
    let mut driven = world();
    driven.listed(Some("SubnetDrift"));
    driven.marked();
    // A decision under way holds nothing up.
    driven.listed(None);
    let change = driven.marked();
    assert_eq!(change.cleared, [ConditionType::Drifted]);
}
