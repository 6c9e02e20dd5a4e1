//! Ways to be in the way of an order, or of what the engine sees of the world while it gives one.

use plimsoll_base::ids::{ClaimName, NodeName, ObjectName};
use plimsoll_base::time::Span;
use plimsoll_model::OwnerKind;
use plimsoll_model::action::{CloudCall, ObjectKey, Request};
use plimsoll_sim::{Fate, FirstList};

use super::world::Simulated;

/// One thing that goes wrong at a boundary. Times are in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fault {
    /// The process ends before it has sent the order, and all that it had under way is lost.
    StopBefore,
    /// The same, and what it had under way arrives while the next process runs.
    StopBeforeTheRestArrives,
    /// The process ends once the order is carried out, before it hears of it.
    StopAfter,
    /// The same, and the next process starts so much later.
    StopAfterFor(i64),
    /// The order is lost on its way.
    Lost,
    /// The order is carried out, and its answer lost.
    AnswerLost,
    /// The order is given up for lost, and carried out so much later.
    Late(i64),
    /// The process ends before the order; the next begins with a list that is so old, and has the rest so much later.
    StaleBefore(i64, i64),
    /// The same, once the order is carried out.
    StaleAfter(i64, i64),
    /// The watch is cut for so long, and lists anew: of what changed meanwhile the end alone is seen.
    Cut(i64),
    /// The same, and the answer to the order is lost.
    CutAndLost(i64),
    /// Every pod of a workload that stays is deleted and made anew under its name, while the watch is cut for so long.
    PodsAgain(i64),
    /// The finalizer of the order's claim is taken off and the claim deleted.
    ClaimGone,
    /// The same, and a claim of its name made, while the watch is cut for so long.
    ClaimAgain(i64),
    /// The order's node is deleted and its kubelet makes it anew, while the watch is cut for so long.
    NodeAgain(i64),
    /// The order's node is asked to go by hand.
    NodeDeleted,
    /// The process is paused before the order and another takes the lease; so much later it wakes, sends the one order and ends.
    Paused(i64),
    /// The same without a lease: it goes on for three seconds with a view that is a second old.
    TwoActive(i64),
}

impl Fault {
    /// The most instances that may be launched beyond those of a calm run; `None` where decisions are made on what is not so any
    /// more, or objects were taken away that must be made again.
    pub(super) fn excess(self) -> Option<u32> {
        match self {
            Self::StopBefore
            | Self::StopAfter
            | Self::Lost
            | Self::AnswerLost
            | Self::Late(_)
            | Self::Cut(_)
            | Self::CutAndLost(_) => Some(0),
            // Half of a command may arrive when it is not waited for any more.
            Self::StopBeforeTheRestArrives => Some(1),
            _ => None,
        }
    }

    /// A copy of a run that stands before an order, with this in its way.
    pub(super) fn befalls(self, run: &Simulated) -> Simulated {
        let mut run = run.clone();
        match self {
            Self::StopBefore => {
                run.drop_next_order();
                run.crash();
            }
            Self::StopBeforeTheRestArrives => {
                run.drop_next_order();
                run.stop();
                run.start(FirstList::Present);
            }
            Self::StopAfter => {
                run.stop();
                run.step_event();
                run.crash();
            }
            Self::StopAfterFor(time) => {
                run.stop();
                run.step_event();
                run.run_until(run.now() + Span::from_secs(time));
                run.start(FirstList::Present);
            }
            Self::Lost => run.fate_of_next(Fate::Lost),
            Self::AnswerLost => run.fate_of_next(Fate::AnswerLost),
            Self::Late(later) => run.fate_of_next(Fate::Late(Span::from_secs(later))),
            Self::StaleBefore(age, behind) => {
                run.drop_next_order();
                run.stop();
                start_stale(&mut run, age, behind);
            }
            Self::StaleAfter(age, behind) => {
                run.stop();
                run.step_event();
                start_stale(&mut run, age, behind);
            }
            Self::Cut(time) => run.cut_watches(Span::from_secs(time)),
            Self::CutAndLost(time) => {
                run.cut_watches(Span::from_secs(time));
                run.fate_of_next(Fate::AnswerLost);
            }
            Self::PodsAgain(_)
            | Self::ClaimGone
            | Self::ClaimAgain(_)
            | Self::NodeAgain(_)
            | Self::NodeDeleted => self.by_hand(&mut run),
            Self::Paused(time) => pause(&mut run, time, Span::ZERO),
            Self::TwoActive(time) => pause(&mut run, time, Span::from_secs(3)),
        }
        run
    }

    fn by_hand(self, run: &mut Simulated) {
        let claim = claim_of_next(run);
        let node = claim.as_ref().map(|claim| NodeName::from(claim.as_str()));
        if let Self::PodsAgain(cut) | Self::ClaimAgain(cut) | Self::NodeAgain(cut) = self {
            run.cut_watches(Span::from_secs(cut));
        }
        match (self, claim, node) {
            (Self::PodsAgain(_), ..) => {
                for pod in pods_of_workloads(run) {
                    run.recreate_pod(&pod);
                }
            }
            (Self::ClaimGone, Some(claim), _) => {
                run.remove_claim(&claim);
            }
            (Self::ClaimAgain(_), Some(claim), _) => {
                run.recreate_claim(&claim);
            }
            (Self::NodeAgain(_), _, Some(node)) => {
                run.recreate_node(&node);
            }
            (Self::NodeDeleted, _, Some(node)) => {
                run.delete_node(&node);
            }
            _ => {}
        }
    }
}

fn start_stale(run: &mut Simulated, age: i64, behind: i64) {
    let at = run.now() - Span::from_secs(age);
    run.start(FirstList::Stale(at, Span::from_secs(behind)));
}

/// Another process starts while the one with the next order is paused, which ends so much later than it wakes.
fn pause(run: &mut Simulated, time: i64, goes_on: Span) {
    let paused = run.pause_before_next().expect("an order is next");
    run.start(FirstList::Present);
    run.run_until(run.now() + Span::from_secs(time));
    run.wake(paused, Span::from_secs(1));
    if goes_on > Span::ZERO {
        run.run_until(run.now() + goes_on);
    }
    run.stop_oldest();
}

fn pods_of_workloads(run: &Simulated) -> Vec<ObjectName> {
    let own = run
        .pods()
        .filter(|pod| pod.is_owned_by(OwnerKind::ReplicaSet) && pod.deleting.is_none());
    own.map(|pod| pod.name.clone()).collect()
}

/// The claim that the next order is about, of a launch the first; nodes have the names of their claims.
fn claim_of_next(run: &Simulated) -> Option<ClaimName> {
    let order = run.next_order()?;
    match &order.object {
        ObjectKey::Launch(_) => match &order.request {
            Request::Cloud(CloudCall::Launch(request) | CloudCall::Find(request)) => {
                request.claims.first().map(|claim| claim.name.clone())
            }
            _ => None,
        },
        ObjectKey::Claim(name) => Some(name.clone()),
        ObjectKey::Node(name) => Some(ClaimName::from(name.as_str())),
        ObjectKey::Pod(uid) => {
            let pod = run.pods().find(|pod| pod.uid == *uid)?;
            pod.node.as_ref().map(|node| ClaimName::from(node.as_str()))
        }
        _ => None,
    }
}
