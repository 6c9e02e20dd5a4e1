//! Components that are small or cheap to write, and that must not be parsed to the end or compiled.

use std::borrow::Cow;

use wasm_encoder::{
    CodeSection, Component, Function, FunctionSection, Instruction, Module, ModuleSection,
    RawSection, TypeSection, ValType,
};

/// Components that a compiler should not be given, by name.
pub(crate) fn bombs() -> Vec<(&'static str, Vec<u8>)> {
    let mut locals = Function::new([(60_000, ValType::I64)]);
    locals.instruction(&Instruction::End);
    let mut long = Function::new([]);
    for _ in 0..300 << 10 {
        long.instruction(&Instruction::Nop);
    }
    long.instruction(&Instruction::End);
    let mut branches = Function::new([]);
    let targets = vec![0; 1_500];
    for _ in 0..2 {
        branches.instruction(&Instruction::LocalGet(0));
        branches.instruction(&Instruction::BrTable(Cow::Borrowed(&targets), 0));
    }
    branches.instruction(&Instruction::End);
    let mut empty = Function::new([]);
    empty.instruction(&Instruction::End);
    vec![
        ("many-locals", component_of(&locals, 1)),
        ("long-function", component_of(&long, 1)),
        ("many-branches", component_of(&branches, 1)),
        ("many-functions", component_of(&empty, 70_000)),
        ("deep-type", deep_type()),
        ("deep-lists", deep_lists()),
        ("doubling-tuples", doubling_tuples()),
        ("many-instances", many_instances()),
        ("nested-components", nested_components()),
    ]
}

/// One core module inside a component, with that many functions of this body.
fn component_of(body: &Function, count: usize) -> Vec<u8> {
    let mut types = TypeSection::new();
    types.ty().function([ValType::I32; 1], []);
    let (mut functions, mut code) = (FunctionSection::new(), CodeSection::new());
    for _ in 0..count {
        functions.function(0);
        code.function(body);
    }
    let mut module = Module::new();
    module.section(&types).section(&functions).section(&code);
    let mut component = Component::new();
    component.section(&ModuleSection(&module));
    component.finish()
}

/// A component with one section of types, as bytes.
fn types(count: u32, types: &[u8]) -> Vec<u8> {
    let mut contents = leb(count);
    contents.extend_from_slice(types);
    let mut component = Component::new();
    component.section(&RawSection {
        id: 7,
        data: &contents,
    });
    component.finish()
}

fn leb(mut number: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number > 0x7f {
        bytes.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    bytes.push(number.to_le_bytes()[0]);
    bytes
}

/// A type of components of a type of components of..., ten thousand levels.
fn deep_type() -> Vec<u8> {
    let mut nested = [0x41, 1, 1].repeat(10_000);
    nested.extend_from_slice(&[0x41, 0]);
    types(1, &nested)
}

/// Lists of lists of..., each of the one before it.
fn deep_lists() -> Vec<u8> {
    let count = 50_000;
    let mut lists = vec![0x70, 0x7d];
    for before in 0..count - 1 {
        lists.push(0x70);
        lists.extend(leb(before));
    }
    types(count, &lists)
}

/// Pairs of pairs of...: two to the sixtieth numbers.
fn doubling_tuples() -> Vec<u8> {
    let count = 60;
    let mut pairs = vec![0x6f, 2, 0x7d, 0x7d];
    for before in 0..count - 1 {
        pairs.extend_from_slice(&[0x6f, 2]);
        pairs.extend(leb(before));
        pairs.extend(leb(before));
    }
    types(count, &pairs)
}

/// An empty core module, instantiated nine times.
fn many_instances() -> Vec<u8> {
    let mut component = Component::new();
    component.section(&ModuleSection(&Module::new()));
    let mut instances = leb(9);
    instances.extend([0, 0, 0].repeat(9));
    component.section(&RawSection {
        id: 2,
        data: &instances,
    });
    component.finish()
}

/// A component in a component in..., nine of them, around nothing.
fn nested_components() -> Vec<u8> {
    let empty = Component::new().finish();
    (0..8).fold(empty, |inner, _| {
        let mut outer = Component::new();
        outer.section(&RawSection {
            id: 4,
            data: &inner,
        });
        outer.finish()
    })
}
