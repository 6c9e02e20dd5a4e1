//! `plimsoll policy pack`: a module as ConfigMaps, named by its digest.

use std::path::Path;

use anyhow::{Context, Result};
use plimsoll_author::pack::{ConfigMap, Packed, pack, yaml};
use plimsoll_policy::Manifest;
use serde::Serialize;

use super::self_test;
use crate::flags::{Format, Pack};
use crate::module;
use crate::output::{json, kilobytes, print, write_file};
use crate::policy::engine;

/// ConfigMaps as `kubectl apply` takes several objects in one JSON document.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct List<'a> {
    api_version: &'static str,
    kind: &'static str,
    items: &'a [ConfigMap],
}

pub(crate) fn run(flags: &Pack) -> Result<()> {
    let of_module = || format!("policy {}", flags.module);
    let source = module::source(&flags.module).with_context(of_module)?;
    let engine = engine()?;
    source.verify(&engine).with_context(of_module)?;
    let component = match &flags.manifest {
        Some(file) => with_manifest(&source.bytes, file).with_context(of_module)?,
        None => source.bytes.into_owned(),
    };
    let mut component = engine.inflate(&component).with_context(of_module)?;
    if let Some(from) = &flags.self_test {
        component =
            self_test::embed(&engine, &component, &flags.module, from).with_context(of_module)?;
    }
    let seen = engine.inspect(&component).with_context(of_module)?;
    let packed = pack(&component, &seen.manifest.name, flags.namespace.as_deref());
    let text = yaml(&packed.objects).context("output")?;
    if let Some(file) = &flags.to {
        write_file(file, text.as_bytes())?;
        if file.as_os_str() == "-" {
            return Ok(());
        }
    }
    match flags.output {
        Format::Table => print(&people(&seen.manifest.name, &packed, flags.to.as_deref())),
        Format::Yaml => print(&text),
        Format::Json => print(&json(&List {
            api_version: "v1",
            kind: "List",
            items: &packed.objects,
        })?),
    }
}

/// The component of a module that says nothing of itself.
fn with_manifest(module: &[u8], file: &Path) -> Result<Vec<u8>> {
    let text = std::fs::read(file).with_context(|| file.display().to_string())?;
    let manifest = Manifest::parse(&text).with_context(|| file.display().to_string())?;
    let world = format!("{}-policy", manifest.hook.adjective());
    Ok(plimsoll_encode::encode_as(module, &world, &text)?)
}

fn people(policy: &str, packed: &Packed, file: Option<&Path>) -> String {
    let names = packed.objects.iter();
    let names: Vec<String> = names
        .map(|object| format!("configmap/{}", object.metadata.name))
        .collect();
    let written = match file {
        Some(file) => format!("written to {}", file.display()),
        None => "nothing is written: -O FILE writes the ConfigMaps to a file, -o yaml prints them for `kubectl apply --server-side -f -`".to_owned(),
    };
    format!(
        "{policy}  packed {} into {}, {}\nsha256 {}\n{written}\n",
        kilobytes(packed.size),
        kilobytes(packed.stored),
        names.join(", "),
        packed.sha256
    )
}
