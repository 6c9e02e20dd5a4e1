//! Generated files are what the lists say, the lists have every column of the interface, and every signal is documented.

use std::path::{Path, PathBuf};

use plimsoll_columns::emit;
use plimsoll_columns::lists::HOOKS;
use plimsoll_columns::model::{Column, Table};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).expect(path)
}

#[test]
fn generated_files_are_what_the_lists_say() {
    for file in emit::files() {
        let wanted = file.formatted().unwrap();
        assert!(
            text(&file.path) == wanted,
            "{} is not what the lists say; `make columns` makes it anew",
            file.path
        );
    }
}

/// The fields of a record of an interface, as (name, type).
fn record(interface: &str, table: &Table) -> Vec<(String, String)> {
    let wit = text(&format!("wit/0.1/{interface}.wit"));
    let start = format!("record {} {{", table.wire.to_lowercase());
    let (_, rest) = wit.split_once(&start).expect("the record is there");
    let (fields, _) = rest.split_once('}').expect("the record ends");
    let lines = fields.lines().map(str::trim);
    lines
        .filter(|line| !line.is_empty() && !line.starts_with("//"))
        .map(|line| {
            let (name, values) = line
                .trim_end_matches(',')
                .split_once(": ")
                .expect("name: type");
            (name.to_owned(), values.to_owned())
        })
        .collect()
}

fn wit_type(column: &Column) -> String {
    format!("list<{}>", column.value_type().to_lowercase())
}

#[test]
fn the_lists_have_every_column_of_the_interface() {
    for hook in &HOOKS {
        for table in hook.tables {
            let columns = table.columns();
            let mut listed: Vec<(String, String)> = columns
                .map(|column| (column.name.to_owned(), wit_type(column)))
                .collect();
            let ext = table.lists.iter().map(|list| list.ext);
            listed.extend(
                ext.filter(|ext| !ext.is_empty())
                    .map(|ext| (ext.replace('_', "-"), "list<ext-column>".to_owned())),
            );
            let mut frozen = record(hook.interface, table);
            listed.sort();
            frozen.sort();
            assert_eq!(listed, frozen, "{} of {}", table.wire, hook.interface);
        }
    }
}

#[test]
fn every_signal_is_documented_with_the_interface() {
    let page = text("wit/README.md");
    for list in HOOKS
        .iter()
        .flat_map(|hook| hook.tables)
        .flat_map(|table| table.lists)
    {
        for signal in list.signals {
            let named = format!("| `{}` |", signal.name);
            assert!(
                page.contains(&named),
                "wit/README.md does not explain {named}"
            );
        }
    }
}
