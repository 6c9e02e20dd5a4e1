//! Steps of claims: those that something touched, and those whose time has come.

use std::collections::BTreeSet;

use plimsoll_base::ids::{ClaimName, NodeName};
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_cluster::PromisedTarget;
use plimsoll_lifecycle::{Attached, ClaimView, DeletionCause, Instance, Step};
use plimsoll_model::NodeClaim;
use plimsoll_model::action::{Action, ObjectKey, Purpose, Write};

use super::{Engine, report};

/// How long a node waits at most for its nominations before pods may use it.
const NOMINATION_PATIENCE: Span = Span::from_secs(9);
/// How long a claim is asked for without an answer before its pods are planned anew.
const CREATION_TIMEOUT: Span = Span::from_secs(60);
/// The same where the API server will not have it.
const REJECTION_TIMEOUT: Span = Span::from_secs(900);

impl Engine {
    /// Follows a claim that is no more.
    pub(super) fn follow_end(&mut self, claim: &NodeClaim, now: Timestamp) {
        self.count_deleted(claim);
        self.note_end(claim, now);
        self.market.ends(&claim.name, now);
        self.note_left(claim, now);
        self.account_loss(claim, now);
        self.note_gone_ask(claim, now);
        self.forget_claim(&claim.name);
    }

    /// A claim that was asked for is there, or will not come.
    pub(super) fn settle_expected(&mut self, name: &ClaimName) {
        if let Some(claim) = self.expected.settle(name) {
            self.launches.settle(&claim);
        }
    }

    /// A claim is no more, or will not come.
    pub(super) fn forget_claim(&mut self, name: &ClaimName) {
        if let Some(claim) = self.expected.get(name) {
            self.static_pools.look_at(&claim.pool);
        }
        if self.market.gives_back(name) {
            self.provision.market_changed();
        }
        self.static_pools.forget(name);
        self.node_use.forget(name);
        self.queue.touch(name);
        self.queue.abandoned.remove(name);
        if self.cluster.claims.get(name).is_some() {
            self.queue.lose(name);
        }
        self.settle_expected(name);
        self.forget_launch(name);
        self.notes.forget(name);
        self.recent.forget(name);
        self.follow_pod_event(name);
        self.disruption.forget(name);
        self.cluster.unmark(name);
        self.drop_promises(&PromisedTarget::Claim(name.clone()));
        self.retry.forget(&ObjectKey::Claim(name.clone()));
    }

    pub(super) fn step_claims(&mut self, now: Timestamp, actions: &mut Vec<Action>) {
        let mut due = std::mem::take(&mut self.dirty_claims);
        due.append(&mut self.notes.take_due(now));
        for name in due {
            self.queue.touch(&name);
            self.step_claim(&name, now, actions);
        }
    }

    pub(super) fn step_claim(
        &mut self,
        name: &ClaimName,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        let Some(claim) = self.cluster.claims.get(name).cloned() else {
            self.step_expected(name, now, actions);
            return;
        };
        self.watch_disruption(&claim, now);
        self.tell_progress(&claim, now, actions);
        let Some(view) = self.view(name, now) else {
            return;
        };
        let step = plimsoll_lifecycle::step(&view, now);
        if let Some(unhealthy) = view.unhealthy {
            self.tell_of_unhealthy(&claim, &unhealthy, now, actions);
        }
        self.carry_out(name, step, now, actions);
        self.tell_wishes(name, now, actions);
    }

