//! The life of one call: a new store with its limits, the deadline armed, an instance, fuel, the call, and the books.
//!
//! Everything here is the same for every interface version and hook; what differs is the closure that calls.

use std::time::{Duration, Instant};

use wasmtime::{
    AsContextMut, PoolConcurrencyLimitError, ResourceLimiter, Store, StoreContextMut, Trap,
    UpdateDeadline,
};

use crate::clock::thread_cpu_time;
use crate::limits::Limits;
use crate::outcome::{Called, Fault, LogLevel, LogLine, Outcome};
use crate::text;

/// Fuel charged for a log line, besides one for each byte.
const LOG_FUEL: u64 = 2_000;
/// Calls of `log` after which a module is stopped.
const LOG_CALLS: u32 = 1_000;
/// Lines kept of a call.
const LOG_LINES: usize = 64;
/// Words of the engine for growth that it had asked about and that could not be had.
const GROWTH_FAILED: &str = "Memory maximum size exceeded";
/// Bytes kept of the lines of a call.
const LOG_BYTES: usize = 8 << 10;

/// State that the host keeps beside a running instance.
pub(crate) struct State {
    memory_limit: usize,
    /// Bytes of all linear memories of the instance.
    memory_used: usize,
    memory_peak: usize,
    memory_denied: bool,
    /// Bytes used, and the most there had been, before the growth that was allowed last.
    memory_before: (usize, usize),
    table_limit: usize,
    /// The wall net caught a call that had CPU time left.
    starved: bool,
    log: Vec<LogLine>,
    log_bytes: usize,
    log_calls: u32,
}

/// Limits of one call, worked out for its question.
pub(crate) struct Budget<'a> {
    pub(crate) limits: &'a Limits,
    pub(crate) cpu: Duration,
    pub(crate) wall: Duration,
    pub(crate) fuel: u64,
    /// Rows that the fuel is for.
    pub(crate) rows: usize,
    pub(crate) memory: usize,
    pub(crate) answer_bytes: usize,
}

/// End of a call without an answer: the module's own words, or the reason why it could not finish.
pub(crate) enum Stopped {
    Declined { code: u16, message: String },
    Failed(wasmtime::Error),
}

impl From<wasmtime::Error> for Stopped {
    fn from(error: wasmtime::Error) -> Self {
        Self::Failed(error)
    }
}

/// Runs one call in a store of its own.
pub(crate) fn run<I, T>(
    engine: &wasmtime::Engine,
    budget: &Budget<'_>,
    instantiate: impl FnOnce(&mut Store<State>) -> wasmtime::Result<I>,
    call: impl FnOnce(&mut Store<State>, &I) -> Result<T, Stopped>,
) -> Called<T> {
    let limits = budget.limits;
    let mut store = Store::new(engine, State::new(budget.memory, limits.table_elements));
    store.limiter(|state| state);
    store.set_hostcall_fuel(budget.answer_bytes);
    arm_deadline(&mut store, budget.cpu, budget.wall);

    let mut fuel_left = budget.fuel;
    let result =
        start(&mut store, limits.fuel_start, budget.fuel, instantiate).and_then(|instance| {
            let result = call(&mut store, &instance);
            fuel_left = store.get_fuel().unwrap_or_default();
            result
        });
    let result = result.map_err(|stopped| fault(stopped, store.data(), budget));
    let state = store.into_data();
    let kept = u32::try_from(state.log.len()).unwrap_or(u32::MAX);
    Called {
        result,
        fuel: budget.fuel - fuel_left,
        memory_peak: state.memory_peak,
        log_dropped: state.log_calls.saturating_sub(kept),
        log: state.log,
    }
}

/// Instantiates on an allowance of its own, then sets the fuel of the call.
fn start<I>(
    store: &mut Store<State>,
    start: u64,
    fuel: u64,
    instantiate: impl FnOnce(&mut Store<State>) -> wasmtime::Result<I>,
) -> Result<I, Stopped> {
    store.set_fuel(start)?;
    let instance = instantiate(store)?;
    store.set_fuel(fuel)?;
    Ok(instance)
}

