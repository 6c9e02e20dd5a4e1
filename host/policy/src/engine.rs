//! The engine: one per process. It knows how to run a module deterministically and within limits, and takes modules in
//! through the gates.
//!
//! Every switch serves one of three ends: the same numbers on every machine (NaN, SIMD, fuel), no surprise in time or
//! memory (epochs, pool, caps), or less to attack (what policies do not need is off).

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use plimsoll_core::hook::Settings;
use thiserror::Error;
use wasmtime::component::Component;
use wasmtime::{Config, Enabled, InstanceAllocationStrategy, PoolingAllocationConfig};

use crate::gate::Refusal;
use crate::limits::Limits;
use crate::manifest::{Hook, Manifest};
use crate::module::{Accepted, BudgetModule, ConsolidationModule, Module};
use crate::permits::Permits;
use crate::shape::check_shape;
use crate::text;
use crate::ticker::Ticker;
use crate::track::v0_1::{self, Program};
use crate::unpack::unpack;
use crate::world::check_world;

/// Settings of the engine.
#[derive(Debug, Clone)]
pub struct EngineSettings {
    /// Limits of modules and calls.
    pub limits: Limits,
    /// Calls at the same time.
    pub concurrency: usize,
    /// Names of the optional signals that questions carry.
    pub columns: BTreeSet<String>,
}

impl Default for EngineSettings {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            limits: Limits::default(),
            concurrency: 2 * cores,
            columns: BTreeSet::new(),
        }
    }
}

/// The engine could not be started.
#[derive(Debug, Error)]
pub enum EngineError {
    /// The pool does not fit into the address space, or the machine is not supported.
    #[error("the policy engine for {concurrency} calls at a time cannot be set up: {problem}")]
    Setup {
        /// Calls asked for.
        concurrency: usize,
        /// What the engine says.
        problem: String,
    },
    /// The operating system gave no thread for the deadlines.
    #[error("the thread for policy deadlines cannot be started")]
    Ticker(#[source] std::io::Error),
}

/// Runs policy modules.
#[derive(Clone)]
pub struct Engine {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) wasmtime: wasmtime::Engine,
    pub(crate) limits: Limits,
    pub(crate) permits: Permits,
    track: v0_1::Track,
    columns: BTreeSet<String>,
    /// Stops when the engine goes.
    _ticker: Ticker,
}

impl Engine {
    /// Sets up the engine, its pool and its ticker.
    pub fn new(settings: EngineSettings) -> Result<Self, EngineError> {
        let EngineSettings {
            limits,
            concurrency,
            columns,
        } = settings;
        let concurrency = concurrency.max(1);
        let setup = |error: wasmtime::Error| EngineError::Setup {
            concurrency,
            problem: format!("{error:#}"),
        };
        let wasmtime = wasmtime::Engine::new(&config(&limits, concurrency)).map_err(setup)?;
        let track = v0_1::Track::new(&wasmtime).map_err(setup)?;
        let ticker = Ticker::start(&wasmtime).map_err(EngineError::Ticker)?;
        let permits = Permits::new(concurrency);
        Ok(Self {
            inner: Arc::new(Inner {
                wasmtime,
                limits,
                permits,
                track,
                columns,
                _ticker: ticker,
            }),
        })
    }

    /// What a module says of itself, whatever its hook, once it has passed the gates that need neither settings nor a compiler.
    pub fn manifest(&self, bytes: &[u8]) -> Result<Manifest, Refusal> {
        self.inspect(bytes).map(|(_, manifest)| manifest)
    }

    /// Takes a ranking module in, or says at which gate it failed and why. `bytes` may be one zstd frame.
    pub fn accept(&self, bytes: &[u8], settings: &Settings) -> Result<Module, Refusal> {
        let (accepted, program) = self.admit(Hook::Rank, bytes, settings)?;
        Ok(Module::new(accepted, program))
    }

    /// Takes a consolidation module in, as [`accept`](Self::accept) does a ranking module.
    pub fn accept_consolidation(
        &self,
        bytes: &[u8],
        settings: &Settings,
    ) -> Result<ConsolidationModule, Refusal> {
        let (accepted, program) = self.admit(Hook::Consolidate, bytes, settings)?;
        Ok(ConsolidationModule::new(accepted, program))
    }

