//! Tables in another dress: rows in another order, names under other numbers.

use std::fmt::Write as _;

use super::{File, begin};
use crate::model::{Hook, List, Table, Values};

pub(super) fn file(hooks: &[Hook]) -> File {
    let mut body = String::from(
        "use plimsoll_hooks::hook::Sym;\nuse plimsoll_hooks::{allow, rank, score};\n\nuse super::shuffle::{pick, pick_signals, rename_signals};\n\n",
    );
    for hook in hooks {
        for table in hook.tables {
            for list in table.lists.iter().filter(|list| list.shuffled) {
                reorder(hook, table, list, &mut body);
            }
            rename(hook, table, &mut body);
        }
    }
    File::new(
        "host/author/src/laws/columns.rs",
        "Tables of questions in another dress: the rows of one list in another order, the names of a table under other numbers.",
        &body,
    )
}

/// Ends of parts stay, since they follow from the order of the parts.
fn reorder(hook: &Hook, table: &Table, list: &List, body: &mut String) {
    let (module, name) = (hook.module, table.name);
    let arguments = format!("(table: &mut {module}::{name}, order: &[usize])");
    begin("reorder_", hook, list.of, &arguments, body);
    for column in list.columns {
        if !matches!(column.values, Values::Ends(_)) {
            let field = column.field();
            let _ = writeln!(body, "table.{field} = pick(&table.{field}, order);");
        }
    }
    if !list.ext.is_empty() {
        let _ = writeln!(
            body,
            "table.{0} = pick_signals(&table.{0}, order);",
            list.ext
        );
    }
    body.push_str("}\n\n");
}

fn rename(hook: &Hook, table: &Table, body: &mut String) {
    let (module, name) = (hook.module, table.name);
    let arguments = format!("(table: &mut {module}::{name}, renamed: &impl Fn(Sym) -> Sym)");
    begin("rename_", hook, table.wire, &arguments, body);
    for column in table
        .columns()
        .filter(|column| column.value_type() == "Sym")
    {
        let _ = writeln!(
            body,
            "for symbol in &mut table.{} {{ *symbol = renamed(*symbol); }}",
            column.field()
        );
    }
    for list in table.with_signals() {
        let _ = writeln!(body, "rename_signals(&mut table.{}, renamed);", list.ext);
    }
    body.push_str("}\n\n");
}