/// Deadlines count CPU time; the wall net is for a machine that gives none.
fn arm_deadline(store: &mut Store<State>, cpu: Duration, wall: Duration) {
    let (cpu_at_start, wall_at_start) = (thread_cpu_time(), Instant::now());
    store.set_epoch_deadline(1);
    store.epoch_deadline_callback(move |mut store| {
        let late = thread_cpu_time().saturating_sub(cpu_at_start) >= cpu;
        let starved = !late && wall_at_start.elapsed() >= wall;
        store.data_mut().starved = starved;
        Ok(if late || starved {
            UpdateDeadline::Interrupt
        } else {
            UpdateDeadline::Continue(1)
        })
    });
}

/// Takes a log line, charges for it, and stops a module that floods.
pub(crate) fn log(
    mut store: StoreContextMut<'_, State>,
    level: LogLevel,
    message: &str,
) -> wasmtime::Result<()> {
    let bytes = u64::try_from(message.len()).unwrap_or(u64::MAX);
    let left = store
        .get_fuel()?
        .checked_sub(LOG_FUEL.saturating_add(bytes));
    store.as_context_mut().set_fuel(left.unwrap_or_default())?;
    if left.is_none() {
        return Err(Trap::OutOfFuel.into());
    }
    let state = store.data_mut();
    state.log_calls += 1;
    if state.log_calls > LOG_CALLS {
        return Err(wasmtime::Error::new(LogFlood));
    }
    let message = text::clean(message, text::MESSAGE);
    if state.log.len() < LOG_LINES && state.log_bytes + message.len() <= LOG_BYTES {
        state.log_bytes += message.len();
        state.log.push(LogLine { level, message });
    }
    Ok(())
}

#[derive(Debug, thiserror::Error)]
#[error("the module left more than {LOG_CALLS} log lines in one call")]
struct LogFlood;

/// Sorts what stopped a call into its class, with the sentence people read.
fn fault(stopped: Stopped, state: &State, budget: &Budget<'_>) -> Fault {
    let error = match stopped {
        Stopped::Declined { code, message } => {
            let message = text::clean(&message, text::MESSAGE);
            let sentence = format!("the module declined (code {code}): {message}");
            return Fault {
                outcome: Outcome::PolicyError,
                sentence,
            };
        }
        Stopped::Failed(error) => error,
    };
    let trap = error.downcast_ref::<Trap>().copied();
    let (outcome, sentence) = match trap {
        Some(Trap::OutOfFuel) => (Outcome::Fuel, out_of_fuel(budget)),
        Some(Trap::Interrupt) if state.starved => (
            Outcome::Saturated,
            format!(
                "the machine gave the module too little time: {} ms went by",
                budget.wall.as_millis()
            ),
        ),
        Some(Trap::Interrupt) => (
            Outcome::Deadline,
            format!(
                "the module took more than {} ms of CPU time",
                budget.cpu.as_millis()
            ),
        ),
        _ if state.memory_denied => {
            let mib = state.memory_limit >> 20;
            (
                Outcome::Memory,
                format!("the module failed after it asked for more than {mib} MiB of memory"),
            )
        }
        Some(Trap::StackOverflow) => (
            Outcome::Trap,
            String::from("the module called itself too deeply"),
        ),
        Some(trap) => (Outcome::Trap, trap_sentence(trap, state)),
        None if error.is::<LogFlood>() => (Outcome::Trap, error.to_string()),
        None if error.is::<PoolConcurrencyLimitError>() => (
            Outcome::Saturated,
            String::from("all places for policy instances were taken"),
        ),
        None => {
            let cause = text::clean(&format!("{error:#}"), text::MESSAGE);
            (
                Outcome::InvalidOutput,
                format!("the module's answer cannot be read: {cause}"),
            )
        }
    };
    Fault { outcome, sentence }
}

