//! `plimsoll generate`: a seeded recording from statistics.

use std::path::Path;

use anyhow::{Context, Result};

use crate::flags;
use crate::generate::{Statistics, Wanted, recording};
use crate::output::print;

pub(crate) fn run(flags: &flags::Generate) -> Result<()> {
    let wanted = Wanted {
        scale: flags.scale,
        hours: flags.hours,
        seed: flags.seed,
        accelerators: flags.accelerators,
        region: &flags.region,
    };
    let text = serde_json::to_string(&recording(&Statistics::built_in(), wanted))
        .context("recording")?
        + "\n";
    if flags.to == Path::new("-") {
        return print(&text);
    }
    std::fs::write(&flags.to, text).with_context(|| flags.to.display().to_string())
}
