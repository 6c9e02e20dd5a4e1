//! Interface version 0.1: the generated bindings, and the way from the core's columns to theirs and back.
//!
//! Columns are lent, not copied: the core's lists are the interface's lists. Only settings and the names of optional
//! columns are made anew, which are few.

use plimsoll_core::rank::{self, OrderAnswer, OrderQuestion, PriceAnswer, PriceQuestion, Settings};
use wasmtime::StoreContextMut;
use wasmtime::component::{Component, Linker};

use self::bindings::RankingPolicyPre;
use self::bindings::exports::plimsoll::policy::ranker::{Catalog, Claims, Pools};
use self::bindings::plimsoll::policy::diag::Level;
use self::bindings::plimsoll::policy::types::{
    Column, Context, ExtColumn, PolicyError, Setting, Symbols,
};
use crate::gate::Refusal;
use crate::outcome::{Called, LogLevel};
use crate::sandbox::{self, Budget, State, Stopped};
use crate::text;

#[allow(
    unsafe_code,
    missing_docs,
    unreachable_pub,
    unused_lifetimes,
    elided_lifetimes_in_paths,
    clippy::pedantic,
    reason = "generated from `wit/0.1`"
)]
mod bindings {
    wasmtime::component::bindgen!({
        path: "../../wit/0.1",
        world: "ranking-policy",
        ownership: Borrowing { duplicate_if_necessary: true },
    });
}

/// The imports of version 0.1: `diag`, and `types`, which has no functions.
pub(crate) struct Track {
    linker: Linker<State>,
}

impl Track {
    pub(crate) fn new(engine: &wasmtime::Engine) -> wasmtime::Result<Self> {
        let mut linker = Linker::new(engine);
        linker.instance("plimsoll:policy/types@0.1.0")?;
        linker.instance("plimsoll:policy/diag@0.1.0")?.func_wrap(
            "log",
            |store: StoreContextMut<'_, State>, (level, message): (Level, String)| {
                sandbox::log(store, log_level(level), &message)
            },
        )?;
        Ok(Self { linker })
    }

    /// Links a module and checks that its functions have the types of this version.
    pub(crate) fn prepare(&self, component: &Component) -> Result<Program, Refusal> {
        let linked = self
            .linker
            .instantiate_pre(component)
            .and_then(RankingPolicyPre::new);
        let pre = linked.map_err(|error| Refusal::Mismatch {
            problem: text::clean(&format!("{error:#}"), text::MESSAGE),
        })?;
        Ok(Program { pre })
    }
}

/// A linked module of version 0.1.
pub(crate) struct Program {
    pre: RankingPolicyPre<State>,
}

