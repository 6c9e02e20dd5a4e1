//! `ranker`: price and order, and why.

use plimsoll_hooks::rank::{OrderAnswer, OrderQuestion, PriceAnswer, PriceQuestion};
use wasmtime::Store;

use super::bindings::exports::plimsoll::policy::ranker::{
    Catalog, Claims, Ordering, Pools, Prices,
};
use super::bindings::{RankingPolicy, RankingPolicyPre};
use super::lend::Lent;
use super::{Answered, Call, asked, columns, lend, raw_notes};
use crate::note::RawNote;
use crate::outcome::Called;
use crate::sandbox::State;

/// A linked ranking module.
pub(crate) struct Ranker {
    pre: RankingPolicyPre<State>,
}

program!(Ranker, RankingPolicyPre);

impl Ranker {
    pub(crate) fn price(&self, call: &Call<'_>, question: &PriceQuestion) -> Called<PriceAnswer> {
        self.priced(
            call,
            question,
            |store, policy, lent, catalogue, pools| {
                let ranker = policy.plimsoll_policy_ranker();
                let (context, symbols) = (lent.context, lent.symbols);
                ranker.call_price(store, context, lent.settings, symbols, catalogue, pools)
            },
            price_answer,
        )
    }

    pub(crate) fn order(&self, call: &Call<'_>, question: &OrderQuestion) -> Called<OrderAnswer> {
        self.ordered(
            call,
            question,
            |store, policy, lent, catalogue, claims| {
                let ranker = policy.plimsoll_policy_ranker();
                let (context, symbols) = (lent.context, lent.symbols);
                ranker.call_order(store, context, lent.settings, symbols, catalogue, claims)
            },
            |Ordering { score, reason }| OrderAnswer { score, reason },
        )
    }

    pub(crate) fn explain_price(
        &self,
        call: &Call<'_>,
        question: &PriceQuestion,
        rows: &[u32],
    ) -> Called<Vec<RawNote>> {
        self.priced(
            call,
            question,
            |store, policy, lent, catalogue, pools| {
                let ranker = policy.plimsoll_policy_ranker();
                let (context, symbols) = (lent.context, lent.symbols);
                ranker.call_explain_price(
                    store,
                    context,
                    lent.settings,
                    symbols,
                    catalogue,
                    pools,
                    rows,
                )
            },
            raw_notes,
        )
    }

    pub(crate) fn explain_order(
        &self,
        call: &Call<'_>,
        question: &OrderQuestion,
        rows: &[u32],
    ) -> Called<Vec<RawNote>> {
        self.ordered(
            call,
            question,
            |store, policy, lent, catalogue, claims| {
                let ranker = policy.plimsoll_policy_ranker();
                let (context, symbols) = (lent.context, lent.symbols);
                ranker.call_explain_order(
                    store,
                    context,
                    lent.settings,
                    symbols,
                    catalogue,
                    claims,
                    rows,
                )
            },
            raw_notes,
        )
    }

    /// Lends a question of prices to `ask`.
    fn priced<A, T>(
        &self,
        call: &Call<'_>,
        question: &PriceQuestion,
        ask: impl FnOnce(
            &mut Store<State>,
            &RankingPolicy,
            Lent<'_>,
            Catalog<'_>,
            Pools<'_>,
        ) -> Answered<A>,
        answer: impl FnOnce(A) -> T,
    ) -> Called<T> {
        let (tables, pools) = (&question.tables, &question.pools);
        let types = lend::columns(&tables.catalogue.t_ext);
        let offerings = lend::columns(&tables.catalogue.o_ext);
        let of_pools = lend::columns(&pools.p_ext);
        let of_candidates = lend::columns(&pools.cand_ext);
        asked(
            call,
            (&question.context, &tables.symbols),
            |store| self.pre.instantiate(store),
            |store, policy, lent| {
                let catalogue = columns::rank_catalog(&tables.catalogue, &types, &offerings);
                let pools = columns::rank_pools(pools, &of_pools, &of_candidates);
                ask(store, policy, lent, catalogue, pools)
            },
            answer,
        )
    }

    /// Lends a question of launch lists to `ask`.
    fn ordered<A, T>(
        &self,
        call: &Call<'_>,
        question: &OrderQuestion,
        ask: impl FnOnce(
            &mut Store<State>,
            &RankingPolicy,
            Lent<'_>,
            Catalog<'_>,
            Claims<'_>,
        ) -> Answered<A>,
        answer: impl FnOnce(A) -> T,
    ) -> Called<T> {
        let (tables, claims) = (&question.tables, &question.claims);
        let types = lend::columns(&tables.catalogue.t_ext);
        let offerings = lend::columns(&tables.catalogue.o_ext);
        let of_claims = lend::columns(&claims.ext);
        asked(
            call,
            (&question.context, &tables.symbols),
            |store| self.pre.instantiate(store),
            |store, policy, lent| {
                let catalogue = columns::rank_catalog(&tables.catalogue, &types, &offerings);
                let claims = columns::rank_claims(claims, &of_claims);
                ask(store, policy, lent, catalogue, claims)
            },
            answer,
        )
    }
}

fn price_answer(prices: Prices) -> PriceAnswer {
    PriceAnswer {
        first: prices.first,
        first_count: prices.first_count,
        first_group: prices.first_group,
        first_reason: prices.first_reason,
        then: prices.then,
        then_reason: prices.then_reason,
    }
}
