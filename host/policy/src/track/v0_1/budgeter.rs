//! `budgeter`: allow, and why.

use plimsoll_core::allow::{AllowAnswer, AllowQuestion};

use super::bindings::budget::BudgetPolicyPre;
use super::{Call, columns, declined, lend, raw_note};
use crate::note::RawNote;
use crate::outcome::Called;
use crate::sandbox::{self, State};

/// A linked budget module.
pub(crate) struct Budgeter {
    pre: BudgetPolicyPre<State>,
}

program!(Budgeter, BudgetPolicyPre);

impl Budgeter {
    pub(crate) fn allow(&self, call: &Call<'_>, question: &AllowQuestion) -> Called<AllowAnswer> {
        let AllowQuestion {
            context,
            symbols,
            pools,
        } = question;
        let texts = lend::texts(call.settings);
        let settings = lend::settings(call.settings, &texts);
        let zones = lend::zones(call.zones);
        let ext = lend::columns(&pools.ext);
        sandbox::run(
            call.engine,
            call.budget,
            |store| self.pre.instantiate(store),
            |store, policy| {
                let answer = policy.plimsoll_policy_budgeter().call_allow(
                    store,
                    lend::context(context, &zones),
                    &settings,
                    lend::symbols(symbols),
                    columns::allow_pools(pools, &ext),
                )?;
                let allowances = answer.map_err(declined)?;
                Ok(AllowAnswer {
                    allowed: allowances.allowed,
                    reason: allowances.reason,
                    recheck_after_s: allowances.recheck_after_s,
                })
            },
        )
    }

    pub(crate) fn explain(
        &self,
        call: &Call<'_>,
        question: &AllowQuestion,
        rows: &[u32],
    ) -> Called<Vec<RawNote>> {
        let AllowQuestion {
            context,
            symbols,
            pools,
        } = question;
        let texts = lend::texts(call.settings);
        let settings = lend::settings(call.settings, &texts);
        let zones = lend::zones(call.zones);
        let ext = lend::columns(&pools.ext);
        sandbox::run(
            call.engine,
            call.budget,
            |store| self.pre.instantiate(store),
            |store, policy| {
                let answer = policy.plimsoll_policy_budgeter().call_explain(
                    store,
                    lend::context(context, &zones),
                    &settings,
                    lend::symbols(symbols),
                    columns::allow_pools(pools, &ext),
                    rows,
                )?;
                let notes = answer.map_err(declined)?;
                Ok(notes.into_iter().map(raw_note).collect())
            },
        )
    }
}
