//! A snapshot read for decisions: whatever they ask of all of its pods and nodes is worked out once, when it is first asked
//! for, and serves every batch and every assumption about nodes that are removed.
//!
//! Nothing in it depends on a batch or on a [`NodeRemoval`]; those who ask say which nodes leave, and what the leaving ones
//! held is taken off. So asking what becomes of one node's pods costs no look at all the others'.

mod labelled;
mod node_kinds;
mod node_room;

use std::cell::OnceCell;
use std::collections::BTreeMap;

use plimsoll_base::ids::PoolName;
use plimsoll_model::snapshot::{NodeRemoval, Snapshot};
use plimsoll_model::supply::Supply;
use plimsoll_model::{BudgetIndex, Pod, is_displaced, is_fixed};

use super::offers::Stock;
use super::offers::size::Size;
use super::pods::attached;
pub(crate) use labelled::Labelled;
pub(crate) use node_kinds::{NodeKind, NodeKinds};
pub(crate) use node_room::NodeRoom;

/// A snapshot, and what decisions ask of all of it.
pub struct Reading<'s> {
    /// The snapshot that was read.
    pub(crate) snapshot: &'s Snapshot,
    /// By node: rows of the pods bound to it, ascending.
    bound: Vec<Vec<usize>>,
    budgets: BudgetIndex<'s>,
    /// By pod: row of the node it is bound to.
    node_of: OnceCell<Vec<Option<usize>>>,
    rooms: OnceCell<Vec<NodeRoom>>,
    kinds: OnceCell<NodeKinds>,
    /// Rows of nodes that have not initialised, ascending.
    unsettled: OnceCell<Vec<usize>>,
    labelled: OnceCell<Vec<Labelled>>,
    anti_affine: OnceCell<Vec<usize>>,
    requested: OnceCell<BTreeMap<PoolName, Size>>,
    supply: OnceCell<Supply>,
}

impl<'s> Reading<'s> {
    /// Reads a snapshot.
    pub fn of(snapshot: &'s Snapshot) -> Self {
        Self {
            snapshot,
            bound: snapshot.pods_by_node(),
            budgets: BudgetIndex::of(&snapshot.disruption_budgets),
            node_of: OnceCell::new(),
            rooms: OnceCell::new(),
            kinds: OnceCell::new(),
            unsettled: OnceCell::new(),
            labelled: OnceCell::new(),
            anti_affine: OnceCell::new(),
            requested: OnceCell::new(),
            supply: OnceCell::new(),
        }
    }

    /// The assumption that the nodes at `leaving` go. Their pods are put neither on nodes at `excluded` nor on nodes that have
    /// not initialised: such a node may never come. Rows beyond the snapshot's count for nothing.
    pub fn removal(&self, leaving: &[usize], excluded: &[usize]) -> NodeRemoval {
        let nodes = &self.snapshot.nodes;
        let unsettled = self.unsettled.get_or_init(|| {
            let nodes = nodes.iter().enumerate();
            nodes
                .filter(|(_, node)| !node.is_initialized())
                .map(|(row, _)| row)
                .collect()
        });
        let known = |row: &usize| *row < nodes.len();
        let closed = unsettled.iter().chain(excluded).copied();
        NodeRemoval::of(leaving.iter().copied().filter(known), closed.filter(known))
    }

    /// The assumption that the nodes at `leaving` go, and every other takes what it can, whether it has initialised or not.
    pub(crate) fn removal_open(&self, leaving: &[usize]) -> NodeRemoval {
        let known = |row: &usize| *row < self.snapshot.nodes.len();
        NodeRemoval::of(leaving.iter().copied().filter(known), [])
    }

    /// Rows of the pods bound to a node, ascending.
    pub fn pods_on(&self, node: usize) -> &[usize] {
        &self.bound[node]
    }

