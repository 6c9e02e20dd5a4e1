//! KWOK's treatment of nodes and pods, as one file of stages: boot, heartbeat, run, complete, delete, never ready; the delays are filled in from the options.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::credentials::write;
use crate::error::LabError;

const STAGES: [&str; 6] = [
    include_str!("../stages/node-initialize.yaml"),
    include_str!("../stages/node-heartbeat.yaml"),
    include_str!("../stages/pod-ready.yaml"),
    include_str!("../stages/pod-complete.yaml"),
    include_str!("../stages/pod-delete.yaml"),
    include_str!("../stages/pod-unhealthy.yaml"),
];

/// Writes the stages into `folder`.
pub(crate) fn write_stages(
    folder: &Path,
    node_boot: RangeInclusive<Duration>,
    pod_start: Duration,
) -> Result<PathBuf, LabError> {
    write(folder, "stages.yaml", &render(&node_boot, pod_start))
}

fn render(node_boot: &RangeInclusive<Duration>, pod_start: Duration) -> String {
    let (least, most) = (node_boot.start(), node_boot.end());
    STAGES
        .join("---\n")
        .replace("$NODE_BOOT_MILLISECONDS", &least.as_millis().to_string())
        .replace(
            "$NODE_BOOT_MOST_MILLISECONDS",
            &most.max(least).as_millis().to_string(),
        )
        .replace(
            "$POD_START_MILLISECONDS",
            &pod_start.as_millis().to_string(),
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_are_filled_in() {
        let boot = Duration::from_secs(45)..=Duration::from_mins(1);
        let text = render(&boot, Duration::from_millis(250));
        assert!(
            text.contains("durationMilliseconds: 45000\n")
                && text.contains("jitterDurationMilliseconds: 60000\n")
                && text.contains("durationMilliseconds: 250\n")
        );
        assert!(!text.contains("_MILLISECONDS"));
    }
}
