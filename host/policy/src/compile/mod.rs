//! Machine code of modules: made here, or by a child process of our own program that can be ended.
//!
//! Compilation in this process cannot be cancelled, and small valid modules can keep a compiler busy for minutes and fill gigabytes.
//! The shape of a module is looked at first; the child is what holds when that was not enough. Bytes go in on its standard input,
//! machine code comes out on its standard output, and only what came through that pipe is ever run: there is no cache on disk.

mod child;
mod parent;

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

use wasmtime::component::Component;

pub use child::{CompileError, compile_for_parent};

use crate::engine::Inner;
use crate::gate::Refusal;
use crate::text;

/// Who makes machine code of modules.
#[derive(Debug, Clone)]
pub enum Compiler {
    /// This process: for modules that were built beside it, and for tests.
    Here,
    /// A process of our own that is started for each module.
    Child(Helper),
}

/// How the child is started: a program that calls [`compile_for_parent`] when it is given these arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Helper {
    /// The program, usually this one.
    pub program: PathBuf,
    /// Arguments of the program.
    pub arguments: Vec<OsString>,
}

impl Helper {
    /// A program that needs no arguments.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            arguments: Vec::new(),
        }
    }
}

impl Compiler {
    /// Makes machine code of a module that has passed the steps before.
    pub(crate) fn compile(&self, inner: &Inner, bytes: &[u8]) -> Result<Component, Refusal> {
        match self {
            Self::Here => {
                Component::from_binary(&inner.wasmtime, bytes).map_err(|error| refused(&error))
            }
            Self::Child(helper) => {
                let code = parent::ask(helper, &inner.limits, bytes)?;
                load(&inner.wasmtime, &code)
            }
        }
    }
}

impl fmt::Display for Compiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Here => "compiled in this process",
            Self::Child(_) => "compiled in a process of its own",
        })
    }
}

/// Takes machine code from the child.
#[expect(
    unsafe_code,
    reason = "machine code is run as it is; these bytes came through the pipe of a process that is this very program"
)]
fn load(engine: &wasmtime::Engine, code: &[u8]) -> Result<Component, Refusal> {
    // SAFETY: `code` was written by `compile_for_parent` of our own program, started by us, into a pipe that no other process holds.
    unsafe { Component::deserialize(engine, code) }.map_err(|error| refused(&error))
}

fn refused(error: &wasmtime::Error) -> Refusal {
    Refusal::Compile {
        problem: text::clean(&format!("{error:#}"), text::MESSAGE),
    }
}
