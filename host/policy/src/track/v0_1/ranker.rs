//! `ranker`: price and order, and why.

use plimsoll_core::rank::{OrderAnswer, OrderQuestion, PriceAnswer, PriceQuestion};

use super::bindings::RankingPolicyPre;
use super::{Call, columns, declined, lend, raw_note};
use crate::note::RawNote;
use crate::outcome::Called;
use crate::sandbox::{self, State};

/// A linked ranking module.
pub(crate) struct Ranker {
    pre: RankingPolicyPre<State>,
}

program!(Ranker, RankingPolicyPre);

impl Ranker {
    pub(crate) fn price(&self, call: &Call<'_>, question: &PriceQuestion) -> Called<PriceAnswer> {
        let PriceQuestion {
            context,
            tables,
            pools,
        } = question;
        let texts = lend::texts(call.settings);
        let settings = lend::settings(call.settings, &texts);
        let zones = lend::zones(call.zones);
        let (types, offerings) = (
            lend::columns(&tables.catalogue.t_ext),
            lend::columns(&tables.catalogue.o_ext),
        );
        let (of_pools, of_candidates) =
            (lend::columns(&pools.p_ext), lend::columns(&pools.cand_ext));
        sandbox::run(
            call.engine,
            call.budget,
            |store| self.pre.instantiate(store),
            |store, policy| {
                let answer = policy.plimsoll_policy_ranker().call_price(
                    store,
                    lend::context(context, &zones),
                    &settings,
                    lend::symbols(&tables.symbols),
                    columns::rank_catalog(&tables.catalogue, &types, &offerings),
                    columns::rank_pools(pools, &of_pools, &of_candidates),
                )?;
                let prices = answer.map_err(declined)?;
                Ok(PriceAnswer {
                    first: prices.first,
                    first_count: prices.first_count,
                    first_group: prices.first_group,
                    first_reason: prices.first_reason,
                    then: prices.then,
                    then_reason: prices.then_reason,
                })
            },
        )
    }

    pub(crate) fn order(&self, call: &Call<'_>, question: &OrderQuestion) -> Called<OrderAnswer> {
        let OrderQuestion {
            context,
            tables,
            claims,
        } = question;
        let texts = lend::texts(call.settings);
        let settings = lend::settings(call.settings, &texts);
        let zones = lend::zones(call.zones);
        let (types, offerings) = (
            lend::columns(&tables.catalogue.t_ext),
            lend::columns(&tables.catalogue.o_ext),
        );
        let of_claims = lend::columns(&claims.ext);
        sandbox::run(
            call.engine,
            call.budget,
            |store| self.pre.instantiate(store),
            |store, policy| {
                let answer = policy.plimsoll_policy_ranker().call_order(
                    store,
                    lend::context(context, &zones),
                    &settings,
                    lend::symbols(&tables.symbols),
                    columns::rank_catalog(&tables.catalogue, &types, &offerings),
                    columns::rank_claims(claims, &of_claims),
                )?;
                let ordering = answer.map_err(declined)?;
                Ok(OrderAnswer {
                    score: ordering.score,
                    reason: ordering.reason,
                })
            },
        )
    }

    pub(crate) fn explain_price(
        &self,
        call: &Call<'_>,
        question: &PriceQuestion,
        rows: &[u32],
    ) -> Called<Vec<RawNote>> {
        let PriceQuestion {
            context,
            tables,
            pools,
        } = question;
        let texts = lend::texts(call.settings);
        let settings = lend::settings(call.settings, &texts);
        let zones = lend::zones(call.zones);
        let (types, offerings) = (
            lend::columns(&tables.catalogue.t_ext),
            lend::columns(&tables.catalogue.o_ext),
        );
        let (of_pools, of_candidates) =
            (lend::columns(&pools.p_ext), lend::columns(&pools.cand_ext));
        sandbox::run(
            call.engine,
            call.budget,
            |store| self.pre.instantiate(store),
            |store, policy| {
                let answer = policy.plimsoll_policy_ranker().call_explain_price(
                    store,
                    lend::context(context, &zones),
                    &settings,
                    lend::symbols(&tables.symbols),
                    columns::rank_catalog(&tables.catalogue, &types, &offerings),
                    columns::rank_pools(pools, &of_pools, &of_candidates),
                    rows,
                )?;
                let notes = answer.map_err(declined)?;
                Ok(notes.into_iter().map(raw_note).collect())
            },
        )
    }

    pub(crate) fn explain_order(
        &self,
        call: &Call<'_>,
        question: &OrderQuestion,
        rows: &[u32],
    ) -> Called<Vec<RawNote>> {
        let OrderQuestion {
            context,
            tables,
            claims,
        } = question;
        let texts = lend::texts(call.settings);
        let settings = lend::settings(call.settings, &texts);
        let zones = lend::zones(call.zones);
        let (types, offerings) = (
            lend::columns(&tables.catalogue.t_ext),
            lend::columns(&tables.catalogue.o_ext),
        );
        let of_claims = lend::columns(&claims.ext);
        sandbox::run(
            call.engine,
            call.budget,
            |store| self.pre.instantiate(store),
            |store, policy| {
                let answer = policy.plimsoll_policy_ranker().call_explain_order(
                    store,
                    lend::context(context, &zones),
                    &settings,
                    lend::symbols(&tables.symbols),
                    columns::rank_catalog(&tables.catalogue, &types, &offerings),
                    columns::rank_claims(claims, &of_claims),
                    rows,
                )?;
                let notes = answer.map_err(declined)?;
                Ok(notes.into_iter().map(raw_note).collect())
            },
        )
    }
}
