//! `plimsoll generate`: a seeded recording from statistics.

use anyhow::{Context, Result};
use plimsoll_ec2_facts::{CatalogueSettings, catalogue};

use crate::flags;
use crate::generate::{Statistics, Wanted, recording};
use crate::output::write_file;

pub(crate) fn run(flags: &flags::Generate) -> Result<()> {
    // A recording of a region that cannot be read back is of no use to anybody.
    catalogue(&CatalogueSettings::for_region(&flags.region))?;
    let wanted = Wanted {
        scale: flags.scale,
        services: flags.services,
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
