//! The engine: one per process. It knows how to run a module deterministically and within limits; [`crate::accept`] is how modules
//! come in.
//!
//! Every switch serves one of three ends: the same numbers on every machine (NaN, SIMD, fuel), no surprise in time or
//! memory (epochs, pool, caps), or less to attack (what policies do not need is off).

use std::sync::Arc;

use plimsoll_base::fixed_hash::hash_of;
use thiserror::Error;
use wasmtime::{Config, Enabled, InstanceAllocationStrategy, PoolingAllocationConfig};

use crate::compile::Compiler;
use crate::guest_memory;
use crate::limits::{Duty, Limits};
use crate::room::Room;
use crate::ticker::Ticker;
use crate::track::v0_1;

/// Settings of the engine.
#[derive(Debug, Clone)]
pub struct EngineSettings {
    /// Limits of modules and calls.
    pub limits: Limits,
    /// Calls at the same time, at most: as many of ordinary size as fit into the guests' memory where that is fewer. Shadows have places
    /// beside these, half as many.
    pub concurrency: usize,
    /// Bytes of memory that all calls at the same time may have together; where absent a quarter of what the process may use, or a
    /// gibibyte where nothing limits it. Shadows have half as much beside it.
    pub guest_memory: Option<u64>,
    /// Who makes machine code of modules.
    pub compiler: Compiler,
}

impl Default for EngineSettings {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            limits: Limits::default(),
            concurrency: 2 * cores,
            guest_memory: None,
            compiler: Compiler::Here,
        }
    }
}

/// The engine could not be started.
#[derive(Debug, Error)]
pub enum EngineError {
    /// Less memory for guests than a single call has.
    #[error(
        "memory for policies is {given} bytes; expected at least {least}, which is what one call may use"
    )]
    GuestMemory {
        /// Bytes that were asked for.
        given: u64,
        /// Bytes of one call.
        least: u64,
    },
    /// The pool does not fit into the address space, or the machine is not supported.
    #[error("the policy engine for {concurrency} calls at a time cannot be set up: {problem}")]
    Setup {
        /// Calls asked for.
        concurrency: usize,
        /// Message of the WebAssembly engine.
        problem: String,
    },
    /// The operating system gave no thread for the deadlines.
    #[error("the thread for policy deadlines cannot be started")]
    Ticker(#[source] std::io::Error),
}

/// Runs policy modules.
#[derive(Clone)]
pub struct Engine {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) wasmtime: wasmtime::Engine,
    pub(crate) limits: Limits,
    /// Places of modules that decide.
    pub(crate) deciding: Room,
    /// Places of shadows: none of them is ever one that a module waits for that decides.
    looking_on: Room,
    pub(crate) track: v0_1::Track,
    pub(crate) compiler: Compiler,
    /// Stops when the engine goes.
    _ticker: Ticker,
}

impl Engine {
    /// Sets up the engine, its pool and its ticker.
    pub fn new(settings: EngineSettings) -> Result<Self, EngineError> {
        let EngineSettings {
            limits,
            concurrency,
            guest_memory,
            compiler,
        } = settings;
        let one_call = limits.memory as u64;
        let guest_memory = match guest_memory {
            Some(given) if given < one_call => {
                let least = one_call;
                return Err(EngineError::GuestMemory { given, least });
            }
            Some(given) => given,
            None => guest_memory::of_this_process().max(one_call),
        };
        let fit = usize::try_from(guest_memory / one_call.max(1)).unwrap_or(usize::MAX);
        let concurrency = concurrency.min(fit).max(1);
        let setup = |error: wasmtime::Error| EngineError::Setup {
            concurrency,
            problem: format!("{error:#}"),
        };
        let deciding = Room::of_deciders(&limits, concurrency, guest_memory);
        let looking_on = Room::of_shadows(&limits, concurrency, guest_memory);
        let calls = deciding.calls + looking_on.calls;
        let wasmtime = wasmtime::Engine::new(&config(&limits, calls)).map_err(setup)?;
        let track = v0_1::Track::new(&wasmtime).map_err(setup)?;
        let ticker = Ticker::start(&wasmtime).map_err(EngineError::Ticker)?;
        Ok(Self {
            inner: Arc::new(Inner {
                wasmtime,
                limits,
                deciding,
                looking_on,
                track,
                compiler,
                _ticker: ticker,
            }),
        })
    }

    /// How many calls of modules that decide it takes at the same time.
    pub fn concurrency(&self) -> usize {
        self.inner.deciding.calls
    }

    /// Bytes of memory that all of them may have together.
    pub fn guest_memory(&self) -> u64 {
        self.inner.deciding.memory
    }

    /// Identity of the engine, as far as fuel depends on it: equal where the same machine code runs under the same version.
    pub fn id(&self) -> String {
        let code = self.inner.wasmtime.precompile_compatibility_hash();
        format!("wasmtime-{:016x}", hash_of(&code))
    }
}

impl Inner {
    /// Where calls of that duty find their places.
    pub(crate) fn room(&self, duty: Duty) -> &Room {
        match duty {
            Duty::Decides => &self.deciding,
            Duty::LooksOn => &self.looking_on,
        }
    }
}

/// The engine's configuration, with its pool.
fn config(limits: &Limits, concurrency: usize) -> Config {
    let mut config = code_config(limits.memory_ceiling);
    let pool = InstanceAllocationStrategy::Pooling(pool(limits, concurrency));
    config.allocation_strategy(pool);
    config
}

/// Settings that decide on machine code: the same for the compiling process and for the running one.
pub(crate) fn code_config(memory_ceiling: usize) -> Config {
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
        .memory_reservation(memory_ceiling as u64)
        .memory_guard_size(0)
        .memory_init_cow(true);
    config
}

/// Bytes of a memory that are cleared by hand after a call instead of being given back to the system. Above the memory
/// that policies start with, so that a call of ordinary size makes no system call for its memory.
const KEEP_RESIDENT: usize = 1 << 20;

/// Instances ready to use: a call costs a reset of the memory it touched instead of a mapping.
fn pool(limits: &Limits, concurrency: usize) -> PoolingAllocationConfig {
    let components = u32::try_from(concurrency).unwrap_or(u32::MAX);
    // As many as one component may have: what the gates accept finds a place, whatever else runs.
    let cores = components.saturating_mul(8);
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
