//! The shape gate: one pass over the sections, before validation and compilation, against modules that are small,
//! valid and a bomb for a compiler.
//!
//! Limits are far above what Rust, C and JavaScript modules have. The pass reads each byte once, follows no reference,
//! and remembers nothing but counts.

use wasmparser::{BinaryReaderError, Encoding, FunctionBody, Operator, Parser, Payload};

use crate::gate::Refusal;

/// Components within components.
const NESTING: u64 = 1;
/// Instantiations of core modules and components.
const INSTANCES: u64 = 8;
/// Locals of a function, parameters apart.
const LOCALS: u64 = 512;
/// Bytes of a function body.
const BODY: u64 = 256 << 10;
/// Targets of all `br_table`s of a function.
const TARGETS: u64 = 2_000;
/// Types of components and instances that are declared within others. A reader calls itself for each level of them, so that a few
/// kilobytes of them end the process for want of stack.
const NESTED_TYPES: u64 = 64;
/// Functions of all core modules together.
const FUNCTIONS: u64 = 65_536;

/// Counts of a component's core modules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Shape {
    /// Functions of all core modules.
    pub(crate) functions: u64,
    /// Bytes of the longest body.
    pub(crate) longest: u64,
}

/// Refuses what is no component, and what a compiler should not be given.
pub(crate) fn check_shape(bytes: &[u8]) -> Result<Shape, Refusal> {
    check_header(bytes)?;
    let mut depth: u64 = 0;
    let mut stack = Vec::new();
    let mut instances: u64 = 0;
    let mut shape = Shape::default();
    for payload in Parser::new(0).parse_all(bytes) {
        match payload.map_err(|error| invalid(&error))? {
            Payload::ModuleSection { .. } => stack.push(Encoding::Module),
            Payload::ComponentSection { .. } => {
                stack.push(Encoding::Component);
                depth += 1;
                at_most("levels of components", String::new(), depth, NESTING)?;
            }
            Payload::End(_) => {
                let ended = stack.pop();
                depth -= u64::from(ended == Some(Encoding::Component));
            }
            Payload::InstanceSection(section) => {
                if depth > 0 {
                    at_most(
                        "core instances inside a nested component",
                        String::new(),
                        section.count().into(),
                        0,
                    )?;
                }
                instances += u64::from(section.count());
                at_most("instantiations", String::new(), instances, INSTANCES)?;
            }
            Payload::ComponentInstanceSection(section) => {
                instances += u64::from(section.count());
                at_most("instantiations", String::new(), instances, INSTANCES)?;
            }
            Payload::ComponentTypeSection(section) => {
                let nested = nested_types(&bytes[section.range()]);
                at_most("types within types", String::new(), nested, NESTED_TYPES)?;
            }
            Payload::CodeSectionEntry(body) => {
                check_body(&body, shape.functions)?;
                shape.functions += 1;
                shape.longest = shape.longest.max(body.range().len() as u64);
                at_most("functions", String::new(), shape.functions, FUNCTIONS)?;
            }
            _ => {}
        }
    }
    Ok(shape)
}

fn check_header(bytes: &[u8]) -> Result<(), Refusal> {
    let found = if bytes.is_empty() {
        "empty"
    } else if Parser::is_component(bytes) {
        return Ok(());
    } else if Parser::is_core_wasm(bytes) {
        "a core module"
    } else {
        "something else"
    };
    Err(Refusal::NotAComponent { found })
}

/// At least as many types as are declared within others in these bytes: each such declaration is a 1, and the type that follows
/// begins with 0x41 or 0x42. To count them exactly a reader would have to follow them, which is what must not happen.
fn nested_types(section: &[u8]) -> u64 {
    let pairs = section.windows(2);
    pairs
        .filter(|pair| matches!(pair, [1, 0x41 | 0x42]))
        .count() as u64
}

fn check_body(body: &FunctionBody<'_>, function: u64) -> Result<(), Refusal> {
    let place = || format!(" in function {function}");
    at_most("bytes of code", place(), body.range().len() as u64, BODY)?;
    let mut locals = 0_u64;
    let mut targets = 0_u64;
    let reader = body.get_locals_reader().map_err(|error| invalid(&error))?;
    for group in reader {
        let (count, _) = group.map_err(|error| invalid(&error))?;
        locals += u64::from(count);
    }
    at_most("locals", place(), locals, LOCALS)?;
    let operators = body
        .get_operators_reader()
        .map_err(|error| invalid(&error))?;
    for operator in operators {
        if let Operator::BrTable { targets: table } = operator.map_err(|error| invalid(&error))? {
            targets += u64::from(table.len());
            at_most("branch table targets", place(), targets, TARGETS)?;
        }
    }
    Ok(())
}

fn at_most(what: &'static str, place: String, found: u64, limit: u64) -> Result<(), Refusal> {
    if found <= limit {
        Ok(())
    } else {
        Err(Refusal::Shape {
            what,
            place,
            found,
            limit,
        })
    }
}

pub(crate) fn invalid(error: &BinaryReaderError) -> Refusal {
    Refusal::Invalid {
        problem: crate::text::clean(error.message(), crate::text::NAME),
        offset: error.offset(),
    }
}
