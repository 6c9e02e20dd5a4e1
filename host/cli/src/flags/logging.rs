//! Flags of `plimsoll run` on its log, and those of Karpenter that mean nothing here.

use clap::Args;

/// Log lines, under Karpenter's names; and those of its flags that mean nothing here.
#[derive(Debug, Args)]
pub(crate) struct Logging {
    /// The least urgent lines that are written: debug, info (the default) or error. Environment: LOG_LEVEL.
    #[arg(long, value_name = "LEVEL")]
    pub(crate) log_level: Option<String>,
    /// Places that lines go to, separated by commas: stdout (the default), stderr or files. Environment: LOG_OUTPUT_PATHS.
    #[arg(long, value_name = "PLACES")]
    pub(crate) log_output_paths: Option<String>,
    #[arg(long, hide = true)]
    pub(crate) log_error_output_paths: Option<String>,
    #[arg(long, hide = true)]
    pub(crate) karpenter_service: Option<String>,
    #[arg(long, hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) enable_profiling: Option<bool>,
    #[arg(long, hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) disable_controller_warmup: Option<bool>,
    #[arg(long, hide = true)]
    pub(crate) memory_limit: Option<i64>,
    #[arg(long, hide = true)]
    pub(crate) cpu_requests: Option<i64>,
}

impl Logging {
    /// Flags that were given and that mean nothing here.
    pub(crate) fn without_effect(&self) -> Vec<&'static str> {
        // The log's own failures go there.
        let elsewhere = self
            .log_error_output_paths
            .as_deref()
            .filter(|paths| *paths != "stderr");
        let given = [
            ("--log-error-output-paths", elsewhere.is_some()),
            ("--enable-profiling", self.enable_profiling == Some(true)),
            (
                "--disable-controller-warmup",
                self.disable_controller_warmup == Some(false),
            ),
            ("--memory-limit", self.memory_limit.is_some()),
            ("--cpu-requests", self.cpu_requests.is_some()),
        ];
        let without = given.into_iter().filter(|(_, is_given)| *is_given);
        without.map(|(flag, _)| flag).collect()
    }
}
