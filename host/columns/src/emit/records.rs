//! Lengths, names and ends that the tables of a recorded question must have.

use std::fmt::Write as _;

use super::{File, begin};
use crate::model::{Hook, Table, Values};

pub(super) fn file(hooks: &[Hook]) -> File {
    let mut body = String::from(
        "use plimsoll_hooks::hook::Symbols;\nuse plimsoll_hooks::{allow, rank, score};\n\nuse super::whole::{Checked, ends, lengths, names, signals};\n\n",
    );
    for hook in hooks {
        for table in hook.tables {
            function(hook, table, &mut body);
        }
    }
    File::new(
        "host/policy/src/records/columns.rs",
        "Checks that each table of a question is whole in itself: its columns of one length, its names known, its parts cut where they end.",
        &body,
    )
}

fn function(hook: &Hook, table: &Table, body: &mut String) {
    let (module, name) = (hook.module, table.name);
    let arguments = format!("(table: &{module}::{name}, symbols: &Symbols) -> Checked");
    begin("", hook, table.wire, &arguments, body);
    let texts = table
        .columns()
        .filter(|column| column.value_type() == "Sym");
    for column in texts {
        let field = column.field();
        let _ = writeln!(
            body,
            "names(\"{}{field}\", &table.{field}, symbols)?;",
            table.prefix
        );
    }
    for list in table.lists {
        let rows = list.counted_by();
        if list.columns.len() > 1 {
            let _ = writeln!(body, "lengths(table.{rows}.len(), &[");
            for column in &list.columns[1..] {
                let field = column.field();
                let _ = writeln!(body, "(\"{}{field}\", table.{field}.len()),", table.prefix);
            }
            body.push_str("])?;\n");
        }
    }
    for column in table.columns() {
        if let Values::Ends(parts) = column.values {
            let (field, joined) = (column.field(), table.list(parts).counted_by());
            let _ = writeln!(
                body,
                "ends(\"{}{field}\", &table.{field}, table.{joined}.len())?;",
                table.prefix
            );
        }
    }
    for list in table.with_signals() {
        let (ext, rows) = (list.ext, list.counted_by());
        let _ = writeln!(
            body,
            "signals(\"{}{ext}\", &table.{ext}, table.{rows}.len(), symbols)?;",
            table.prefix
        );
    }
    body.push_str("Ok(())\n}\n\n");
}
