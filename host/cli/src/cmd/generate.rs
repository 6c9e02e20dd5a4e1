//! `plimsoll generate`: a seeded recording from statistics.

use anyhow::{Context, Result};

use crate::flags;
use crate::generate::{Statistics, Wanted, recording};
use crate::output::write_file;

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
    write_file(&flags.to, text.as_bytes())
}
