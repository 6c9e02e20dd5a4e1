//! The core's columns and settings in the interface's words, for all hooks.

use plimsoll_hooks::hook;

use super::bindings::plimsoll::policy::types::{
    Column, Context, ExtColumn, Setting, Symbols, ZoneTime,
};
use crate::zone;

/// The parts of a question that are lent to a module of any hook; its tables come besides.
pub(super) struct Lent<'a> {
    pub(super) context: Context<'a>,
    pub(super) settings: &'a [(&'a str, Setting<'a>)],
    pub(super) symbols: Symbols<'a>,
}

pub(super) fn context<'a>(context: &hook::Context, zones: &'a [ZoneTime<'a>]) -> Context<'a> {
    Context {
        generation: context.generation,
        now_unix_s: context.now_unix_s,
        seed: context.seed,
        zones,
    }
}

pub(super) fn zones(zones: &[zone::ZoneTime]) -> Vec<ZoneTime<'_>> {
    fn lend(zone: &zone::ZoneTime) -> ZoneTime<'_> {
        ZoneTime {
            zone: &zone.zone,
            offset_minutes: zone.offset_minutes,
            next_change_unix_s: zone.next_change_unix_s,
            next_offset_minutes: zone.next_offset_minutes,
        }
    }
    zones.iter().map(lend).collect()
}

/// The texts of each list of texts, one entry per setting; the interface wants them as lists of borrowed texts.
pub(super) fn texts(settings: &hook::PolicySettings) -> Vec<Vec<&str>> {
    fn lend(setting: &hook::Setting) -> Vec<&str> {
        match setting {
            hook::Setting::Texts(texts) => texts.iter().map(String::as_str).collect(),
            _ => Vec::new(),
        }
    }
    settings.values().map(lend).collect()
}

pub(super) fn settings<'a>(
    settings: &'a hook::PolicySettings,
    texts: &'a [Vec<&'a str>],
) -> Vec<(&'a str, Setting<'a>)> {
    let lend = |((name, setting), texts): ((&'a String, &'a hook::Setting), &'a Vec<&'a str>)| {
        let setting = match setting {
            hook::Setting::Flag(value) => Setting::Flag(*value),
            hook::Setting::Number(value) => Setting::Num(*value),
            hook::Setting::Text(value) => Setting::Text(value),
            hook::Setting::Numbers(values) => Setting::Nums(values),
            hook::Setting::Texts(_) => Setting::Texts(texts),
        };
        (name.as_str(), setting)
    };
    settings.iter().zip(texts).map(lend).collect()
}

pub(super) fn symbols(symbols: &hook::Symbols) -> Symbols<'_> {
    Symbols {
        blob: &symbols.blob,
        ends: &symbols.ends,
    }
}

pub(super) fn columns(columns: &[hook::ExtColumn]) -> Vec<ExtColumn<'_>> {
    fn lend(column: &hook::ExtColumn) -> ExtColumn<'_> {
        let hook::ExtColumn { name, values } = column;
        let values = match values {
            hook::Column::F64s(values) => Column::F64s(values),
            hook::Column::U32s(values) => Column::U32s(values),
            hook::Column::U8s(values) => Column::U8s(values),
            hook::Column::Syms(values) => Column::Syms(values),
        };
        ExtColumn {
            name: *name,
            values,
        }
    }
    columns.iter().map(lend).collect()
}
