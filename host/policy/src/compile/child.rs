//! The child's part: it limits itself, then compiles what stands on its standard input.
//!
//! The order of the parent comes first and has a fixed length, so that limits hold before any byte of a module is read.

use std::io::{self, Read, Write};

use rustix::process::{Resource, Rlimit, setrlimit};
use thiserror::Error;

use crate::engine::code_config;
use crate::limits::Limits;

/// Limits of one compilation, sent by the parent ahead of the module's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Order {
    /// Ceiling of a module's memory: machine code depends on it.
    pub(super) memory_ceiling: u64,
    /// Seconds of CPU time.
    pub(super) cpu_seconds: u64,
    /// Bytes of address space.
    pub(super) memory: u64,
}

impl Order {
    pub(super) const BYTES: usize = 24;

    /// For a module of so many bytes.
    pub(super) fn of(limits: &Limits, module: usize) -> Self {
        let compiling = limits.compiling(module);
        Self {
            memory_ceiling: limits.memory_ceiling as u64,
            cpu_seconds: compiling.cpu.as_secs().max(1),
            memory: compiling.memory,
        }
    }

    pub(super) fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        let fields = [self.memory_ceiling, self.cpu_seconds, self.memory];
        for (place, field) in bytes.chunks_exact_mut(8).zip(fields) {
            place.copy_from_slice(&field.to_le_bytes());
        }
        bytes
    }

    fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        let mut fields = bytes.chunks_exact(8).map(|field| {
            let field = <[u8; 8]>::try_from(field).expect("chunks have 8 bytes");
            u64::from_le_bytes(field)
        });
        let mut next = || fields.next().expect("an order has three fields");
        Self {
            memory_ceiling: next(),
            cpu_seconds: next(),
            memory: next(),
        }
    }

    /// Limits this process, for good. No core is left behind: it would hold the module and gigabytes.
    fn apply(self) -> io::Result<()> {
        let both = |limit| Rlimit {
            current: Some(limit),
            maximum: Some(limit),
        };
        setrlimit(Resource::Core, both(0))?;
        setrlimit(Resource::As, both(self.memory))?;
        let cpu = Rlimit {
            current: Some(self.cpu_seconds),
            maximum: Some(self.cpu_seconds.saturating_add(1)),
        };
        setrlimit(Resource::Cpu, cpu)?;
        // Where memory gets scarce this process should go first. Elsewhere than on Linux there is no such file, and no need.
        let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
        Ok(())
    }
}

/// Why the child gave no machine code.
#[derive(Debug, Error)]
pub enum CompileError {
    /// Not started by a parent, or left by it.
    #[error("the order of the parent cannot be read")]
    Order(#[source] io::Error),
    /// The limits could not be set.
    #[error("the limits of this process cannot be set")]
    Limits(#[source] io::Error),
    /// The compiler refused the module.
    #[error("{0}")]
    Refused(String),
    /// The parent does not listen.
    #[error("the machine code cannot be passed on")]
    Answer(#[source] io::Error),
}

/// Compiles for the process that started this one: an order and a module on `input`, machine code on `output`.
///
/// Limits the whole process and is meant to be all that it does.
pub fn compile_for_parent(
    mut input: impl Read,
    mut output: impl Write,
) -> Result<(), CompileError> {
    let mut order = [0; Order::BYTES];
    input.read_exact(&mut order).map_err(CompileError::Order)?;
    let order = Order::from_bytes(order);
    order.apply().map_err(CompileError::Limits)?;
    let mut module = Vec::new();
    input
        .read_to_end(&mut module)
        .map_err(CompileError::Order)?;
    let refused = |error: wasmtime::Error| CompileError::Refused(format!("{error:#}"));
    let ceiling = usize::try_from(order.memory_ceiling).unwrap_or(usize::MAX);
    let engine = wasmtime::Engine::new(&code_config(ceiling)).map_err(refused)?;
    let code = engine.precompile_component(&module).map_err(refused)?;
    output
        .write_all(&code)
        .and_then(|()| output.flush())
        .map_err(CompileError::Answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_arrives_as_it_was_sent() {
        let order = Order {
            memory_ceiling: 128 << 20,
            cpu_seconds: 20,
            memory: u64::MAX,
        };
        assert_eq!(Order::from_bytes(order.to_bytes()), order);
    }

    #[test]
    fn a_child_without_an_order_limits_nothing_and_says_so() {
        let error = compile_for_parent(&b"short"[..], Vec::new()).unwrap_err();
        assert_eq!(error.to_string(), "the order of the parent cannot be read");
    }
}
