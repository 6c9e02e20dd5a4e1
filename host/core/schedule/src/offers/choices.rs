//! Values that each way to buy has of the labels of which its pool wants several to choose from (`minValues`).
//!
//! A way to buy has its own zone and capacity type, and of other labels what its type lists, as far as the pool and the
//! label state of the row allow it. Of a label that neither type nor offering lists it has none.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_base::bits::Bits;
use plimsoll_base::labels::LabelKey;
use plimsoll_base::requirement::Requirement;
use plimsoll_model::catalogue::{InstanceType, Offering};
use plimsoll_model::provider::ProviderFacts;

use super::rows::Rows;
use super::templates::Template;

/// Least number of distinct values, by key.
pub(crate) type Minimum = Vec<(LabelKey, u32)>;

/// Values of all rows of templates that ask for a minimum.
#[derive(Default)]
pub(crate) struct Choices {
    by_template: Vec<Option<TemplateChoices>>,
}

/// Values of the rows of one template.
struct TemplateChoices {
    /// Its first row; the others follow without a gap.
    first: usize,
    /// How many distinct values there are, by key.
    distinct: Vec<usize>,
    /// By row and key: numbers of its values.
    values: Vec<Arc<[usize]>>,
}

/// Distinct values of some rows of one template, counted as rows are added.
pub(crate) struct ChoiceTally<'c> {
    choices: Option<&'c TemplateChoices>,
    found: Vec<Bits>,
}

impl Choices {
    /// Reads the rows of every template that asks for a minimum.
    pub(crate) fn of(rows: &Rows, templates: &[Template], provider: &ProviderFacts) -> Self {
        let read = |(number, template): (usize, &Template)| {
            let keys = wanted(template);
            (!keys.is_empty())
                .then(|| TemplateChoices::of(rows, number, template, &keys, provider))
                .flatten()
        };
        Self {
            by_template: templates.iter().enumerate().map(read).collect(),
        }
    }

    /// Nothing counted yet of a template's rows.
    pub(crate) fn tally(&self, template: usize) -> ChoiceTally<'_> {
        let choices = self.by_template.get(template).and_then(Option::as_ref);
        let distinct = choices.map_or(&[][..], |choices| &choices.distinct);
        ChoiceTally {
            choices,
            found: distinct.iter().map(|size| Bits::none(*size)).collect(),
        }
    }
}

impl TemplateChoices {
    fn of(
        rows: &Rows,
        number: usize,
        template: &Template,
        keys: &Minimum,
        provider: &ProviderFacts,
    ) -> Option<Self> {
        let own = &rows.of_template[number];
        let mut numbers: Vec<BTreeMap<Arc<str>, usize>> = vec![BTreeMap::new(); keys.len()];
        let mut values = Vec::with_capacity(own.len() * keys.len());
        for row in own.iter().map(|row| &rows.rows[row]) {
            let sold = &template.catalogue.types()[row.instance_type];
            let offering = &sold.offerings[row.offering];
            let state = &template.states[row.state];
            for ((key, _), numbers) in keys.iter().zip(&mut numbers) {
                let allowed = [
                    template.requirements.get(key.as_str()),
                    state.get(key.as_str()),
                ];
                let own = of_way(key, sold, offering, provider, &allowed);
                let number = |value| {
                    let next = numbers.len();
                    *numbers.entry(value).or_insert(next)
                };
                values.push(own.into_iter().map(number).collect());
            }
        }
        Some(Self {
            first: own.first()?,
            distinct: numbers.iter().map(BTreeMap::len).collect(),
            values,
        })
    }

    fn of_row(&self, row: usize) -> &[Arc<[usize]>] {
        let keys = self.distinct.len();
        let at = (row - self.first) * keys;
        &self.values[at..at + keys]
    }
}

impl ChoiceTally<'_> {
    /// Counts the values of a row of the template.
    pub(crate) fn add(&mut self, row: usize) {
        let values = self.choices.iter().flat_map(|choices| choices.of_row(row));
        for (found, values) in self.found.iter_mut().zip(values) {
            values.iter().for_each(|value| found.insert(*value));
        }
    }

    /// `true` if a minimum of the template's keys, in the order of [`wanted`], is met.
    pub(crate) fn meets(&self, minimum: &Minimum) -> bool {
        let counts = self.counts();
        minimum
            .iter()
            .zip(counts)
            .all(|((_, least), found)| found >= *least)
    }

    /// Distinct values so far, by key in the order of [`wanted`].
    pub(crate) fn counts(&self) -> impl Iterator<Item = u32> {
        let count = |found: &Bits| u32::try_from(found.len()).unwrap_or(u32::MAX);
        // Of a template that sells nothing there is no key to count.
        let known = self.found.iter().map(count);
        known.chain(std::iter::repeat(0))
    }
}

/// Minimum values that a template's requirements ask for; empty when they ask for none.
pub(crate) fn wanted(template: &Template) -> Minimum {
    let requirements = template.requirements.iter();
    requirements
        .filter_map(|requirement| Some((requirement.key().clone(), requirement.min_values()?)))
        .collect()
}

/// Values of a key that a way to buy has and that all of `allowed` allow.
pub(crate) fn of_way(
    key: &LabelKey,
    instance_type: &InstanceType,
    offering: &Offering,
    provider: &ProviderFacts,
    allowed: &[Option<&Requirement>],
) -> Vec<Arc<str>> {
    let of_offering = offering.node_requirement(provider, key);
    let of_type = instance_type.requirements.get(key.as_str());
    let listed = [of_offering.as_ref(), of_type]
        .into_iter()
        .flatten()
        .find_map(Requirement::listed);
    let all = || {
        [of_offering.as_ref(), of_type]
            .into_iter()
            .chain(allowed.iter().copied())
    };
    let has = |value: &&Arc<str>| all().flatten().all(|asked| asked.allows(value));
    listed.into_iter().flatten().filter(has).cloned().collect()
}
