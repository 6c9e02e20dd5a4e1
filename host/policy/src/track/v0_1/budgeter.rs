//! `budgeter`: allow, and why.

use plimsoll_core::allow::{self, AllowAnswer, AllowQuestion};

use super::bindings::budget::BudgetPolicyPre;
use super::bindings::budget::exports::plimsoll::policy::budgeter::Pools;
use super::bindings::plimsoll::policy::types::ExtColumn;
use super::{Call, declined, lend, raw_note};
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
                    lend_pools(pools, &ext),
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
                    lend_pools(pools, &ext),
                    rows,
                )?;
                let notes = answer.map_err(declined)?;
                Ok(notes.into_iter().map(raw_note).collect())
            },
        )
    }
}

fn lend_pools<'a>(pools: &'a allow::BudgetRows, ext: &'a [ExtColumn<'a>]) -> Pools<'a> {
    Pools {
        name: &pools.name,
        reason: &pools.reason,
        nodes: &pools.nodes,
        not_ready: &pools.not_ready,
        disrupting: &pools.disrupting,
        ceiling: &pools.ceiling,
        pending_pods: &pools.pending_pods,
        recent_evictions: &pools.recent_evictions,
        recent_failures: &pools.recent_failures,
        ext,
    }
}
