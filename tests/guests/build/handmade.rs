//! Policies made instruction by instruction, most of them rankers, for what no compiler writes: work at the start, answers that lie about where they are, how
//! long they are and what they are, and memory that is not where it was asked for.

use wasm_encoder::{
    BlockType, CodeSection, ConstExpr, DataSection, ElementSection, ExportKind, ExportSection,
    Function, FunctionSection, GlobalSection, GlobalType, HeapType, Instruction, MemorySection,
    MemoryType, Module, RefType, StartSection, TableSection, TableType, TypeSection, ValType,
};

/// A hook that they are for: what its manifest and its world are called by, its interface, and the functions of that.
#[derive(Clone, Copy)]
pub(crate) struct Hook {
    name: &'static str,
    adjective: &'static str,
    interface: &'static str,
    functions: &'static [&'static str],
}

const RANK: Hook = Hook {
    name: "rank",
    adjective: "ranking",
    interface: "ranker",
    functions: &["price", "order", "explain-price", "explain-order"],
};
const CONSOLIDATE: Hook = Hook {
    name: "consolidate",
    adjective: "consolidation",
    interface: "consolidator",
    functions: &["score", "explain"],
};
const BUDGET: Hook = Hook {
    name: "budget",
    adjective: "budget",
    interface: "budgeter",
    functions: &["allow", "explain"],
};

impl Hook {
    /// Their manifest.
    pub(crate) fn manifest(self) -> String {
        let name = self.name;
        format!(r#"{{"name": "handmade", "version": "1.0.0", "hook": "{name}"}}"#)
    }

    /// The world that they are encoded in.
    pub(crate) fn world(self) -> String {
        format!("{}-policy", self.adjective)
    }
}

/// Where the answer about settings lies: zeros, which say that nothing is wrong.
const AGREED: i32 = 64;
/// Where the prices lie: whether there are any, and the lists of six columns, as address and length.
const PRICES: i32 = 128;
/// First byte that is handed out.
const HEAP: i32 = 4_096;
/// Pages of memory, 64 KiB each.
const PAGES: u64 = 16;

/// A policy, as far as it differs from a ranker that gives everything away.
struct Handmade<'i> {
    /// The hook that it answers.
    hook: Hook,
    /// Where every column of its answer lies, and how many rows it has.
    column: (u32, u32),
    /// 0 for an answer, 1 where the module declines.
    declines: u32,
    /// Instructions of its start function.
    start: &'i [Instruction<'i>],
    /// Instructions before its answer.
    before: &'i [Instruction<'i>],
    /// Hands out memory.
    realloc: &'i [Instruction<'i>],
    /// Pages of memory at the start, and at most.
    pages: (u64, u64),
    /// Elements of its table.
    elements: u64,
}

/// Six columns of 18 zeros each: nothing costs anything.
const HONEST: Handmade<'static> = Handmade {
    hook: RANK,
    column: (HEAP.unsigned_abs(), 18),
    declines: 0,
    start: &[],
    before: &[],
    realloc: RISING,
    pages: (PAGES, PAGES),
    elements: 1,
};

/// Hands out memory from a rising mark, eight bytes at a time.
const RISING: &[Instruction<'_>] = &[
    Instruction::GlobalGet(0),
    Instruction::GlobalGet(0),
    Instruction::LocalGet(3),
    Instruction::I32Const(7),
    Instruction::I32Add,
    Instruction::I32Const(-8),
    Instruction::I32And,
    Instruction::I32Add,
    Instruction::GlobalSet(0),
];

/// Never ends.
const FOREVER: &[Instruction<'_>] = &[
    Instruction::Loop(BlockType::Empty),
    Instruction::Br(0),
    Instruction::End,
];

/// Makes its table larger until it is refused, then goes on.
const TABLE_GROWS: &[Instruction<'_>] = &[
    Instruction::Loop(BlockType::Empty),
    Instruction::RefNull(HeapType::FUNC),
    Instruction::I32Const(1_000),
    Instruction::TableGrow(0),
    Instruction::I32Const(-1),
    Instruction::I32Ne,
    Instruction::BrIf(0),
    Instruction::End,
];

