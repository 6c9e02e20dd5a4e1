//! Limits of one call of a module. The numbers are the defaults of the interface contract.

use std::time::Duration;

use crate::manifest::Hook;

/// Most bytes of a component that says what it has to in machine code of its own.
const ORDINARY: usize = 1 << 20;
/// Most bytes of a component where those are let in that carry an interpreter.
const LARGE: usize = 32 << 20;

/// How many times lower the limits are under which shadows are asked beside a cluster: fuel, CPU time and wall time of a call, calls at a time, and the
/// memory of all of them together. What one call has of memory stays, since a module that gets less cannot be asked at all.
pub const SHADOW_SHARE: u32 = 2;

/// For what a module is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Duty {
    /// Its answers are followed.
    #[default]
    Decides,
    /// Its answers are only compared with those that are followed.
    LooksOn,
}

impl Duty {
    /// By what its limits are divided.
    pub(crate) const fn share(self) -> u32 {
        match self {
            Self::Decides => 1,
            Self::LooksOn => SHADOW_SHARE,
        }
    }
}

/// Limits of modules and of their calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Most bytes of a component, after decompression.
    pub module_bytes: usize,
    /// Fuel of a call, before what its rows add.
    pub fuel_base: u64,
    /// Fuel that each row of the question adds, unless the manifest asks for more.
    pub fuel_per_row: u64,
    /// Most fuel of a call, whatever its size and whatever the manifest asks for.
    pub fuel_ceiling: u64,
    /// Fuel for instantiating, apart from the call: it differs by platform.
    pub fuel_start: u64,
    /// CPU time of a call for prices or an order.
    pub cpu_rank: Duration,
    /// CPU time of a call for values of moves.
    pub cpu_consolidate: Duration,
    /// CPU time of a call for allowances.
    pub cpu_budget: Duration,
    /// Wall time of a call; a net for a machine that gives no CPU time.
    pub wall: Duration,
    /// Linear memory of an instance, bytes, unless the manifest asks for more.
    pub memory: usize,
    /// Most linear memory of an instance, whatever the manifest asks for.
    pub memory_ceiling: usize,
    /// Elements of all tables of an instance.
    pub table_elements: usize,
    /// Bytes a call may return besides what its rows need.
    pub answer_slack: usize,
    /// How long a call waits for a place among the concurrent calls.
    pub wait: Duration,
    /// Limits of compiling a module of at most a mebibyte.
    pub compile: CompileLimits,
    /// Limits of compiling a larger one, where such are let in.
    pub compile_large: CompileLimits,
    /// Limits of the self-test of a module.
    pub self_test: SelfTestLimits,
}

/// Limits of one call, by its module and the rows of its question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallLimits {
    /// Fuel.
    pub fuel: u64,
    /// CPU time.
    pub cpu: Duration,
    /// Wall time.
    pub wall: Duration,
    /// Linear memory, bytes.
    pub memory: usize,
}

/// Limits of all vectors that a module carries; each of their calls is limited besides, as any call is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelfTestLimits {
    /// Bytes of the section.
    pub bytes: usize,
    /// Vectors.
    pub vectors: usize,
    /// Rows that they ask about.
    pub rows: usize,
    /// Numbers and texts of their questions once they are put together; a long text counts as several.
    pub values: usize,
    /// CPU time of reading and putting them.
    pub cpu: Duration,
}

/// Limits of compiling one module, where a process of its own does it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompileLimits {
    /// CPU time; counted in whole seconds, at least one.
    pub cpu: Duration,
    /// Wall time: a net for a process that does nothing.
    pub wall: Duration,
    /// Address space, bytes, the program itself included.
    pub memory: u64,
    /// Bytes of machine code.
    pub code: u64,
}