/// The limit, and the way to more of it.
fn out_of_fuel(budget: &Budget<'_>) -> String {
    let Budget { fuel, rows, .. } = budget;
    if *rows == 0 {
        return format!("the module used up its fuel, all of the {fuel}");
    }
    let way_out = if *fuel >= budget.limits.fuel_ceiling {
        "it is the most that any call may have"
    } else {
        "its manifest may ask for more with fuel_per_row"
    };
    format!(
        "the module used up its fuel, all of the {fuel} for a question of {rows} rows; {way_out}"
    )
}

/// A panic leaves its message as the last line of level error.
fn trap_sentence(trap: Trap, state: &State) -> String {
    match state
        .log
        .iter()
        .rev()
        .find(|line| line.level == LogLevel::Error)
    {
        Some(line) => format!("the module stopped: {}", line.message),
        None => format!(
            "the module stopped: {}",
            trap.to_string().trim_start_matches("wasm trap: ")
        ),
    }
}

impl State {
    fn new(memory_limit: usize, table_limit: usize) -> Self {
        Self {
            memory_limit,
            memory_used: 0,
            memory_peak: 0,
            memory_denied: false,
            memory_before: (0, 0),
            table_limit,
            starved: false,
            log: Vec::new(),
            log_bytes: 0,
            log_calls: 0,
        }
    }
}

impl ResourceLimiter for State {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        // The module forbids it itself; it is asked about all the same, and would not happen.
        if maximum.is_some_and(|maximum| desired > maximum) {
            return Ok(false);
        }
        // A component may have two memories: the limit is about what they have together.
        let used = self
            .memory_used
            .saturating_add(desired.saturating_sub(current));
        if used > self.memory_limit {
            self.memory_denied = true;
            return Ok(false);
        }
        self.memory_before = (self.memory_used, self.memory_peak);
        self.memory_used = used;
        self.memory_peak = self.memory_peak.max(used);
        Ok(true)
    }

    /// Takes back growth that was allowed and did not happen. Growth that no memory can have fails without being asked about, and must
    /// not count: a module could have what it got taken off the books. Only errors that are known to follow an answer do.
    fn memory_grow_failed(&mut self, error: wasmtime::Error) -> wasmtime::Result<()> {
        if error.is::<std::io::Error>() || error.to_string() == GROWTH_FAILED {
            (self.memory_used, self.memory_peak) = self.memory_before;
        }
        Ok(())
    }

    // Tables are not added up: growth that fails leaves nothing to take back.
    fn table_growing(
        &mut self,
        _current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        Ok(desired <= self.table_limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_that_did_not_happen_is_taken_back_and_growth_that_was_not_asked_about_is_not() {
        let mut state = State::new(100, 10);
        let grows = |state: &mut State, current, desired| {
            state.memory_growing(current, desired, Some(90)).unwrap()
        };
        assert!(grows(&mut state, 0, 60));
        assert!(!grows(&mut state, 60, 95), "more than its own maximum");
        assert!(!state.memory_denied);
        assert!(grows(&mut state, 60, 80));
        let failed = |words: &'static str| wasmtime::Error::msg(words);
        state.memory_grow_failed(failed(GROWTH_FAILED)).unwrap();
        assert_eq!((state.memory_used, state.memory_peak), (60, 60));
        let impossible = "memory growth exceeds memory type's limits";
        state.memory_grow_failed(failed(impossible)).unwrap();
        assert_eq!(state.memory_used, 60);
    }

    #[test]
    fn the_limit_of_memory_is_about_all_memories_of_an_instance_together() {
        let mut state = State::new(100, 10);
        let mut grows = |current, desired| state.memory_growing(current, desired, None).unwrap();
        assert!(grows(0, 60));
        assert!(!grows(0, 50), "a second memory");
        assert!(grows(60, 80));
        assert!(grows(0, 20));
        assert!(!grows(20, 21));
        assert_eq!((state.memory_peak, state.memory_denied), (100, true));
    }
}
