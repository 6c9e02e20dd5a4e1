//! A lab with nothing in it but our definitions, and the controller that serves it.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use plimsoll_api::crd;
use plimsoll_lab::{Lab, Options};

use crate::arguments::Arguments;

/// The controller's name among the lab's programs.
const NAME: &str = "plimsoll";
/// Between two looks whether it still runs.
const INTERVAL: Duration = Duration::from_secs(1);

/// Both, until this value is dropped.
pub(crate) struct Served {
    lab: Lab,
    /// Bytes of the controller's log that were handed out.
    told: usize,
}

impl Served {
    /// Starts the lab, then the controller; whether that can serve at all is seen at the first spec.
    pub(crate) async fn start(arguments: &Arguments) -> Result<Self> {
        let mut lab = Lab::start(Options {
            definitions: crd::definitions(crd::Provider::Kwok),
            ..Options::default()
        })
        .await?;
        let run = [
            "run".to_owned(),
            "--provider=kwok".to_owned(),
            "--disable-leader-election".to_owned(),
            "--bind-address=127.0.0.1".to_owned(),
            "--metrics-port=0".to_owned(),
            "--health-probe-port=0".to_owned(),
            format!("--feature-gates={}", arguments.gates),
            format!("--kubeconfig={}", lab.kubeconfig().display()),
        ];
        lab.run(NAME, &std::path::absolute(&arguments.program)?, &run)?;
        Ok(Self { lab, told: 0 })
    }

    /// A kubeconfig with every right.
    pub(crate) fn kubeconfig(&self) -> &Path {
        self.lab.kubeconfig()
    }

    /// Waits until the controller ends by itself; its status.
    pub(crate) async fn ends(&mut self) -> Result<String> {
        loop {
            if let Some(status) = self.lab.has_ended(NAME)? {
                return Ok(status);
            }
            tokio::time::sleep(INTERVAL).await;
        }
    }

    /// All that the controller has said since it was last asked for.
    pub(crate) fn news(&mut self) -> String {
        let log = self.lab.log(NAME);
        let news = log.get(self.told..).unwrap_or_default().to_owned();
        self.told = log.len();
        news
    }
}