    /// A claim asked for and not seen: ask until there is an answer.
    fn step_expected(&mut self, name: &ClaimName, now: Timestamp, actions: &mut Vec<Action>) {
        let Some(claim) = self.expected.get(name).cloned() else {
            return;
        };
        let unsure = self
            .notes
            .get(name)
            .is_some_and(|notes| notes.instance == Instance::Unsure);
        let idle = !self
            .orders
            .is_busy(&ObjectKey::Claim(name.clone()), None, Purpose::Create);
        let pool = self.cluster.pools.get(claim.pool.as_str());
        let pool = pool.map(|pool| pool.uid.clone());
        // To decide anew would ask for the same.
        let rejected = self.notes.get(name).is_some_and(|notes| notes.rejected);
        let timeout = if rejected {
            REJECTION_TIMEOUT
        } else {
            CREATION_TIMEOUT
        };
        let late = now >= claim.created + timeout;
        let (purpose, write) = match pool {
            _ if unsure => (Purpose::Find, Write::ReadClaim(name.clone())),
            // What becomes of the creation says what to do next.
            _ if !idle => return,
            Some(pool) if !late => {
                let claim = Box::new((*claim).clone());
                (Purpose::Create, Write::CreateClaim { claim, pool })
            }
            _ => {
                self.forget_claim(name);
                self.provision.all_ask = true;
                return;
            }
        };
        let mut step = Step::default();
        step.write_unseen(name, purpose, write);
        self.carry_out(name, step, now, actions);
    }

    fn carry_out(
        &mut self,
        name: &ClaimName,
        step: Step,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        if step.is_late {
            self.note_late(name);
        }
        if step.is_expired {
            self.freshness.hold_expired(name);
        }
        if step.deletes != self.notes.get(name).and_then(|own| own.deletes) {
            self.notes.of(name).deletes = step.deletes;
        }
        if step.wants_nominations {
            self.wait_for_nominations(name);
            for group in self
                .promises
                .groups_on(&PromisedTarget::Claim(name.clone()))
            {
                self.renominate(group, now);
            }
        }
        let mut wake = step.wake;
        let mut given = BTreeSet::new();
        if let Some(claim) = self.cluster.claims.get(name).cloned() {
            let held = self.wish_launch(&claim, step.launch, now);
            wake = wake.into_iter().chain(held).min();
        }
        for want in step.wants {
            let (purpose, before) = (want.purpose, actions.len());
            if let Some(at) = self.order(want, now, actions) {
                wake = Some(wake.map_or(at, |have| have.min(at)));
            } else if actions.len() > before {
                given.insert(purpose);
            }
        }
        let told = step.reports.into_iter();
        for own in told.filter(|own| given.contains(&own.with)) {
            actions.push(report(own.object, own.reason, own.words, now));
        }
        if let Some(at) = wake {
            self.notes.set_timer(name, at);
        }
    }