    /// Disruption budgets by the pods that they speak of.
    pub fn budgets(&self) -> &BudgetIndex<'s> {
        &self.budgets
    }

    /// Row of the node that a pod is bound to; `None` for one that is not bound, or to a node that is not in the snapshot.
    pub(crate) fn node_of(&self, pod: usize) -> Option<usize> {
        let read = || {
            let mut node_of = vec![None; self.snapshot.pods.len()];
            for (node, pods) in self.bound.iter().enumerate() {
                for pod in pods {
                    node_of[*pod] = Some(node);
                }
            }
            node_of
        };
        self.node_of.get_or_init(read)[pod]
    }

    /// `true` if a bound pod moves when its node goes, and no budget forbids its eviction for good.
    pub(crate) fn may_move(&self, pod: usize) -> bool {
        let pod = &self.snapshot.pods[pod];
        is_displaced(pod, self.snapshot.now) && !self.budgets.blocks(pod)
    }

    /// Rows of the pods that look for another place since their nodes go, those of deleting nodes among them.
    pub(crate) fn displaced(&self, removal: &NodeRemoval) -> impl Iterator<Item = usize> {
        let nodes = self.snapshot.nodes.iter().enumerate();
        let going = nodes.filter(|(row, node)| !removal.stays(*row, node));
        let pods = going.flat_map(|(row, _)| self.bound[row].iter().copied());
        pods.filter(|pod| self.may_move(*pod))
    }

    /// By node: what pods may still have of it; `None` in place of resources where it takes nothing.
    pub(crate) fn rooms(&self) -> &[NodeRoom] {
        let rows = || 0..self.snapshot.nodes.len();
        self.rooms.get_or_init(|| {
            let attached = attached::by_node(self.snapshot);
            let room = |row| NodeRoom::of(self.snapshot, row, &self.bound[row], &attached);
            rows().map(room).collect()
        })
    }

    /// The nodes by what their taints and labels tell.
    pub(crate) fn kinds(&self) -> &NodeKinds {
        self.kinds.get_or_init(|| NodeKinds::of(self.snapshot))
    }

    /// Pods that are bound and have not ended, by namespace and labels.
    pub(crate) fn labelled(&self) -> &[Labelled] {
        let read = || Labelled::all(self.snapshot, &self.bound);
        self.labelled.get_or_init(read)
    }

    /// Rows of pods that are bound, have not ended, and keep others off by required anti-affinity, ascending. Those asked to go
    /// keep others off until they are gone.
    pub(crate) fn anti_affine(&self) -> &[usize] {
        let keeps_off = |pod: &Pod| {
            pod.node.is_some() && !pod.spec.anti_affinity.is_empty() && !pod.is_terminal()
        };
        self.anti_affine.get_or_init(|| {
            let pods = self.snapshot.pods.iter().enumerate();
            pods.filter(|(_, pod)| keeps_off(pod))
                .map(|(row, _)| row)
                .collect()
        })
    }

    /// Requests of the pods on our nodes of each pool, as far as they would stay without daemons: those of nodes that stay.
    pub(crate) fn requested(&self, removal: &NodeRemoval) -> BTreeMap<PoolName, Size> {
        let of_all = self.requested.get_or_init(|| {
            let nodes = self.snapshot.nodes.iter().enumerate();
            let staying = nodes.filter(|(_, node)| !node.is_deleting());
            let mut requested = BTreeMap::new();
            for (row, _) in staying {
                self.add_requests(row, 1, &mut requested);
            }
            requested
        });
        let mut requested = of_all.clone();
        for row in removal.leaving() {
            if !self.snapshot.nodes[*row].is_deleting() {
                self.add_requests(*row, -1, &mut requested);
            }
        }
        requested
    }

    fn add_requests(&self, row: usize, times: i64, to: &mut BTreeMap<PoolName, Size>) {
        let node = &self.snapshot.nodes[row];
        let Some(pool) = node.pool().filter(|_| node.is_managed()) else {
            return;
        };
        let sum = to.entry(pool).or_default();
        let pods = self.bound[row].iter().map(|pod| &self.snapshot.pods[*pod]);
        for pod in pods.filter(|pod| pod.is_active() && !is_fixed(pod)) {
            sum.add(Size::of(&pod.spec.requests), times);
        }
    }

    /// Supply that nodes and claims in flight leave: limits without the nodes that leave.
    pub(crate) fn supply(&self, stock: &Stock, removal: &NodeRemoval) -> Supply {
        let of_all = self.supply.get_or_init(|| stock.supply(self.snapshot));
        let leaving = removal.leaving().iter();
        let leaving = leaving.map(|row| &self.snapshot.nodes[*row]);
        of_all.clone().without(leaving)
    }
}
