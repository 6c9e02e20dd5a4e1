//! The largest new node of a pool: at most a share of what the pool's pods request.
//!
//! What is lost with a node should be a small part of what its pool serves, so the bound grows with the pool; an absolute one
//! would make large fleets dear. A node has the larger of its shares of cpu and memory, by its capacity. Small nodes are always
//! allowed ([`Guards::node_share_from_cpu_milli`]), or a small pool could have none.
//!
//! A pool's pods are those that run on its nodes and stay there, and those of the batch that it could take, but no more than
//! its limits let it hold. Which pool each waiting pod goes to is known only once the plan is made, and the plan depends on the
//! bound; so a pod that several pools could take counts in each. The sum is a function of the snapshot alone, the same for
//! every way to plan it, and more pods never make it smaller. Daemons do not count, since they come with every node, nor does
//! room that is only kept.

use plimsoll_model::snapshot::{Guards, NodeRemoval};

use super::compile::BatchPod;
use super::pod_group::PodGroup;
use crate::offers::axes::fits;
use crate::offers::size::{Cores, Largest, Size, Sizes};
use crate::offers::templates::Template;
use crate::prices::sale::Sale;
use crate::reading::Reading;

/// Requests of the pods of each pool, by template; the guard on node size takes its share of them.
#[derive(Clone, Debug)]
pub(crate) struct NodeShares {
    requested: Vec<Size>,
}

impl NodeShares {
    /// Adds up what pods request once some nodes have gone; nothing while guards are off.
    pub(crate) fn of(
        reading: &Reading<'_>,
        removal: &NodeRemoval,
        sale: &Sale<'_>,
        groups: &[PodGroup],
        batch: &[BatchPod],
    ) -> Self {
        let (templates, rows) = (&sale.templates, &sale.rows);
        if !reading.snapshot.settings.guards.enabled {
            let requested = vec![Size::default(); templates.len()];
            return Self { requested };
        }
        let standing = reading.requested(removal);
        let of_pool = |template: &Template| standing.get(&template.pool.name).copied();
        let mut requested: Vec<Size> = templates
            .iter()
            .map(|template| of_pool(template).unwrap_or_default())
            .collect();
        let mut waiting = vec![0_i64; groups.len()];
        for pod in batch {
            if !pod.is_spare && !stays(reading, removal, pod.row) {
                waiting[pod.group] += 1;
            }
        }
        for (group, count) in groups.iter().zip(waiting).filter(|(_, count)| *count > 0) {
            let open = group.open(rows.len());
            for (number, sum) in requested.iter_mut().enumerate() {
                let own = open.and(&rows.of_template[number]);
                if own
                    .iter()
                    .any(|row| fits(&group.request, rows.capacity(row)))
                {
                    sum.add(Size::of(&group.spec.requests), count);
                }
            }
        }
        for (sum, template) in requested.iter_mut().zip(templates) {
            if let Some(limits) = &template.pool.limits {
                *sum = sum.within(limits);
            }
        }
        Self { requested }
    }

    /// By template: how large a new node may be under some guards, in sizes that are sold.
    pub(crate) fn largest(&self, guards: &Guards, sold: &Sizes) -> Vec<Largest> {
        let largest = |requested: &Size| Largest {
            from_cpu_milli: guards.node_share_from_cpu_milli,
            share: sold.at_most(requested.percent(guards.node_share_percent)),
        };
        self.requested.iter().map(largest).collect()
    }

    /// How large a new node of a pool may be, in words that follow "a new node".
    pub(crate) fn allowed(&self, guards: &Guards, template: usize) -> String {
        let percent = guards.node_share_percent;
        let share = self.requested[template].percent(percent);
        let from = Cores(guards.node_share_from_cpu_milli);
        format!("{from} or {percent} % of what its pods request, which is {share}")
    }

    /// The share that a node of some size has of what its pool's pods request, in words.
    pub(crate) fn share_of(&self, template: usize, size: Size) -> String {
        match size.share_of(self.requested[template]) {
            Some(percent) => format!("{percent} %"),
            None => "more than all".to_owned(),
        }
    }
}

/// `true` if a pod runs on a node of ours that stays.
fn stays(reading: &Reading<'_>, removal: &NodeRemoval, pod: usize) -> bool {
    let row = reading.node_of(pod);
    row.is_some_and(|row| {
        let node = &reading.snapshot.nodes[row];
        node.is_managed() && removal.stays(row, node)
    })
}
