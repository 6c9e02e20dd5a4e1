//! Everything that usable pools can buy, one row per (pool, label state, offering), and which rows a requirement allows.
//!
//! Rows are made atomic: each has one value per label that any pod mentions, so that narrowing a node to what several pods
//! require is an AND of bit sets, and a set that is not empty has a real machine behind it. Labels that neither pool nor type
//! decides are made atomic by the template's label states.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::axes::Axes;
use super::daemons::Overhead;
use super::offers::{Offer, Offers};
use super::templates::Template;
use crate::bits::Bits;
use crate::catalog::{Catalogue, InstanceType};
use crate::labels::{self, LabelKey};
use crate::model::{HostPort, Toleration, first_untolerated};
use crate::requirement::{Operator, Requirement, Requirements};
use crate::resources::{ResourceName, Resources};
use crate::snapshot::Snapshot;

/// One way to buy a node.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// Template, in order of preference.
    pub(super) template: usize,
    /// Label state of the template.
    pub(super) state: usize,
    /// Instance type in the catalogue.
    pub(super) instance_type: usize,
    /// Offering of the type.
    pub(super) offering: usize,
    /// What its nodes satisfy beyond the type: position in [`Offers::own`].
    pub(super) own: usize,
    /// Daemons of its nodes.
    pub(super) overhead: Arc<Overhead>,
}

/// All rows, with what is asked of them again and again.
#[expect(clippy::struct_field_names, reason = "the rows of the table of rows")]
pub(super) struct Rows {
    pub(super) rows: Vec<Row>,
    /// Room for pods, `axes` amounts per row.
    capacity: Vec<i64>,
    axes: usize,
    /// What one node takes of its pool's limits, per row.
    spends: Vec<Arc<[i64]>>,
    /// Rows by template.
    pub(super) of_template: Vec<Bits>,
    /// Rows with the largest first: whichever exceeds another on every axis stands before it.
    pub(super) by_size: Vec<usize>,
    offers: Arc<Offers>,
    allowed: BTreeMap<Requirement, Arc<Bits>>,
}

/// Keys on which pods may choose because neither the pool nor some type of it has decided.
pub(super) fn open_keys(
    catalogue: &Catalogue,
    template: &Template,
    mentioned: &BTreeSet<LabelKey>,
) -> BTreeSet<LabelKey> {
    let decided_by_offering = |key: &LabelKey| {
        [
            labels::ZONE,
            labels::CAPACITY_TYPE,
            labels::RESERVATION_ID,
            labels::HOSTNAME,
        ]
        .contains(&key.as_str())
            || catalogue.own_keys().contains(key)
    };
    let atomic = |requirement: &Requirement| {
        requirement.single().is_some() || requirement.operator() == Operator::DoesNotExist
    };
    let open = |key: &&LabelKey| {
        let pool = template.requirements.get(key.as_str());
        if decided_by_offering(key) || pool.is_some_and(atomic) {
            return false;
        }
        let undecided = pool.is_some() || catalogue.is_well_known(key);
        catalogue.types().iter().any(|instance_type| {
            match instance_type.requirements.get(key.as_str()) {
                Some(requirement) => !atomic(requirement),
                None => undecided,
            }
        })
    };
    mentioned.iter().filter(open).cloned().collect()
}

impl Rows {
    /// Rows of all templates: what their pools sell and their limits leave room for.
    pub(super) fn new(templates: &[Template], axes: &Axes, offers: &Arc<Offers>) -> Self {
        let mut result = Self {
            rows: Vec::new(),
            capacity: Vec::new(),
            axes: axes.len(),
            spends: Vec::new(),
            of_template: Vec::new(),
            by_size: Vec::new(),
            offers: Arc::clone(offers),
            allowed: BTreeMap::new(),
        };
        for (number, template) in templates.iter().enumerate() {
            for offer in &offers.shelves[number].offers {
                let sold = &template.catalogue.types()[offer.instance_type];
                let one = sold
                    .capacity_of(&sold.offerings[offer.offering])
                    .with(ResourceName::Nodes, 1);
                if within_limits(template, &one) {
                    let spends = spends(template, &one);
                    result.add_states(template, number, offer, axes, sold, &spends);
                }
            }
        }
        result.of_template = (0..templates.len())
            .map(|number| result.select(|row| row.template == number))
            .collect();
        result.by_size = result.sorted_by_size();
        result
    }

