//! The core's tables, the rows that enter them, and the signals that rows may have.

use std::fmt::Write as _;

use super::File;
use crate::model::{Hook, List, Row, Table, Values, sentence, snake};

pub(super) fn file(hook: &Hook) -> File {
    let mut body = String::new();
    imports(hook, &mut body);
    let lists = hook.tables.iter().flat_map(|table| table.lists);
    let names: Vec<String> = lists
        .flat_map(|list| list.signals)
        .map(|signal| format!("{:?}, ", signal.name))
        .collect();
    let names = names.concat();
    let _ = writeln!(
        body,
        "/// Names of the signals that the host sends in questions of this hook.\npub const SIGNALS: &[&str] = &[{names}];\n"
    );
    for table in hook.tables {
        columns(table, &mut body);
        for list in table.lists {
            if let Some(row) = &list.row {
                row_struct(list, row, &mut body);
                push(table, list, row, &mut body);
            }
            if !list.signals.is_empty() {
                signals(list, &mut body);
            }
        }
    }
    let path = format!("host/core/hooks/src/{}/columns.rs", hook.module);
    File::new(
        path,
        "The columns of the hook's questions, and rows as they enter them.",
        &body,
    )
}

fn imports(hook: &Hook, body: &mut String) {
    let lists = || hook.tables.iter().flat_map(|table| table.lists);
    let columns = || lists().flat_map(|list| list.columns);
    if columns().any(|column| matches!(column.values, Values::Code("DisruptionReason", _))) {
        body.push_str("use plimsoll_model::DisruptionReason;\n");
    }
    body.push_str("use serde::{Deserialize, Serialize};\n\n");
    let mut shared = vec!["ExtColumn", "Sym"];
    if columns().any(|column| column.values == Values::Text) {
        shared.push("SymbolsBuilder");
    }
    if columns().any(|column| matches!(column.values, Values::Code("Capacity", _))) {
        shared.push("Capacity");
    }
    if lists().any(|list| !list.signals.is_empty()) {
        shared.push("Signals");
    }
    shared.sort_unstable();
    let _ = writeln!(body, "use crate::hook::{{{}}};", shared.join(", "));
    for column in columns() {
        match column.values {
            Values::Code(given @ "MoveKind", _) => {
                let _ = writeln!(body, "use super::question::{{{given}}};");
            }
            Values::Code(given @ "Architecture", _) => {
                let _ = writeln!(body, "use super::catalogue::{given};");
            }
            _ => {}
        }
    }
    body.push('\n');
}

fn columns(table: &Table, body: &mut String) {
    let _ = writeln!(
        body,
        "/// {}\n#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]\npub struct {} {{",
        table.doc, table.name
    );
    for column in table.columns() {
        let (field, value) = (column.field(), column.value_type());
        let doc = match column.values {
            Values::Code(..) => sentence(&format!("Code of the {}", column.doc), ""),
            _ => sentence(column.doc, column.unit),
        };
        let _ = writeln!(body, "/// {doc}\npub {field}: Vec<{value}>,");
    }
    for list in table.with_signals() {
        let _ = writeln!(
            body,
            "/// Optional signals per {}.\npub {}: Vec<ExtColumn>,",
            list.of, list.ext
        );
    }
    body.push_str("}\n\n");
}

/// Rows that hold a text or a slice borrow it.
pub(super) fn is_borrowed(list: &List, row: &Row) -> bool {
    let texts = list
        .columns
        .iter()
        .filter(|column| column.values == Values::Text);
    texts.count() > 0 || row.besides.iter().any(|(_, given, _)| given.contains("'a"))
}

fn row_struct(list: &List, row: &Row, body: &mut String) {
    let borrowed = if is_borrowed(list, row) { "<'a>" } else { "" };
    let derives = ["Debug, Clone, Copy", row.derives];
    let derives = derives.map(str::trim).join(", ");
    let _ = writeln!(
        body,
        "/// {}\n#[derive({})]\npub struct {}{borrowed} {{",
        row.doc,
        derives.trim_end_matches([',', ' ']),
        row.name
    );
    for column in list.columns {
        if let Some(given) = column.row_type() {
            let doc = sentence(column.doc, column.unit);
            let _ = writeln!(body, "/// {doc}\npub {}: {given},", column.row_field());
        }
    }
    for (name, given, doc) in row.besides {
        let _ = writeln!(body, "/// {doc}.\npub {name}: {given},");
    }
    body.push_str("}\n\n");
}

/// Adds what a row says to its columns; ends of parts are set where the parts are added.
fn push(table: &Table, list: &List, row: &Row, body: &mut String) {
    let borrowed = if is_borrowed(list, row) { "<'_>" } else { "" };
    let interns = list
        .columns
        .iter()
        .any(|column| column.values == Values::Text);
    let symbols = if interns {
        "symbols: &mut SymbolsBuilder, "
    } else {
        ""
    };
    let _ = writeln!(
        body,
        "impl {} {{\n/// Adds a row to every column but those that are joined out of parts.\npub(super) fn push_{}(&mut self, {symbols}row: &{}{borrowed}) {{",
        table.name,
        snake(list.of),
        row.name
    );
    for column in list.columns {
        let value = format!("row.{}", column.row_field());
        let pushed = match column.values {
            Values::Text => format!("symbols.intern({value})"),
            Values::Code(_, code) => code.replace('$', &value),
            Values::Ends(_) => continue,
            _ => value,
        };
        let _ = writeln!(body, "self.{}.push({pushed});", column.field());
    }
    body.push_str("}\n}\n\n");
}

fn signals(list: &List, body: &mut String) {
    let name = format!("{}Signals", capitalised(list.of));
    let _ = writeln!(
        body,
        "/// Signals of one {}.\n#[derive(Debug, Clone, Copy, PartialEq)]\npub struct {name} {{",
        list.of
    );
    for signal in list.signals {
        let given = if signal.values == Values::F64 {
            "f64"
        } else {
            "u32"
        };
        let (doc, field) = (signal.meaning(), snake(signal.name));
        let _ = writeln!(body, "/// {doc}\npub {field}: {given},");
    }
    let _ = writeln!(
        body,
        "}}\n\nimpl {name} {{\n/// Adds them to the columns that travel by name, at a row.\npub(super) fn push(self, row: usize, signals: &mut Signals) {{"
    );
    for signal in list.signals {
        let (name, field) = (signal.name, snake(signal.name));
        let _ = writeln!(body, "signals.set({name:?}, row, self.{field});");
    }
    body.push_str("}\n}\n\n");
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}