    /// Takes a budget module in, as [`accept`](Self::accept) does a ranking module.
    pub fn accept_budget(
        &self,
        bytes: &[u8],
        settings: &Settings,
    ) -> Result<BudgetModule, Refusal> {
        let (accepted, program) = self.admit(Hook::Budget, bytes, settings)?;
        Ok(BudgetModule::new(accepted, program))
    }

    /// All gates, for a module of that hook, which is the one of `P`.
    fn admit<P: Program>(
        &self,
        expected: Hook,
        bytes: &[u8],
        settings: &Settings,
    ) -> Result<(Accepted, P), Refusal> {
        let (bytes, manifest) = self.inspect(bytes)?;
        let found = manifest.hook;
        if found != expected {
            return Err(Refusal::WrongHook { found, expected });
        }
        let settings = manifest.settings.complete(settings)?;
        let component = compile(&self.inner.wasmtime, &bytes)?;
        let program: P = self.inner.track.prepare(&component)?;
        let accepted = Accepted::new(Arc::clone(&self.inner), manifest, settings);
        accepted.validate_settings(&program)?;
        Ok((accepted, program))
    }

    fn inspect<'b>(&self, bytes: &'b [u8]) -> Result<(Cow<'b, [u8]>, Manifest), Refusal> {
        let Inner {
            limits, columns, ..
        } = &*self.inner;
        let bytes = unpack(bytes, limits.module_bytes)?;
        check_shape(&bytes)?;
        let manifest = check_world(&bytes)?;
        let mut required = manifest.required_columns.iter();
        if let Some(column) = required.find(|column| !columns.contains(*column)) {
            let column = column.clone();
            return Err(Refusal::UnknownColumn { column });
        }
        Ok((bytes, manifest))
    }
}

/// Makes machine code of a module that has passed the shape gate. The only place that compiles.
fn compile(engine: &wasmtime::Engine, bytes: &[u8]) -> Result<Component, Refusal> {
    Component::from_binary(engine, bytes).map_err(|error| Refusal::Compile {
        problem: text::clean(&format!("{error:#}"), text::MESSAGE),
    })
}

fn config(limits: &Limits, concurrency: usize) -> Config {
    let mut config = Config::new();
    config
        .cranelift_nan_canonicalization(true)
        .consume_fuel(true)
        .epoch_interruption(true)
        .wasm_simd(true)
        .wasm_relaxed_simd(false)
        .wasm_memory64(false)
        .wasm_multi_memory(false)
        .wasm_wide_arithmetic(false)
        .wasm_custom_page_sizes(false)
        .wasm_backtrace_max_frames(None)
        .max_wasm_stack(512 << 10)
        .memory_reservation(limits.memory_ceiling as u64)
        .memory_guard_size(0)
        .memory_init_cow(true)
        .allocation_strategy(InstanceAllocationStrategy::Pooling(pool(
            limits,
            concurrency,
        )));
    config
}

/// Bytes of a memory that are cleared by hand after a call instead of being given back to the system. Above the memory
/// that policies start with, so that a call of ordinary size makes no system call for its memory.
const KEEP_RESIDENT: usize = 1 << 20;

/// Instances ready to use: a call costs a reset of the memory it touched instead of a mapping.
fn pool(limits: &Limits, concurrency: usize) -> PoolingAllocationConfig {
    let components = u32::try_from(concurrency).unwrap_or(u32::MAX);
    let cores = components.saturating_mul(4);
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(components)
        .total_core_instances(cores)
        .total_memories(components.saturating_mul(2))
        .total_tables(cores)
        .max_core_instances_per_component(8)
        .max_memories_per_component(2)
        .max_tables_per_component(8)
        .max_memory_size(limits.memory_ceiling)
        .table_elements(limits.table_elements)
        .linear_memory_keep_resident(KEEP_RESIDENT)
        .table_keep_resident(64 << 10)
        .max_unused_warm_slots(8)
        .pagemap_scan(Enabled::Auto);
    pool
}
