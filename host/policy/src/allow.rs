//! Budget policies: the core asks each of them, grants the least, and holds back for one that fails.

use plimsoll_hooks::allow::{AllowQuestion, Allowances, Grants, grant, withheld};

use crate::module::BudgetModule;
use crate::named::Named;
use crate::outcome::Fault;

/// Who says how many nodes may be down at once.
pub trait Budgeter: Named {
    /// `true` if it has a say about a pool; all others it leaves as they are.
    fn serves(&self, _pool: &str) -> bool {
        true
    }

    /// How many nodes of each pool may be down at once for each reason.
    fn allow(&self, question: &AllowQuestion) -> Result<Allowances, Fault>;
}

impl Budgeter for BudgetModule {
    fn allow(&self, question: &AllowQuestion) -> Result<Allowances, Fault> {
        let called = BudgetModule::allow(self, question);
        called.result.map(|checked| checked.typed)
    }
}

/// Grants, and the faults of policies while they were asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Allowed {
    /// The least of what is declared and of what each policy allows; limits name policies by their place.
    pub grants: Grants,
    /// Faults with the places of the policies that had them.
    pub faults: Vec<(usize, Fault)>,
    /// The faults as sentences for people.
    pub notes: Vec<String>,
}

/// Asks every policy and grants the least. A policy that fails allows nothing for emptiness and consolidation, and what is
/// declared for drift. About pools that a policy does not serve it has no say.
pub fn allow(budgeters: &[&dyn Budgeter], question: &AllowQuestion) -> Allowed {
    let (mut faults, mut notes) = (Vec::new(), Vec::new());
    let mut answers = Vec::with_capacity(budgeters.len());
    for (place, budgeter) in budgeters.iter().enumerate() {
        let mut answer = budgeter.allow(question).unwrap_or_else(|fault| {
            notes.push(format!(
                "policy {} failed to allow: {fault}; only drift continues, as declared",
                budgeter.name()
            ));
            faults.push((place, fault));
            withheld(question)
        });
        leave_others(*budgeter, question, &mut answer);
        answers.push(answer);
    }
    Allowed {
        grants: grant(question, &answers),
        faults,
        notes,
    }
}

/// Takes a policy's word on pools that it does not serve off its answer.
fn leave_others(budgeter: &dyn Budgeter, question: &AllowQuestion, answer: &mut Allowances) {
    for (row, allowance) in (0..).zip(&mut answer.rows) {
        let pool = question.symbols.of_row(&question.pools.name, row);
        if !budgeter.serves(pool) {
            allowance.nodes = u32::MAX;
        }
    }
}
