//! Tables lent to modules: the core's lists are the interface's lists.

use std::fmt::Write as _;

use super::{File, begin, wired};
use crate::model::Hook;

pub(super) fn file(hooks: &[Hook]) -> File {
    let mut body = String::from(
        "use plimsoll_hooks::{allow, rank, score};\n\nuse super::bindings::plimsoll::policy::types::ExtColumn;\n",
    );
    for Hook {
        module, interface, ..
    } in hooks
    {
        let world = match *module {
            "score" => "consolidation::",
            "allow" => "budget::",
            _ => "",
        };
        let _ = writeln!(
            body,
            "use super::bindings::{world}exports::plimsoll::policy::{interface};"
        );
    }
    body.push('\n');
    for (hook, table, wire) in wired(hooks) {
        let arguments: Vec<String> = table
            .with_signals()
            .map(|list| format!(", {}: &'a [ExtColumn<'a>]", list.ext))
            .collect();
        let (module, name, arguments) = (hook.module, table.name, arguments.concat());
        let arguments = format!("<'a>(table: &'a {module}::{name}{arguments}) -> {wire}<'a>");
        begin("", hook, table.wire, &arguments, &mut body);
        let _ = writeln!(body, "{wire} {{");
        for column in table.columns() {
            let _ = writeln!(body, "{0}: &table.{0},", column.field());
        }
        for list in table.with_signals() {
            let _ = writeln!(body, "{},", list.ext);
        }
        body.push_str("}\n}\n\n");
    }
    File::new(
        "host/policy/src/track/v0_1/columns.rs",
        "The core's tables in the types of the interface, lent and not copied.",
        &body,
    )
}
