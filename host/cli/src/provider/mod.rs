//! The provider of `plimsoll run`: what it needs is read before the process leads, and it begins once it does.

#[cfg(feature = "aws")]
mod aws;

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use kube::Client;
use plimsoll_controller::{Notices, Telemetry, provider};
use plimsoll_kwok::FaultPlan;
use plimsoll_model::catalogue::Catalogue;
use plimsoll_model::provider::ProviderFacts;
use plimsoll_model::snapshot::Settings;

use crate::cluster;
use crate::flags::{Provider, Run};

/// A provider that can begin.
pub(crate) enum Prepared {
    /// KWOK.
    Kwok(Box<Kwok>),
    /// EC2.
    #[cfg(feature = "aws")]
    Aws(Box<aws::Aws>),
}

/// KWOK: what it sells, and what goes wrong where a plan says so.
pub(crate) struct Kwok {
    types: Catalogue,
    faults: Option<FaultPlan>,
}

impl Prepared {
    /// Reads what the provider that flags name needs; the client only looks.
    #[cfg_attr(
        not(feature = "aws"),
        expect(unused_variables, reason = "KWOK needs no client yet")
    )]
    pub(crate) async fn read(
        flags: &Run,
        settings: &Settings,
        client: &Client,
        environment: &impl Fn(&str) -> Option<String>,
    ) -> Result<Self> {
        match flags.provider {
            Provider::Kwok => {
                #[cfg(feature = "aws")]
                for flag in flags.aws.given() {
                    tracing::warn!("{flag} is taken and has no effect with --provider kwok");
                }
                kwok(flags, environment)
            }
            #[cfg(feature = "aws")]
            Provider::Aws => {
                refuse_kwoks(flags)?;
                let aws = aws::Aws::read(&flags.aws, &flags.access, settings, client, environment)
                    .await?;
                Ok(Self::Aws(Box::new(aws)))
            }
        }
    }

    /// Begins.
    #[cfg_attr(
        not(feature = "aws"),
        expect(unused_variables, reason = "KWOK tells nothing by itself")
    )]
    pub(crate) async fn begin(
        self,
        client: Client,
        telemetry: &Telemetry,
        notices: Notices,
    ) -> Arc<dyn provider::Provider> {
        match self {
            Self::Kwok(kwok) => provider::kwok(client, Arc::new(kwok.types.into()), kwok.faults),
            #[cfg(feature = "aws")]
            Self::Aws(aws) => aws.begin(client, telemetry.clone(), notices).await,
        }
    }
}

/// Fails for flags of KWOK: instances are bought in earnest, whatever a file says of types and faults.
#[cfg(feature = "aws")]
fn refuse_kwoks(flags: &Run) -> Result<()> {
    let kwoks = [
        (
            "--instance-types-file-path",
            flags.instance_types_file_path.is_some(),
        ),
        ("--fault-plan", flags.fault_plan.is_some()),
    ];
    match kwoks.into_iter().find(|(_, is_given)| *is_given) {
        Some((flag, _)) => {
            anyhow::bail!("{flag} is for --provider kwok; expected none with --provider aws")
        }
        None => Ok(()),
    }
}

/// Types that KWOK sells, and what goes wrong with its instances.
fn kwok(flags: &Run, environment: &impl Fn(&str) -> Option<String>) -> Result<Prepared> {
    let named = || environment("INSTANCE_TYPES_FILE_PATH").filter(|path| !path.is_empty());
    let path = flags.instance_types_file_path.clone();
    let types = cluster::kwok_types(path.or_else(|| Some(named()?.into())).as_deref())?;
    let Some(path) = &flags.fault_plan else {
        let faults = None;
        return Ok(Prepared::Kwok(Box::new(Kwok { types, faults })));
    };
    let faults = kwok_faults(path)?;
    let facts = faults.limit(ProviderFacts::clone(types.provider()));
    let types = types.with_provider(Arc::new(facts));
    let faults = Some(faults);
    Ok(Prepared::Kwok(Box::new(Kwok { types, faults })))
}

fn kwok_faults(path: &Path) -> Result<FaultPlan> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    FaultPlan::read(&text).with_context(|| path.display().to_string())
}
