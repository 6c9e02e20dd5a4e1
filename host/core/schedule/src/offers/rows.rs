//! Everything that usable pools can buy, one row per (pool, label state, offering), and which rows a requirement allows.
//!
//! Rows are made atomic: each has one value per label that any pod mentions, so that narrowing a node to what several pods
//! require is an AND of bit sets, and a set that is not empty has a real instance behind it. Labels that neither pool nor type
//! decides are made atomic by the template's label states.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plimsoll_base::bits::Bits;
use plimsoll_base::labels::{self, LabelKey};
use plimsoll_base::requirement::{Operator, Requirement, Requirements};
use plimsoll_model::snapshot::Snapshot;
use plimsoll_model::{HostPort, Toleration, first_untolerated};

use super::Stock;
use super::table::{Row, Table};
use super::templates::Template;

/// All rows, and which of them requirements allow.
#[derive(Clone)]
pub(crate) struct Rows {
    table: Arc<Table>,
    offers: Arc<Stock>,
    allowed: BTreeMap<Requirement, Arc<Bits>>,
}

impl std::ops::Deref for Rows {
    type Target = Table;

    fn deref(&self) -> &Table {
        &self.table
    }
}

/// Keys on which pods may choose because neither the pool nor some type of it has decided.
pub(crate) fn open_keys(template: &Template, mentioned: &BTreeSet<LabelKey>) -> BTreeSet<LabelKey> {
    let catalogue = &template.catalogue;
    let decided_by_offering =
        |key: &LabelKey| key.as_str() == labels::HOSTNAME || catalogue.is_of_offerings(key);
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
    pub(crate) fn new(table: Arc<Table>, offers: Arc<Stock>) -> Self {
        Self {
            table,
            offers,
            allowed: BTreeMap::new(),
        }
    }

    /// The rows themselves, which other decisions may share.
    pub(crate) fn table(&self) -> &Arc<Table> {
        &self.table
    }

    /// The rows whose templates a pod tolerates.
    pub(crate) fn tolerated(&self, templates: &[Template], tolerations: &[Toleration]) -> Bits {
        let mut result = Bits::none(self.rows.len());
        for (number, template) in templates.iter().enumerate() {
            if first_untolerated(template.taints(), tolerations).is_none() {
                result.join(&self.of_template[number]);
            }
        }
        result
    }

    /// The rows on which daemons leave the ports free.
    pub(crate) fn without_port_conflict(&self, ports: &[HostPort]) -> Option<Bits> {
        let conflicts = |row: &Row| {
            row.overhead
                .ports
                .iter()
                .any(|taken| ports.iter().any(|port| port.conflicts_with(taken)))
        };
        (!ports.is_empty()).then(|| self.select(|row| !conflicts(row)))
    }

    /// The rows that allow every requirement.
    pub(crate) fn allowed(
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
    pub(crate) fn known(&self, requirement: &Requirement) -> Option<&Bits> {
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
        let narrowed: Vec<Option<Requirement>> = templates
            .iter()
            .map(|template| {
                let known = match template.requirements.get(key.as_str()) {
                    Some(own) => agree(Some(own), requirement),
                    None => requirement.allows_absence() || snapshot.catalogues.is_well_known(key),
                };
                known.then(|| template.narrowed(requirement))
            })
            .collect();
        let mut result = Bits::default();
        for (number, narrowed) in narrowed.iter().enumerate() {
            // What the pool rules out needs no look at what it sells.
            if let Some(asked) = narrowed {
                self.evaluate_in(templates, number, requirement, asked, &mut result);
            }
        }
        result
    }

    /// The same for the rows of one template, of which `asked` is the requirement and the pool's own word together.
    fn evaluate_in(
        &self,
        templates: &[Template],
        number: usize,
        requirement: &Requirement,
        asked: &Requirement,
        result: &mut Bits,
    ) {
        let template = &templates[number];
        let key = requirement.key().as_str();
        let types = template.catalogue.types().iter();
        let by_type: Vec<bool> = types
            .map(|hardware| agree(hardware.requirements.get(key), asked))
            .collect();
        let states = 0..template.states.len();
        let by_state: Vec<bool> = states
            .map(|state| state_decides(template, state, requirement))
            .collect();
        let own = self.offers.own.iter();
        let by_own: Vec<bool> = own.map(|own| agree(own.get(key), asked)).collect();
        for at in self.of_template[number].iter() {
            let row = &self.rows[at];
            if by_type[row.instance_type] && by_state[row.state] && by_own[row.own] {
                result.insert(at);
            }
        }
    }

    /// Requirement on a key that a node of this row satisfies, as far as pool, state, type and offering decide; `None` where none
    /// of them names the key.
    pub(crate) fn requirement(
        &self,
        templates: &[Template],
        row: &Row,
        key: &str,
    ) -> Option<Requirement> {
        let template = &templates[row.template];
        let parts = [
            template.requirements.get(key),
            template.states[row.state].get(key),
            template.catalogue.types()[row.instance_type]
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

/// `true` if what there is agrees with what is asked; what is undefined agrees with anything.
pub(crate) fn agree(have: Option<&Requirement>, asked: &Requirement) -> bool {
    have.is_none_or(|have| have.agrees_with(asked))
}

/// `true` if a label state settles a requirement: with the pool's own word, it allows nothing that the requirement does not.
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