impl CompileLimits {
    /// A module that carries an engine for JavaScript takes some 20 s where the compiler is well optimised, 90 s where it is not, and 500 MB.
    const fn large() -> Self {
        Self {
            cpu: Duration::from_mins(3),
            wall: Duration::from_mins(10),
            memory: 2 << 30,
            code: 128 << 20,
        }
    }
}

impl Default for CompileLimits {
    /// Modules of the SDK take some 0.1 s and 100 MiB.
    fn default() -> Self {
        Self {
            cpu: Duration::from_secs(20),
            wall: Duration::from_mins(2),
            memory: 1 << 30,
            code: 64 << 20,
        }
    }
}

impl Default for SelfTestLimits {
    /// The suites of the policies that we ship have 1 to 6 vectors, 2 to 33 rows and 2 to 7 KB; what is asked about a whole catalogue is for
    /// a replay. The time is a quarter of what compiling may take.
    fn default() -> Self {
        Self {
            bytes: 256 << 10,
            vectors: 64,
            rows: 10_000,
            values: 250_000,
            cpu: Duration::from_secs(5),
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            module_bytes: ORDINARY,
            fuel_base: 10_000_000,
            fuel_per_row: 1_000,
            fuel_ceiling: 500_000_000,
            fuel_start: 10_000_000,
            cpu_rank: Duration::from_millis(100),
            cpu_consolidate: Duration::from_millis(250),
            cpu_budget: Duration::from_millis(20),
            wall: Duration::from_secs(2),
            memory: 32 << 20,
            memory_ceiling: 128 << 20,
            table_elements: 20_000,
            answer_slack: 64 << 10,
            wait: Duration::from_millis(20),
            compile: CompileLimits::default(),
            compile_large: CompileLimits::large(),
            self_test: SelfTestLimits::default(),
        }
    }
}

impl Limits {
    /// The same, and modules of up to 32 MiB are let in: those that carry an interpreter, such as modules in JavaScript.
    #[must_use]
    pub fn with_large_modules(self) -> Self {
        Self {
            module_bytes: LARGE,
            ..self
        }
    }

    /// `true` if a module is refused for its size although it would be let in where large ones are.
    pub(crate) const fn would_be_let_in(size: u64, limit: usize) -> bool {
        size <= LARGE as u64 && limit < LARGE
    }

    /// Limits of compiling a module of so many bytes.
    pub(crate) const fn compiling(&self, bytes: usize) -> &CompileLimits {
        if bytes <= ORDINARY {
            &self.compile
        } else {
            &self.compile_large
        }
    }

    /// CPU time of a call of that hook.
    pub const fn cpu(&self, hook: Hook) -> Duration {
        match hook {
            Hook::Rank => self.cpu_rank,
            Hook::Consolidate => self.cpu_consolidate,
            Hook::Budget => self.cpu_budget,
        }
    }

    /// Fuel of a call over `rows` rows, where the manifest asked for `asked` a row.
    pub fn fuel(&self, rows: usize, asked: Option<u64>) -> u64 {
        let per_row = asked.unwrap_or(self.fuel_per_row).max(self.fuel_per_row);
        let rows = u64::try_from(rows).unwrap_or(u64::MAX);
        self.fuel_base
            .saturating_add(per_row.saturating_mul(rows))
            .min(self.fuel_ceiling)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_module_may_use_of_the_compiler_goes_by_its_size() {
        let limits = Limits::default();
        assert_eq!(limits.compiling(1 << 20), &limits.compile);
        assert_eq!(limits.compiling((1 << 20) + 1), &limits.compile_large);
    }

    #[test]
    fn fuel_grows_with_rows_up_to_the_ceiling() {
        let limits = Limits::default();
        assert_eq!(limits.fuel(7_200, None), 17_200_000);
        assert_eq!(limits.fuel(7_200, Some(10)), 17_200_000);
        assert_eq!(limits.fuel(1_000, Some(12_000)), 22_000_000);
        assert_eq!(limits.fuel(usize::MAX, Some(u64::MAX)), limits.fuel_ceiling);
    }
}