    fn add_states(
        &mut self,
        template: &Template,
        number: usize,
        offer: &Offer,
        axes: &Axes,
        sold: &InstanceType,
        spends: &Arc<[i64]>,
    ) {
        for (state, chosen) in template.states.iter().enumerate() {
            let possible = chosen.iter().all(|requirement| {
                agree(
                    sold.requirements.get(requirement.key().as_str()),
                    &template.narrowed(requirement),
                )
            });
            if possible {
                self.rows.push(Row {
                    template: number,
                    state,
                    instance_type: offer.instance_type,
                    offering: offer.offering,
                    own: offer.own,
                    overhead: Arc::clone(&offer.overhead),
                });
                self.capacity.extend(axes.amounts(&offer.room));
                self.spends.push(Arc::clone(spends));
            }
        }
    }

    fn sorted_by_size(&self) -> Vec<usize> {
        let mut rows: Vec<usize> = (0..self.rows.len()).collect();
        let total = |row: &usize| -> i128 {
            let amounts = self.capacity(*row).iter();
            amounts.map(|amount| i128::from(*amount)).sum()
        };
        rows.sort_by_cached_key(|row| (std::cmp::Reverse(total(row)), *row));
        rows
    }

    /// How many rows there are.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Room for pods on a node of this row.
    pub(super) fn capacity(&self, row: usize) -> &[i64] {
        &self.capacity[row * self.axes..(row + 1) * self.axes]
    }

    /// What one node of a row takes of its pool's limits, by limited resource; nothing where the pool has none.
    pub(super) fn spends(&self, row: usize) -> &[i64] {
        &self.spends[row]
    }

    /// The rows for which `condition` holds.
    pub(super) fn select(&self, condition: impl Fn(&Row) -> bool) -> Bits {
        let mut result = Bits::none(self.rows.len());
        for (at, row) in self.rows.iter().enumerate() {
            if condition(row) {
                result.insert(at);
            }
        }
        result
    }

    /// The rows whose templates a pod tolerates.
    pub(super) fn tolerated(&self, templates: &[Template], tolerations: &[Toleration]) -> Bits {
        let mut result = Bits::none(self.rows.len());
        for (number, template) in templates.iter().enumerate() {
            if first_untolerated(template.taints(), tolerations).is_none() {
                result.join(&self.of_template[number]);
            }
        }
        result
    }

    /// The rows on which daemons leave the ports free.
    pub(super) fn without_port_conflict(&self, ports: &[HostPort]) -> Option<Bits> {
        let conflicts = |row: &Row| {
            row.overhead
                .ports
                .iter()
                .any(|taken| ports.iter().any(|port| port.conflicts_with(taken)))
        };
        (!ports.is_empty()).then(|| self.select(|row| !conflicts(row)))
    }

    /// The rows that allow every requirement.
    pub(super) fn allowed(
        &mut self,
        snapshot: &Snapshot,
        templates: &[Template],
        requirements: &Requirements,
    ) -> Bits {
        let mut result = Bits::all(self.rows.len());
        for requirement in requirements.iter() {
            if !self.allowed.contains_key(requirement) {
                let bits = self.evaluate(snapshot, templates, requirement);
                self.allowed.insert(requirement.clone(), Arc::new(bits));
            }
            result.keep(&self.allowed[requirement]);
        }
        result
    }

    /// The rows that allow a requirement, if [`Rows::allowed`] was asked about it.
    pub(super) fn known(&self, requirement: &Requirement) -> Option<&Bits> {
        self.allowed.get(requirement).map(AsRef::as_ref)
    }

