//! A placement put in place again, with the nodes that were bought for it, so that pods which it left out may be tried beside them.

use std::ops::Range;

use plimsoll_base::bits::Bits;
use plimsoll_model::plan::Target;

use super::{OpenBins, PlacementStep, Placer, Seeker, Where};
use crate::place::new_node::NewNode;
use crate::topology::Among;

impl Placer<'_, '_> {
    /// Puts nodes there, each as the one row that it is planned as, and takes every step of a placement again; `false` where one does
    /// not hold any more. Steps stand at the same positions afterwards.
    pub(crate) fn replay(
        &mut self,
        nodes: &[NewNode],
        steps: &[PlacementStep],
        targets: &[Target],
    ) -> bool {
        let first = self.bins.len();
        nodes.iter().all(|node| self.stand_as(node))
            && steps.iter().zip(targets).all(|(step, target)| {
                let place = match target {
                    Target::Existing(row) => Where::Existing(*row),
                    Target::New(number) => Where::Bin(first + number),
                };
                self.step_again(step, place)
            })
    }

    /// Opens a planned node without its pods; `false` where no tier sells it. One packed in Karpenter's order may be launched as any of
    /// its rows, so all of them count against limits.
    fn stand_as(&mut self, node: &NewNode) -> bool {
        let row = node.row;
        let mut rows = Bits::none(self.compiled.rows.len());
        rows.insert(row);
        let template = self.compiled.rows.rows[row].template;
        let Some(tier) = self.tiers.iter().position(|tier| tier.rows.contains(row)) else {
            return false;
        };
        let charged = if node.compatible { &node.rows } else { &rows };
        self.limits.charge(self.compiled, template, charged);
        self.stand_ready(row, tier);
        true
    }

    fn step_again(&mut self, step: &PlacementStep, place: Where) -> bool {
        let number = self.compiled.pods[step.pod].group;
        let group = &self.compiled.groups[number];
        let view = group.view(step.level);
        [Among::All, Among::New].into_iter().any(|among| {
            let Some(allowed) = self.counts.allowed(&self.compiled.model, view, among) else {
                return false;
            };
            let seeker = Seeker {
                pod: step.pod,
                group,
                number,
                level: step.level,
                like: self.compiled.alike.like(number, step.level),
                allowed: &allowed,
            };
            match place {
                Where::Existing(row) => self.take_existing(step.pod, group, row),
                Where::Bin(bin) if self.join(&seeker, bin).is_err() => return false,
                Where::Bin(_) => {}
            }
            self.commit(&seeker, place);
            true
        })
    }

    /// Tries pods beside all that is there, on nodes that exist and on more new ones of some tiers; nodes that are there already take no
    /// more of them.
    pub(crate) fn try_beside(&mut self, pods: &[usize], tiers: Range<usize>) {
        self.first_bin = self.bins.len();
        self.open = OpenBins::new(self.compiled);
        self.active = tiers;
        self.run(pods.iter().copied());
    }
}
