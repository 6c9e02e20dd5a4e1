//! Fields of suites: rows as cases write them, with what stands for a field that is absent.

use std::fmt::Write as _;

use super::File;
use super::core::is_borrowed;
use crate::model::{Column, Given, Hook, List, Row, Values, snake};

pub(super) fn file(hooks: &[Hook]) -> File {
    let mut body = String::from(
        "use plimsoll_hooks::hook::Sym;\nuse plimsoll_model::DisruptionReason;\nuse plimsoll_hooks::{allow, rank, score};\n\n\
         use super::field::{Field, Fields, Problem};\nuse super::market::{architecture, capacity};\n\n",
    );
    for hook in hooks {
        for list in hook.tables.iter().flat_map(|table| table.lists) {
            if let (Some(row), true) = (&list.row, list.in_suites) {
                keys(hook, list, &mut body);
                function(hook, list, row, &mut body);
            }
        }
    }
    File::new(
        "host/author/src/suite/columns.rs",
        "Rows of questions as cases of suites write them: a field per column, and what stands for one that is absent.",
        &body,
    )
}

fn read_columns(list: &List) -> impl Iterator<Item = &Column> {
    let columns = list.columns.iter();
    columns.filter(|column| column.given != Given::ByCaller && column.row_type().is_some())
}

fn keys(hook: &Hook, list: &List, body: &mut String) {
    let keys: Vec<&str> = read_columns(list).map(Column::suite_key).collect();
    let _ = writeln!(
        body,
        "pub(super) const {}_{}: [&str; {}] = {keys:?};\n",
        hook.module.to_uppercase(),
        snake(list.of).to_uppercase(),
        keys.len()
    );
}

fn function(hook: &Hook, list: &List, row: &Row, body: &mut String) {
    let (module, of) = (hook.module, snake(list.of));
    let by_caller = list
        .columns
        .iter()
        .filter(|column| column.given == Given::ByCaller);
    let by_caller: Vec<(String, &str)> = by_caller
        .filter_map(|column| Some((column.row_field(), column.row_type()?)))
        .chain(
            row.besides
                .iter()
                .map(|(name, given, _)| ((*name).to_owned(), *given)),
        )
        .collect();
    let arguments: Vec<String> = by_caller
        .iter()
        .map(|(name, given)| format!(", {name}: {given}"))
        .collect();
    let arguments = arguments.concat();
    let (life, of_row) = if is_borrowed(list, row) {
        ("<'a>", "<'a>")
    } else {
        ("", "")
    };
    let fields = if is_borrowed(list, row) {
        "Fields<'a>"
    } else {
        "Fields<'_>"
    };
    let _ = writeln!(
        body,
        "pub(super) fn {module}_{of}{life}(fields: &{fields}{arguments}) -> Result<{module}::{}{of_row}, Problem> {{",
        row.name
    );
    for column in read_columns(list) {
        let (name, key) = (column.row_field(), column.suite_key());
        let read = match column.values {
            Values::Text => "Field::text",
            Values::U32 => "Field::count",
            Values::F32 => "Field::rate",
            Values::F64 => "Field::amount",
            Values::Symbol | Values::Code(..) | Values::Ends(_) => "",
        };
        let value = match column.given {
            Given::Needed(expected) => {
                let read = read.trim_start_matches("Field::");
                format!("fields.need({key:?}, {expected:?})?.{read}()?")
            }
            Given::Or(absent) => format!("fields.or({key:?}, {absent}, {read})?"),
            Given::Code(read, _) => read.to_owned(),
            Given::ByCaller => continue,
        };
        let _ = writeln!(body, "let {name} = {value};");
    }
    let mut names: Vec<String> = list
        .columns
        .iter()
        .filter(|column| column.row_type().is_some())
        .map(Column::row_field)
        .collect();
    names.extend(row.besides.iter().map(|(name, ..)| (*name).to_owned()));
    let _ = writeln!(
        body,
        "Ok({module}::{} {{ {} }})\n}}\n",
        row.name,
        names.join(", ")
    );
}
