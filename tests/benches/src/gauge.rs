//! Processor time and memory that a process has used so far, as Linux tells it. Zero where it does not.

use std::fs;
use std::time::Duration;

/// Ticks per second of `/proc/PID/stat`; the kernel's constant for programs.
const TICKS: u64 = 100;

/// Processor time of all threads of this process, ended ones included; in steps of 10 ms.
pub fn processor_time() -> Duration {
    processor_time_of("self")
}

/// High water mark of this process's resident memory.
pub fn peak_bytes() -> u64 {
    memory_of("self", "VmHWM:")
}

/// Consumption of a process so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    /// Processor time of all its threads, in steps of 10 ms.
    pub processor: Duration,
    /// Resident memory now, in bytes.
    pub resident: u64,
    /// Most resident memory at any time, in bytes.
    pub peak: u64,
}

impl Usage {
    /// Reads it; nothing of a process that is gone.
    pub fn of(process: u32) -> Self {
        let process = process.to_string();
        Self {
            processor: processor_time_of(&process),
            resident: memory_of(&process, "VmRSS:"),
            peak: memory_of(&process, "VmHWM:"),
        }
    }
}

fn processor_time_of(process: &str) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The name in brackets may hold anything; user and system time are the 12th and 13th field after it.
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let ticks: u64 = fields
        .split_whitespace()
        .skip(11)
        .take(2)
        .filter_map(|field| field.parse::<u64>().ok())
        .sum();
    Duration::from_millis(ticks * 1000 / TICKS)
}

fn memory_of(process: &str, field: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(field));
    let kibibytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kibibytes.unwrap_or(0) << 10
}
