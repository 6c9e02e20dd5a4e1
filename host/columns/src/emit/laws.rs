//! Tables in another dress: rows in another order, names under other numbers.

use std::fmt::Write as _;

use super::File;
use crate::model::{Hook, List, Table, Values, snake};

pub(super) fn file(hooks: &[Hook]) -> File {
    let mut body = String::from(
        "use plimsoll_core::hook::Sym;\nuse plimsoll_core::{allow, rank, score};\n\nuse super::shuffle::{pick, pick_signals, rename_signals};\n\n",
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
    let _ = writeln!(
        body,
        "pub(super) fn reorder_{}_{}(table: &mut {}::{}, order: &[usize]) {{",
        hook.module,
        snake(list.of),
        hook.module,
        table.name
    );
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
    let _ = writeln!(
        body,
        "pub(super) fn rename_{}_{}(table: &mut {}::{}, renamed: &impl Fn(Sym) -> Sym) {{",
        hook.module,
        table.wire.to_lowercase(),
        hook.module,
        table.name
    );
    let columns = table.lists.iter().flat_map(|list| list.columns);
    for column in columns.filter(|column| column.value_type() == "Sym") {
        let _ = writeln!(
            body,
            "for symbol in &mut table.{} {{ *symbol = renamed(*symbol); }}",
            column.field()
        );
    }
    for list in table.lists.iter().filter(|list| !list.ext.is_empty()) {
        let _ = writeln!(body, "rename_signals(&mut table.{}, renamed);", list.ext);
    }
    body.push_str("}\n\n");
}
