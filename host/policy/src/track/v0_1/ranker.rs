//! `ranker`: price and order, and why.

use plimsoll_core::rank::{self, OrderAnswer, OrderQuestion, PriceAnswer, PriceQuestion};

use super::bindings::RankingPolicyPre;
use super::bindings::exports::plimsoll::policy::ranker::{Catalog, Claims, Pools};
use super::bindings::plimsoll::policy::types::ExtColumn;
use super::{Call, declined, lend, raw_note};
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
                    lend_catalogue(&tables.catalogue, &types, &offerings),
                    lend_pools(pools, &of_pools, &of_candidates),
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
                    lend_catalogue(&tables.catalogue, &types, &offerings),
                    lend_claims(claims, &of_claims),
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
                    lend_catalogue(&tables.catalogue, &types, &offerings),
                    lend_pools(pools, &of_pools, &of_candidates),
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
                    lend_catalogue(&tables.catalogue, &types, &offerings),
                    lend_claims(claims, &of_claims),
                    rows,
                )?;
                let notes = answer.map_err(declined)?;
                Ok(notes.into_iter().map(raw_note).collect())
            },
        )
    }
}

fn lend_catalogue<'a>(
    catalogue: &'a rank::CatalogueColumns,
    t_ext: &'a [ExtColumn<'a>],
    o_ext: &'a [ExtColumn<'a>],
) -> Catalog<'a> {
    Catalog {
        t_name: &catalogue.t_name,
        t_family: &catalogue.t_family,
        t_arch: &catalogue.t_arch,
        t_cpu_milli: &catalogue.t_cpu_milli,
        t_mem_mib: &catalogue.t_mem_mib,
        t_pods: &catalogue.t_pods,
        t_gpus: &catalogue.t_gpus,
        t_gpu_kind: &catalogue.t_gpu_kind,
        t_label_ends: &catalogue.t_label_ends,
        t_label_key: &catalogue.t_label_key,
        t_label_value: &catalogue.t_label_value,
        o_type: &catalogue.o_type,
        o_zone: &catalogue.o_zone,
        o_capacity: &catalogue.o_capacity,
        o_price: &catalogue.o_price,
        o_price_age_s: &catalogue.o_price_age_s,
        o_interruptions_per_day: &catalogue.o_interruptions_per_day,
        o_failures_1h: &catalogue.o_failures_1h,
        o_reserved_left: &catalogue.o_reserved_left,
        o_running: &catalogue.o_running,
        t_ext,
        o_ext,
    }
}

fn lend_pools<'a>(
    pools: &'a rank::Pools,
    p_ext: &'a [ExtColumn<'a>],
    cand_ext: &'a [ExtColumn<'a>],
) -> Pools<'a> {
    Pools {
        name: &pools.name,
        weight: &pools.weight,
        nodes: &pools.nodes,
        cost: &pools.cost,
        cand_ends: &pools.cand_ends,
        cand: &pools.cand,
        p_ext,
        cand_ext,
    }
}

fn lend_claims<'a>(claims: &'a rank::Claims, ext: &'a [ExtColumn<'a>]) -> Claims<'a> {
    Claims {
        pool: &claims.pool,
        cpu_milli: &claims.cpu_milli,
        mem_mib: &claims.mem_mib,
        pods: &claims.pods,
        gpus: &claims.gpus,
        cand_ends: &claims.cand_ends,
        cand: &claims.cand,
        ext,
    }
}