impl Program {
    pub(crate) fn price(
        &self,
        engine: &wasmtime::Engine,
        budget: &Budget<'_>,
        settings: &Settings,
        question: &PriceQuestion,
    ) -> Called<PriceAnswer> {
        let PriceQuestion {
            context,
            tables,
            pools,
        } = question;
        let texts = lend_texts(settings);
        let settings = lend_settings(settings, &texts);
        let (types, offerings) = (
            lend_columns(&tables.catalogue.t_ext),
            lend_columns(&tables.catalogue.o_ext),
        );
        let (of_pools, of_candidates) = (lend_columns(&pools.p_ext), lend_columns(&pools.cand_ext));
        sandbox::run(
            engine,
            budget,
            |store| self.pre.instantiate(store),
            |store, policy| {
                let answer = policy.plimsoll_policy_ranker().call_price(
                    store,
                    lend_context(context),
                    &settings,
                    lend_symbols(&tables.symbols),
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

    pub(crate) fn order(
        &self,
        engine: &wasmtime::Engine,
        budget: &Budget<'_>,
        settings: &Settings,
        question: &OrderQuestion,
    ) -> Called<OrderAnswer> {
        let OrderQuestion {
            context,
            tables,
            claims,
        } = question;
        let texts = lend_texts(settings);
        let settings = lend_settings(settings, &texts);
        let (types, offerings) = (
            lend_columns(&tables.catalogue.t_ext),
            lend_columns(&tables.catalogue.o_ext),
        );
        let of_claims = lend_columns(&claims.ext);
        sandbox::run(
            engine,
            budget,
            |store| self.pre.instantiate(store),
            |store, policy| {
                let answer = policy.plimsoll_policy_ranker().call_order(
                    store,
                    lend_context(context),
                    &settings,
                    lend_symbols(&tables.symbols),
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

    /// The problems the module finds in its settings, as (setting, problem).
    pub(crate) fn validate_settings(
        &self,
        engine: &wasmtime::Engine,
        budget: &Budget<'_>,
        settings: &Settings,
    ) -> Called<Vec<(String, String)>> {
        let texts = lend_texts(settings);
        let settings = lend_settings(settings, &texts);
        sandbox::run(
            engine,
            budget,
            |store| self.pre.instantiate(store),
            |store, policy| {
                let answer = policy
                    .plimsoll_policy_configure()
                    .call_validate_settings(store, &settings)?;
                let problems = answer.err().unwrap_or_default();
                Ok(problems
                    .into_iter()
                    .map(|problem| (problem.path, problem.message))
                    .collect())
            },
        )
    }
}

fn declined(error: PolicyError) -> Stopped {
    Stopped::Declined {
        code: error.code,
        message: error.message,
    }
}

fn log_level(level: Level) -> LogLevel {
    match level {
        Level::Debug => LogLevel::Debug,
        Level::Info => LogLevel::Info,
        Level::Warn => LogLevel::Warn,
        Level::Error => LogLevel::Error,
    }
}

fn lend_context(context: &rank::Context) -> Context<'static> {
    Context {
        generation: context.generation,
        now_unix_s: context.now_unix_s,
        seed: context.seed,
        zones: &[],
    }
}

/// The texts of each list of texts, one entry per setting; the interface wants them as lists of borrowed texts.
fn lend_texts(settings: &Settings) -> Vec<Vec<&str>> {
    fn lend(setting: &rank::Setting) -> Vec<&str> {
        match setting {
            rank::Setting::Texts(texts) => texts.iter().map(String::as_str).collect(),
            _ => Vec::new(),
        }
    }
    settings.values().map(lend).collect()
}

fn lend_settings<'a>(
    settings: &'a Settings,
    texts: &'a [Vec<&'a str>],
) -> Vec<(&'a str, Setting<'a>)> {
    let lend = |((name, setting), texts): ((&'a String, &'a rank::Setting), &'a Vec<&'a str>)| {
        let setting = match setting {
            rank::Setting::Flag(value) => Setting::Flag(*value),
            rank::Setting::Number(value) => Setting::Num(*value),
            rank::Setting::Text(value) => Setting::Text(value),
            rank::Setting::Numbers(values) => Setting::Nums(values),
            rank::Setting::Texts(_) => Setting::Texts(texts),
        };
        (name.as_str(), setting)
    };
    settings.iter().zip(texts).map(lend).collect()
}

fn lend_symbols(symbols: &rank::Symbols) -> Symbols<'_> {
    Symbols {
        blob: &symbols.blob,
        ends: &symbols.ends,
    }
}

fn lend_columns(columns: &[rank::ExtColumn]) -> Vec<ExtColumn<'_>> {
    fn lend(column: &rank::ExtColumn) -> ExtColumn<'_> {
        let rank::ExtColumn { name, values } = column;
        let values = match values {
            rank::Column::F64s(values) => Column::F64s(values),
            rank::Column::U32s(values) => Column::U32s(values),
            rank::Column::U8s(values) => Column::U8s(values),
            rank::Column::Syms(values) => Column::Syms(values),
        };
        ExtColumn {
            name: *name,
            values,
        }
    }
    columns.iter().map(lend).collect()
}

fn lend_catalogue<'a>(
    catalogue: &'a rank::Catalogue,
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
