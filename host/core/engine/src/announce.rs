//! Events about commands, under Karpenter's names: a saving that was found, one that no longer holds, a replacement that is
//! waited for, nodes that are removed and nodes that stay. What is said of a node is said of its claim and of the node.

use plimsoll_base::event_reason::EventReason;
use plimsoll_base::ids::ClaimName;
use plimsoll_base::time::Timestamp;
use plimsoll_model::action::{Action, ObjectKey};
use plimsoll_model::command::{Command, Refused};

use super::{Engine, report};

impl Engine {
    /// Commands were found that save money; they are carried out if they still hold after a wait.
    pub(super) fn announce_found(
        &self,
        commands: &[Command],
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        for command in commands.iter().filter(|it| it.reason.facts().saves) {
            let nodes = match command.members.len() {
                1 => String::new(),
                more => format!(", one of {more} nodes"),
            };
            let later = match command.later.len() {
                0 => String::new(),
                more => format!(", with room for {more} more that budgets let go later"),
            };
            let instead = match command.plan.claims.len() {
                0 => "terminates without a replacement".to_owned(),
                1 => "is replaced by 1 node".to_owned(),
                more => format!("is replaced by {more} nodes"),
            };
            let saving = command.whole_list_saving();
            let words = format!("{instead}{nodes}{later}, if it still saves {saving} after 15 s");
            self.report_members(
                &command.members,
                EventReason::ConsolidationCandidate,
                &words,
                now,
                actions,
            );
        }
    }

    /// A command that was found does not hold any more.
    pub(super) fn announce_dropped(
        &self,
        members: &[ClaimName],
        refused: Refused,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        let cause = match refused {
            Refused { by_budget: 1.., .. } => "the budget of its pool allows no more nodes now",
            Refused { by_guard: 1.., .. } => "a guard against churn holds it",
            Refused { by_policy: 1.., .. } => "the policy that values moves refuses it",
            Refused { by_pods: 1.., .. } => "a pod on it may not be moved now",
            _ => "its pods or prices have changed and it saves nothing any more",
        };
        let words = format!("stays: {cause}");
        self.report_members(
            members,
            EventReason::ConsolidationRejected,
            &words,
            now,
            actions,
        );
    }

    /// A replacement has its instance, and its node is not ready yet.
    pub(super) fn announce_awaited(
        replacement: &ClaimName,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        let words = "its node must be ready before the nodes that it replaces terminate".to_owned();
        let object = ObjectKey::Claim(replacement.clone());
        actions.push(report(
            object,
            EventReason::DisruptionWaitingReadiness,
            words,
            now,
        ));
    }

    /// A member of a command is asked to go.
    pub(super) fn announce_going(
        &self,
        member: &ClaimName,
        why: &str,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        let words = format!("terminates: {why}");
        let members = std::slice::from_ref(member);
        self.report_members(
            members,
            EventReason::DisruptionTerminating,
            &words,
            now,
            actions,
        );
    }

    /// A member of a command stays, since the command failed.
    pub(super) fn announce_staying(
        &self,
        member: &ClaimName,
        why: &str,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        let words = format!("stays: {why}");
        let members = std::slice::from_ref(member);
        self.report_members(
            members,
            EventReason::DisruptionBlocked,
            &words,
            now,
            actions,
        );
    }

    fn report_members(
        &self,
        members: &[ClaimName],
        reason: EventReason,
        words: &str,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        for object in members.iter().flat_map(|name| self.claim_and_node(name)) {
            actions.push(report(object, reason, words.to_owned(), now));
        }
    }

    /// A claim and its node, for what is told of both.
    pub(super) fn claim_and_node(&self, name: &ClaimName) -> Vec<ObjectKey> {
        let claim = self.cluster.claims.get(name);
        let nodes = claim.map_or(&[][..], |claim| self.cluster.nodes_of(claim));
        let nodes = nodes.iter().map(|node| ObjectKey::Node(node.name.clone()));
        let claim = ObjectKey::Claim(name.clone());
        std::iter::once(claim).chain(nodes).collect()
    }
}
