//! Modules made instruction by instruction, for what no compiler writes: work at the start, answers that lie about where
//! they are and how long they are, and functions that are dear to compile.

use std::borrow::Cow;

use wasm_encoder::{
    BlockType, CodeSection, Component, ConstExpr, DataSection, ExportKind, ExportSection, Function,
    FunctionSection, GlobalSection, GlobalType, Instruction, MemorySection, MemoryType, Module,
    ModuleSection, StartSection, TypeSection, ValType,
};

/// What the rankers among them say of themselves.
pub(crate) const MANIFEST: &[u8] = br#"{"name": "handmade", "version": "1.0.0", "hook": "rank"}"#;
/// Where the answer about settings lies: zeros, which say that nothing is wrong.
const AGREED: i32 = 64;
/// Where the prices lie: the lists of six columns, as address and length.
const PRICES: i32 = 128;
/// First byte that is handed out.
const HEAP: i32 = 4_096;
/// Pages of memory, 64 KiB each.
const PAGES: u64 = 16;

/// Core modules with the exports of a ranker, by name.
pub(crate) fn rankers() -> Vec<(&'static str, Vec<u8>)> {
    let forever = [
        Instruction::Loop(BlockType::Empty),
        Instruction::Br(0),
        Instruction::End,
    ];
    let heap = HEAP.unsigned_abs();
    vec![
        ("start-loops", ranker(0, 0, &forever)),
        ("start-traps", ranker(0, 0, &[Instruction::Unreachable])),
        ("list-of-4g", ranker(heap, u32::MAX, &[])),
        ("list-outside", ranker(u32::MAX - 7, 18, &[])),
        ("list-unaligned", ranker(heap + 1, 18, &[])),
        ("list-short", ranker(heap, 17, &[])),
    ]
}

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
    vec![
        ("many-locals", component_of(&locals)),
        ("long-function", component_of(&long)),
        ("many-branches", component_of(&branches)),
    ]
}

/// One core module inside a component, with a function of this body.
fn component_of(body: &Function) -> Vec<u8> {
    let mut types = TypeSection::new();
    types.ty().function([ValType::I32; 1], []);
    let (mut functions, mut code) = (FunctionSection::new(), CodeSection::new());
    functions.function(0);
    code.function(body);
    let mut module = Module::new();
    module.section(&types).section(&functions).section(&code);
    let mut component = Component::new();
    component.section(&ModuleSection(&module));
    component.finish()
}

/// A function of these parameters that returns one number.
fn returns(function: &mut FunctionSection, code: &mut CodeSection, kind: u32, number: i32) {
    function.function(kind);
    let mut body = Function::new([]);
    body.instruction(&Instruction::I32Const(number));
    body.instruction(&Instruction::End);
    code.function(&body);
}

/// Hands out memory from a rising mark, eight bytes at a time.
fn realloc() -> Function {
    let mut body = Function::new([]);
    for instruction in [
        Instruction::GlobalGet(0),
        Instruction::GlobalGet(0),
        Instruction::LocalGet(3),
        Instruction::I32Const(7),
        Instruction::I32Add,
        Instruction::I32Const(-8),
        Instruction::I32And,
        Instruction::I32Add,
        Instruction::GlobalSet(0),
        Instruction::End,
    ] {
        body.instruction(&instruction);
    }
    body
}

/// A core module whose every price column is the list (`address`, `length`), and which runs `start` when it starts.
fn ranker(address: u32, length: u32, start: &[Instruction<'_>]) -> Vec<u8> {
    let mut types = TypeSection::new();
    types.ty().function([], []);
    types.ty().function([ValType::I32; 1], [ValType::I32]);
    types.ty().function([ValType::I32; 2], [ValType::I32]);
    types.ty().function([ValType::I32; 4], [ValType::I32]);

    let (mut functions, mut code) = (FunctionSection::new(), CodeSection::new());
    functions.function(3);
    code.function(&realloc());
    returns(&mut functions, &mut code, 2, AGREED);
    for _ in 0..4 {
        returns(&mut functions, &mut code, 1, PRICES);
    }
    functions.function(0);
    let mut body = Function::new([]);
    for instruction in start {
        body.instruction(instruction);
    }
    body.instruction(&Instruction::End);
    code.function(&body);

    let mut exports = ExportSection::new();
    exports.export("memory", ExportKind::Memory, 0);
    exports.export("cabi_realloc", ExportKind::Func, 0);
    let validate = "plimsoll:policy/configure@0.1.0#validate-settings";
    exports.export(validate, ExportKind::Func, 1);
    for (function, index) in ["price", "order", "explain-price", "explain-order"]
        .iter()
        .zip(2..)
    {
        let name = format!("plimsoll:policy/ranker@0.1.0#{function}");
        exports.export(&name, ExportKind::Func, index);
    }

    let mut memories = MemorySection::new();
    memories.memory(MemoryType {
        minimum: PAGES,
        maximum: Some(PAGES),
        memory64: false,
        shared: false,
        page_size_log2: None,
    });
    let mut globals = GlobalSection::new();
    let mark = GlobalType {
        val_type: ValType::I32,
        mutable: true,
        shared: false,
    };
    globals.global(mark, &ConstExpr::i32_const(HEAP));
    let column = [address.to_le_bytes(), length.to_le_bytes()].concat();
    let mut data = DataSection::new();
    data.active(0, &ConstExpr::i32_const(PRICES + 4), column.repeat(6));

    let mut module = Module::new();
    module
        .section(&types)
        .section(&functions)
        .section(&memories)
        .section(&globals)
        .section(&exports)
        .section(&StartSection { function_index: 6 })
        .section(&code)
        .section(&data);
    module.finish()
}
