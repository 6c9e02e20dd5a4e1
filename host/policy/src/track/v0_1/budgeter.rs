//! `budgeter`: allow, and why.

use plimsoll_hooks::allow::{AllowAnswer, AllowQuestion};
use wasmtime::Store;

use super::bindings::budget::exports::plimsoll::policy::budgeter::Pools;
use super::bindings::budget::{BudgetPolicy, BudgetPolicyPre};
use super::lend::Lent;
use super::{Answered, Call, asked, columns, lend, raw_notes};
use crate::note::RawNote;
use crate::outcome::Called;
use crate::sandbox::State;

/// A linked budget module.
pub(crate) struct Budgeter {
    pre: BudgetPolicyPre<State>,
}

program!(Budgeter, BudgetPolicyPre);

impl Budgeter {
    pub(crate) fn allow(&self, call: &Call<'_>, question: &AllowQuestion) -> Called<AllowAnswer> {
        self.allowed(
            call,
            question,
            |store, policy, lent, pools| {
                let budgeter = policy.plimsoll_policy_budgeter();
                budgeter.call_allow(store, lent.context, lent.settings, lent.symbols, pools)
            },
            |allowances| AllowAnswer {
                allowed: allowances.allowed,
                reason: allowances.reason,
                recheck_after_s: allowances.recheck_after_s,
            },
        )
    }

    pub(crate) fn explain(
        &self,
        call: &Call<'_>,
        question: &AllowQuestion,
        rows: &[u32],
    ) -> Called<Vec<RawNote>> {
        self.allowed(
            call,
            question,
            |store, policy, lent, pools| {
                let budgeter = policy.plimsoll_policy_budgeter();
                budgeter.call_explain(
                    store,
                    lent.context,
                    lent.settings,
                    lent.symbols,
                    pools,
                    rows,
                )
            },
            raw_notes,
        )
    }

    /// Lends a question to `ask`.
    fn allowed<A, T>(
        &self,
        call: &Call<'_>,
        question: &AllowQuestion,
        ask: impl FnOnce(&mut Store<State>, &BudgetPolicy, Lent<'_>, Pools<'_>) -> Answered<A>,
        answer: impl FnOnce(A) -> T,
    ) -> Called<T> {
        let ext = lend::columns(&question.pools.ext);
        asked(
            call,
            (&question.context, &question.symbols),
            |store| self.pre.instantiate(store),
            |store, policy, lent| {
                ask(
                    store,
                    policy,
                    lent,
                    columns::allow_pools(&question.pools, &ext),
                )
            },
            answer,
        )
    }
}
