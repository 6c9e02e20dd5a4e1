//! Methods of the SDK's views: a column of the row, in the words of policies.

use std::fmt::Write as _;

use super::File;
use crate::model::{Column, Hook, Kind, List, Read, Signal, Values, View, sentence};

pub(super) fn file(hook: &Hook) -> File {
    let mut body = String::new();
    let lists = || hook.tables.iter().flat_map(|table| table.lists);
    let reads = || {
        lists()
            .flat_map(|list| list.columns)
            .flat_map(|column| column.reads)
    };
    let of_signals = || {
        lists()
            .flat_map(|list| list.signals)
            .map(|signal| &signal.read)
    };
    if reads()
        .chain(of_signals())
        .any(|read| read.kind == Kind::Duration)
    {
        body.push_str("use std::time::Duration;\n\n");
    }
    let views: Vec<&str> = lists().filter_map(|list| Some(list.view?.name)).collect();
    let mut given: Vec<&str> = views;
    for read in reads() {
        if let Kind::Code(given_type, _) = read.kind {
            given.push(given_type);
        }
    }
    given.sort_unstable();
    given.dedup();
    given.retain(|name| *name != "Capacity");
    let _ = writeln!(body, "use super::view::{{{}}};", given.join(", "));
    let capacity = reads().any(|read| matches!(read.kind, Kind::Code("Capacity", _)));
    let mut shared = Vec::new();
    if capacity {
        shared.push("Capacity");
    }
    if of_signals().next().is_some() {
        shared.push("Signal");
    }
    if !shared.is_empty() {
        let _ = writeln!(body, "use crate::columns::{{{}}};", shared.join(", "));
    }
    body.push('\n');
    for list in lists() {
        let Some(view) = &list.view else { continue };
        let methods = list.columns.iter().any(|column| !column.reads.is_empty());
        if methods || !list.signals.is_empty() {
            methods_of(list, view, &mut body);
        }
    }
    let path = format!("sdk/src/{}/reads.rs", hook.sdk);
    File::new(path, "Columns of a call as views read them.", &body)
}

fn methods_of(list: &List, view: &View, body: &mut String) {
    for signal in list.signals {
        let _ = writeln!(
            body,
            "/// Name of the signal that [`{}::{}`] reads.\npub const {}: &str = {:?};\n",
            view.name,
            signal.read.name,
            constant(signal),
            signal.name
        );
    }
    let _ = writeln!(body, "impl {} {{", view.name);
    for column in list.columns {
        for read in column.reads {
            method(column, read, view, body);
        }
    }
    for signal in list.signals {
        signal_method(signal, body);
    }
    body.push_str("}\n\n");
}

/// The sentence on a value; a duration needs no unit.
fn meaning(kind: Kind, doc: &str, unit: &str) -> String {
    sentence(doc, if kind == Kind::Duration { "" } else { unit })
}

fn constant(signal: &Signal) -> String {
    crate::model::snake(signal.name).to_uppercase()
}

fn method(column: &Column, read: &Read, view: &View, body: &mut String) {
    let value = view.read.replace('$', &column.field());
    let (given, value) = match (read.kind, column.values) {
        (Kind::Duration, _) => ("Duration", format!("Duration::from_secs({value}.into())")),
        (Kind::Code(given, of), _) => (given, of.replace('$', &value)),
        (Kind::Value, Values::Text | Values::Symbol) => {
            ("&str", format!("{}.get({value})", view.texts))
        }
        (Kind::Value, Values::F32) => ("f64", format!("f64::from({value})")),
        (Kind::Value, Values::F64) => ("f64", value),
        (Kind::Key | Kind::Value, _) => ("u32", value),
    };
    let doc = match read.doc {
        "" => meaning(read.kind, column.doc, column.unit),
        own => sentence(own, ""),
    };
    let _ = writeln!(
        body,
        "/// {doc}\npub fn {}(&self) -> {given} {{ {value} }}\n",
        read.name
    );
}

fn signal_method(signal: &Signal, body: &mut String) {
    let number = format!("self.signal({}).and_then(Signal::number)", constant(signal));
    let (given, value, zero) = match signal.read.kind {
        Kind::Duration => (
            "Duration",
            format!("let seconds = {number}?; Duration::try_from_secs_f64(seconds).ok()"),
            "zero",
        ),
        _ => ("f64", number, "0"),
    };
    let doc = meaning(signal.read.kind, signal.doc, signal.unit);
    let _ = writeln!(
        body,
        "/// {}; {zero} {}. `None` where the host does not send the signal.\npub fn {}(&self) -> Option<{given}> {{ {value} }}\n",
        doc.trim_end_matches('.'),
        signal.zero,
        signal.read.name
    );
}