    /// Tests one requirement against every row: the pool may leave well-known labels undefined, the type must agree with
    /// what pool and pod require together, and so must the offering and the label state.
    fn evaluate(
        &self,
        snapshot: &Snapshot,
        templates: &[Template],
        requirement: &Requirement,
    ) -> Bits {
        let key = requirement.key();
        let types = snapshot.catalogue.types();
        let narrowed: Vec<Option<Requirement>> = templates
            .iter()
            .map(|template| {
                let known = match template.requirements.get(key.as_str()) {
                    Some(own) => agree(Some(own), requirement),
                    None => requirement.allows_absence() || snapshot.catalogue.is_well_known(key),
                };
                known.then(|| template.narrowed(requirement))
            })
            .collect();
        let by_type: Vec<Vec<bool>> = narrowed
            .iter()
            .map(|narrowed| {
                let agrees = |hardware: &Arc<InstanceType>| {
                    narrowed
                        .as_ref()
                        .is_some_and(|asked| agree(hardware.requirements.get(key.as_str()), asked))
                };
                types.iter().map(agrees).collect()
            })
            .collect();
        let by_state: Vec<Vec<bool>> = templates
            .iter()
            .map(|template| {
                (0..template.states.len())
                    .map(|state| state_decides(template, state, requirement))
                    .collect()
            })
            .collect();
        let by_own: Vec<Vec<bool>> = narrowed
            .iter()
            .map(|narrowed| {
                let agrees = |own: &Requirements| {
                    narrowed
                        .as_ref()
                        .is_some_and(|asked| agree(own.get(key.as_str()), asked))
                };
                self.offers.own.iter().map(agrees).collect()
            })
            .collect();
        self.select(|row| {
            by_type[row.template][row.instance_type]
                && by_state[row.template][row.state]
                && by_own[row.template][row.own]
        })
    }

    /// What a node of this row satisfies on a key, as far as pool, state, type and offering decide.
    pub(super) fn requirement(
        &self,
        snapshot: &Snapshot,
        templates: &[Template],
        row: &Row,
        key: &str,
    ) -> Option<Requirement> {
        let template = &templates[row.template];
        let parts = [
            template.requirements.get(key),
            template.states[row.state].get(key),
            snapshot.catalogue.types()[row.instance_type]
                .requirements
                .get(key),
            self.offers.own[row.own].get(key),
        ];
        parts
            .into_iter()
            .flatten()
            .cloned()
            .reduce(|left, right| left.intersect(&right))
    }
}

/// Whether what there is agrees with what is asked; what is undefined agrees with anything.
pub(super) fn agree(have: Option<&Requirement>, asked: &Requirement) -> bool {
    have.is_none_or(|have| have.agrees_with(asked))
}

/// Whether a label state settles a requirement: with the pool's own word, it allows nothing that the requirement does not.
fn state_decides(template: &Template, state: usize, requirement: &Requirement) -> bool {
    if !template.open.contains(requirement.key()) {
        return true;
    }
    let chosen = match template.states[state].get(requirement.key().as_str()) {
        Some(chosen) => template.narrowed(chosen),
        None => template.narrowed(&Requirement::exists(requirement.key().clone())),
    };
    chosen.intersect(requirement) == chosen
}

/// What one node takes of each resource that the pool limits; `one` is its capacity and itself.
fn spends(template: &Template, one: &Resources) -> Arc<[i64]> {
    let limits = template.remaining.iter().flat_map(Resources::iter);
    limits.map(|(name, _)| one.get(name)).collect()
}

/// Whether one node stays within what the pool's limits leave.
fn within_limits(template: &Template, one: &Resources) -> bool {
    let limits = template.remaining.iter().flat_map(Resources::iter);
    limits
        .map(|(name, left)| (one.get(name), left))
        .all(|(one, left)| one <= left)
}