/// Makes its memory larger until it is refused, then goes on.
const MEMORY_GROWS: &[Instruction<'_>] = &[
    Instruction::Loop(BlockType::Empty),
    Instruction::I32Const(16),
    Instruction::MemoryGrow(0),
    Instruction::I32Const(-1),
    Instruction::I32Ne,
    Instruction::BrIf(0),
    Instruction::End,
];

/// Makes its memory larger until it is refused, and between two steps asks for more than any memory may have.
const MEMORY_GROWS_BEYOND: &[Instruction<'_>] = &[
    Instruction::Loop(BlockType::Empty),
    Instruction::I32Const(65_535),
    Instruction::MemoryGrow(0),
    Instruction::Drop,
    Instruction::I32Const(16),
    Instruction::MemoryGrow(0),
    Instruction::I32Const(-1),
    Instruction::I32Ne,
    Instruction::BrIf(0),
    Instruction::End,
];

/// Asks twice for more memory than it says that it may have itself, and stops.
const TRAPS_AT_ITS_OWN_MAXIMUM: &[Instruction<'_>] = &[
    Instruction::I32Const(40),
    Instruction::MemoryGrow(0),
    Instruction::Drop,
    Instruction::I32Const(40),
    Instruction::MemoryGrow(0),
    Instruction::Drop,
    Instruction::Unreachable,
];

/// Stops.
const TRAP: &[Instruction<'_>] = &[Instruction::Unreachable];
/// Hands out what is outside, not aligned, and where other things are.
const OUTSIDE: &[Instruction<'_>] = &[Instruction::I32Const(-8)];
const UNALIGNED: &[Instruction<'_>] = &[Instruction::I32Const(HEAP + 1)];
const NOWHERE: &[Instruction<'_>] = &[Instruction::I32Const(0)];

type Instructions = &'static [Instruction<'static>];

const fn starts(start: Instructions) -> Handmade<'static> {
    Handmade { start, ..HONEST }
}

const fn first_does(before: Instructions) -> Handmade<'static> {
    Handmade { before, ..HONEST }
}

const fn hands_out(realloc: Instructions) -> Handmade<'static> {
    Handmade { realloc, ..HONEST }
}

const fn says(declines: u32, address: u32, rows: u32) -> Handmade<'static> {
    Handmade {
        column: (address, rows),
        declines,
        ..HONEST
    }
}

const fn has(elements: u64, pages: (u64, u64)) -> Handmade<'static> {
    Handmade {
        pages,
        elements,
        ..HONEST
    }
}

const fn of(hook: Hook) -> Handmade<'static> {
    Handmade { hook, ..HONEST }
}

/// Core modules with the exports of a hook, by name.
pub(crate) fn policies() -> Vec<(&'static str, Hook, Vec<u8>)> {
    let heap = HEAP.unsigned_abs();
    let grows = Handmade {
        before: MEMORY_GROWS,
        ..has(1, (PAGES, 65_536))
    };
    let grows_beyond = Handmade {
        before: MEMORY_GROWS_BEYOND,
        ..grows
    };
    let all = [
        ("gives-away", HONEST),
        ("values-nothing", of(CONSOLIDATE)),
        ("allows-nothing", of(BUDGET)),
        ("start-loops", starts(FOREVER)),
        ("start-traps", starts(TRAP)),
        ("answer-loops", first_does(FOREVER)),
        ("answer-traps", first_does(TRAP)),
        ("list-of-4g", says(0, heap, u32::MAX)),
        ("list-outside", says(0, u32::MAX - 7, 18)),
        ("list-unaligned", says(0, heap + 1, 18)),
        ("list-short", says(0, heap, 17)),
        ("neither-answer-nor-error", says(7, heap, 18)),
        // The words of the error lie where the prices would: outside.
        ("error-outside", says(1, u32::MAX - 7, 18)),
        ("realloc-loops", hands_out(FOREVER_VALUE)),
        ("realloc-outside", hands_out(OUTSIDE)),
        ("realloc-unaligned", hands_out(UNALIGNED)),
        ("realloc-nowhere", hands_out(NOWHERE)),
        ("table-grows", first_does(TABLE_GROWS)),
        ("table-of-a-million", has(1_000_000, (PAGES, PAGES))),
        ("memory-grows", grows),
        ("memory-grows-beyond", grows_beyond),
        ("own-maximum", first_does(TRAPS_AT_ITS_OWN_MAXIMUM)),
        ("memory-of-2g", has(1, (32_768, 65_536))),
    ];
    all.map(|(name, policy)| (name, policy.hook, policy.module()))
        .into()
}

