//! Tables of the SDK's tests of policies: empty ones, and rows with what they are by default, which is what suites take them for.

use std::fmt::Write as _;

use super::{File, begin, wired};
use crate::model::{Column, Given, Hook, List, Table, Values};

pub(super) fn file(hooks: &[Hook]) -> File {
    let mut body = String::from("use super::Names;\n");
    for Hook { interface, .. } in hooks {
        let _ = writeln!(
            body,
            "use crate::bindings::{interface}::exports::plimsoll::policy::{interface};"
        );
    }
    body.push('\n');
    for (hook, table, wire) in wired(hooks) {
        empty(hook, table, &wire, &mut body);
        for list in table.lists.iter().filter(|list| list.in_suites) {
            push(hook, list, &wire, &mut body);
        }
    }
    File::new(
        "sdk/src/testing/columns.rs",
        "Tables without rows, and rows as they are where a test says nothing else.",
        &body,
    )
}

fn empty(hook: &Hook, table: &Table, wire: &str, body: &mut String) {
    begin("no_", hook, table.wire, &format!("() -> {wire}"), body);
    let _ = writeln!(body, "{wire} {{");
    for column in table.columns() {
        let _ = writeln!(body, "{}: Vec::new(),", column.field());
    }
    for list in table.with_signals() {
        let _ = writeln!(body, "{}: Vec::new(),", list.ext);
    }
    body.push_str("}\n}\n\n");
}

fn push(hook: &Hook, list: &List, wire: &str, body: &mut String) {
    let columns = || {
        list.columns
            .iter()
            .filter(|column| !matches!(column.values, Values::Ends(_)))
    };
    let is_argument = |column: &&Column| matches!(column.given, Given::ByCaller | Given::Needed(_));
    let arguments: Vec<String> = columns()
        .filter(is_argument)
        .map(|column| format!(", {}: {}", column.row_field(), given_type(column)))
        .collect();
    let arguments = arguments.concat();
    let names = columns().any(|column| column.values == Values::Text);
    let names = if names { ", names: &mut Names" } else { "" };
    let arguments = format!("(table: &mut {wire}{names}{arguments})");
    begin("push_", hook, list.of, &arguments, body);
    for column in columns() {
        let value = match column.given {
            Given::ByCaller | Given::Needed(_) => column.row_field(),
            Given::Or(absent) | Given::Code(_, absent) => absent.to_owned(),
        };
        let value = if column.values == Values::Text {
            format!("names.symbol({value})")
        } else {
            value
        };
        let _ = writeln!(body, "table.{}.push({value});", column.field());
    }
    body.push_str("}\n\n");
}

fn given_type(column: &Column) -> &'static str {
    match column.values {
        Values::Text => "&str",
        Values::Symbol => "u32",
        _ => column.value_type(),
    }
}
