//! Tables lent to modules: the core's lists are the interface's lists.

use std::fmt::Write as _;

use super::File;
use crate::model::Hook;

pub(super) fn file(hooks: &[Hook]) -> File {
    let mut body = String::from(
        "use plimsoll_core::{allow, rank, score};\n\nuse super::bindings::plimsoll::policy::types::ExtColumn;\n",
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
    for hook in hooks {
        for table in hook.tables {
            let wire = format!("{}::{}", hook.interface, table.wire);
            let exts: Vec<&str> = table.lists.iter().map(|list| list.ext).collect();
            let exts = exts.iter().filter(|ext| !ext.is_empty());
            let arguments: Vec<String> = exts
                .clone()
                .map(|ext| format!(", {ext}: &'a [ExtColumn<'a>]"))
                .collect();
            let arguments = arguments.concat();
            let name = table.wire.to_lowercase();
            let _ = writeln!(
                body,
                "pub(super) fn {}_{name}<'a>(table: &'a {}::{}{arguments}) -> {wire}<'a> {{\n{wire} {{",
                hook.module, hook.module, table.name
            );
            for column in table.lists.iter().flat_map(|list| list.columns) {
                let _ = writeln!(body, "{0}: &table.{0},", column.field());
            }
            for ext in exts {
                let _ = writeln!(body, "{ext},");
            }
            body.push_str("}\n}\n\n");
        }
    }
    File::new(
        "host/policy/src/track/v0_1/columns.rs",
        "The core's tables in the types of the interface, lent and not copied.",
        &body,
    )
}