/// Never ends, and would leave a number if it did.
const FOREVER_VALUE: &[Instruction<'_>] = &[
    Instruction::Loop(BlockType::Empty),
    Instruction::Br(0),
    Instruction::End,
    Instruction::I32Const(HEAP),
];

/// Adds a function of these instructions.
fn function(
    functions: &mut FunctionSection,
    code: &mut CodeSection,
    kind: u32,
    parts: &[&[Instruction<'_>]],
) {
    functions.function(kind);
    let mut body = Function::new([]);
    for instruction in parts.iter().copied().flatten() {
        body.instruction(instruction);
    }
    body.instruction(&Instruction::End);
    code.function(&body);
}

impl Handmade<'_> {
    fn module(&self) -> Vec<u8> {
        let mut types = TypeSection::new();
        types.ty().function([], []);
        types.ty().function([ValType::I32; 1], [ValType::I32]);
        types.ty().function([ValType::I32; 2], [ValType::I32]);
        types.ty().function([ValType::I32; 4], [ValType::I32]);
        let (mut functions, mut code) = (FunctionSection::new(), CodeSection::new());
        let mut add = |kind, parts: &[&[Instruction<'_>]]| {
            function(&mut functions, &mut code, kind, parts);
        };
        add(3, &[self.realloc]);
        add(2, &[&[Instruction::I32Const(AGREED)]]);
        for _ in self.hook.functions {
            add(1, &[self.before, &[Instruction::I32Const(PRICES)]]);
        }
        add(0, &[self.start]);

        let function_index = functions.len() - 1;
        let (tables, memories, globals) = self.stores();
        let mut elements = ElementSection::new();
        elements.declared(wasm_encoder::Elements::Functions([0_u32][..].into()));
        let mut module = Module::new();
        module
            .section(&types)
            .section(&functions)
            .section(&tables)
            .section(&memories)
            .section(&globals)
            .section(&exports(self.hook))
            .section(&StartSection { function_index })
            .section(&elements)
            .section(&code)
            .section(&self.answer());
        module.finish()
    }

    fn stores(&self) -> (TableSection, MemorySection, GlobalSection) {
        let mut tables = TableSection::new();
        tables.table(TableType {
            element_type: RefType::FUNCREF,
            table64: false,
            minimum: self.elements,
            maximum: None,
            shared: false,
        });
        let mut memories = MemorySection::new();
        memories.memory(MemoryType {
            minimum: self.pages.0,
            maximum: Some(self.pages.1),
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
        (tables, memories, globals)
    }

    fn answer(&self) -> DataSection {
        let (address, length) = self.column;
        let column = [address.to_le_bytes(), length.to_le_bytes()].concat();
        let answer = [&self.declines.to_le_bytes()[..], &column.repeat(6)].concat();
        let mut data = DataSection::new();
        data.active(0, &ConstExpr::i32_const(PRICES), answer);
        data
    }
}

fn exports(hook: Hook) -> ExportSection {
    let mut exports = ExportSection::new();
    exports.export("memory", ExportKind::Memory, 0);
    exports.export("cabi_realloc", ExportKind::Func, 0);
    let validate = "plimsoll:policy/configure@0.1.0#validate-settings";
    exports.export(validate, ExportKind::Func, 1);
    for (function, index) in hook.functions.iter().zip(2..) {
        let interface = hook.interface;
        let name = format!("plimsoll:policy/{interface}@0.1.0#{function}");
        exports.export(&name, ExportKind::Func, index);
    }
    exports
}
