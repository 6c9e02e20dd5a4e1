//! Reads a snapshot and tells what it cost: `cargo run -p plimsoll-snapshot --example peak -- FILE`.

use std::io::Write;
use std::path::Path;

use plimsoll_snapshot::{Limits, read_path};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args()
        .nth(1)
        .ok_or("expected the path of a snapshot")?;
    let loaded = read_path(Path::new(&path), &Limits::default())?;
    let status = std::fs::read_to_string("/proc/self/status")?;
    let peak = status
        .lines()
        .find(|line| line.starts_with("VmHWM"))
        .unwrap_or("VmHWM: not known");
    let snapshot = &loaded.snapshot;
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "{} pods, {} nodes, peak {}",
        snapshot.pods.len(),
        snapshot.nodes.len(),
        peak
    )?;
    Ok(())
}