    fn view(&self, name: &ClaimName, now: Timestamp) -> Option<ClaimView<'_>> {
        let seen = self.cluster.claims.seen(name)?;
        let claim = &seen.object;
        let nodes = self.cluster.nodes_of(claim);
        let node = nodes.first().and_then(|node| {
            let seen = self.cluster.nodes.seen(&node.name)?;
            Some((&*seen.object, seen.version))
        });
        let pods = node
            .into_iter()
            .flat_map(|(node, _)| self.cluster.pods_on(&node.name))
            .map(AsRef::as_ref)
            .collect();
        let alone = node.map(|(node, _)| node).filter(|_| nodes.len() == 1);
        let notes = self.notes.get(name);
        let overdue = node.is_some_and(|(node, _)| now >= node.created + NOMINATION_PATIENCE);
        Some(ClaimView {
            claim,
            version: seen.version,
            node,
            ambiguous: nodes.len() > 1,
            pods,
            attached: self.attached_to(node.map(|(node, _)| &node.name)),
            machine: notes.and_then(|notes| notes.machine.as_ref()),
            pending_launch: notes.and_then(|notes| notes.launch.pending.as_ref()),
            ended_launch: notes.and_then(|notes| notes.launch.ended.as_ref()),
            is_tagged: notes.is_some_and(|notes| notes.is_tagged),
            instance: notes.map_or(Instance::Unasked, |notes| notes.instance),
            failure: notes.and_then(|notes| notes.failure.as_ref()),
            last_pod_event: notes.and_then(|notes| notes.last_pod_event),
            is_fresh: self.freshness.is_fresh(),
            must_go: self.must_go(claim, now),
            unhealthy: alone.and_then(|node| self.unhealthy(claim, node, now)),
            moving: self.queue.has(name),
            nominated: overdue || self.are_nominated(&PromisedTarget::Claim(name.clone())),
            disruption: self.disruption_facts(claim),
            migrated_hash: self.migrated_hash(claim),
            market: &self.market,
        })
    }

    /// Volumes attached to a node; none where there is no node.
    pub(super) fn attached_to(&self, node: Option<&NodeName>) -> Attached<'_> {
        let attachments = node.map(|node| self.cluster.attached_to(node));
        let attachments = attachments.into_iter().flatten().map(AsRef::as_ref);
        Attached {
            attachments: attachments.collect(),
            volumes: &self.cluster.volumes,
        }
    }

    fn must_go(&self, claim: &NodeClaim, now: Timestamp) -> Option<DeletionCause> {
        let name = &claim.name;
        let notes = self.notes.get(name);
        if let Some(interruption) = notes.and_then(|notes| notes.interrupted) {
            return Some(DeletionCause::Interrupted(interruption));
        }
        if notes.is_some_and(|notes| notes.vanished) {
            return Some(DeletionCause::InstanceGone);
        }
        if notes.is_some_and(|notes| notes.refused) {
            return Some(DeletionCause::ClassUnusable);
        }
        // Written by the repair; of a claim that is deleted it is the grace period's.
        let is_past = claim.drained_by.is_some_and(|deadline| deadline <= now);
        if self.settings.node_repair && is_past {
            return Some(DeletionCause::Unhealthy);
        }
        if self.queue.abandoned.contains(name) && claim.provider_id.is_none() {
            return Some(DeletionCause::CommandIncomplete);
        }
        let excess = self.static_pools.must_go(name);
        excess.or_else(|| self.queue.must_go(name))
    }

    /// When a node that waits for nominations must be let in regardless.
    pub(super) fn wait_for_nominations(&mut self, name: &ClaimName) {
        let Some(claim) = self.cluster.claims.get(name) else {
            return;
        };
        if let Some(node) = self.cluster.nodes_of(claim).first() {
            let at = node.created + NOMINATION_PATIENCE;
            self.notes.set_timer(name, at);
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::Arc;

    use super::*;
    use plimsoll_base::ids::{PoolName, Uid};
    use plimsoll_lifecycle::Want;
    use plimsoll_model::ClassRef;
    use plimsoll_model::action::{Outcome, Request};

    pub(crate) fn asked() -> NodeClaim {
        NodeClaim {
            name: ClaimName::from("general-a"),
            uid: Uid::from("u1"),
            pool: PoolName::from("general"),
            class: ClassRef {
                group: "g".into(),
                kind: "k".into(),
                name: "n".into(),
            },
            ..NodeClaim::default()
        }
    }

    #[test]
    fn a_claim_without_a_pool_waits_for_the_end_of_its_creation() {
        let mut engine = Engine::new(Arc::default(), Arc::default(), 1);
        let now = Timestamp::default();
        let claim = asked();
        let name = claim.name.clone();
        engine.expected.ask(Arc::new(claim.clone()));
        let want = Want {
            object: ObjectKey::Claim(name.clone()),
            uid: None,
            purpose: Purpose::Create,
            version: None,
            request: Request::Write(Write::CreateClaim {
                claim: Box::new(claim),
                pool: Uid::from("p1"),
            }),
        };
        let order = engine.orders.begin(want, 0, now);
        let mut actions = Vec::new();
        engine.step_claim(&name, now, &mut actions);
        assert!(actions.is_empty(), "{actions:?}");
        assert!(engine.expected.get(&name).is_some());

        engine.end_order(order.id, Outcome::Conflict, now, &mut actions);
        engine.step_claim(&name, now, &mut actions);
        assert!(actions.is_empty(), "{actions:?}");
        assert!(engine.expected.get(&name).is_none());
    }
}
