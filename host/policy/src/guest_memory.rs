//! The memory budget of all calls that run at the same time: a share of what this process may use.
//!
//! Where the process may use what the machine has, it is not said how much of that is for it, and the share is a fixed one. What modules
//! take while they are compiled is not part of it: a process of its own does that, under limits of its own.

use std::fs;
use std::path::Path;

/// Calls get one part in so many of what the process may use.
const SHARE: u64 = 4;
/// Bytes for calls where nothing limits the process.
const UNLIMITED: u64 = 1 << 30;
/// Older control groups write a number above this where there is no limit.
const NO_LIMIT: u64 = 1 << 60;

/// Bytes for all calls of this process.
pub(crate) fn of_this_process() -> u64 {
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    share(limit(Path::new("/sys/fs/cgroup"), &groups))
}

/// The share of a process that may use so many bytes.
fn share(limit: Option<u64>) -> u64 {
    limit.map_or(UNLIMITED, |limit| limit / SHARE)
}

/// The least limit of the control groups that the lines of `groups` name and of those above them, as the folder `root` shows them
/// (`cgroups(7)`). A container sees its own group as the outermost one, whatever name the lines give it, so that every level is looked at.
fn limit(root: &Path, groups: &str) -> Option<u64> {
    let of_line = |line: &str| {
        let mut parts = line.splitn(3, ':');
        let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        let (top, file) = match controllers {
            "" => (root.to_owned(), "memory.max"),
            _ if controllers.split(',').any(|name| name == "memory") => {
                (root.join("memory"), "memory.limit_in_bytes")
            }
            _ => return None,
        };
        let levels = Path::new(path.trim_start_matches('/')).ancestors();
        let limits = levels.filter_map(|level| {
            let text = fs::read_to_string(top.join(level).join(file)).ok()?;
            let bytes = text.trim().parse::<u64>().ok();
            bytes.filter(|bytes| *bytes < NO_LIMIT)
        });
        limits.min()
    };
    groups.lines().filter_map(of_line).min()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    /// A folder of control groups with these files.
    fn groups(name: &str, files: &[(&str, &str)]) -> PathBuf {
        let root = std::env::temp_dir().join(format!("groups-{}-{name}", std::process::id()));
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    #[track_caller]
    fn check(name: &str, files: &[(&str, &str)], lines: &str, expected: Option<u64>) {
        let root = groups(name, files);
        let found = limit(&root, lines);
        fs::remove_dir_all(root).unwrap();
        assert_eq!(found, expected);
    }

    #[test]
    fn the_least_limit_of_all_levels_counts() {
        let files = [
            ("pods/memory.max", "1000\n"),
            ("pods/one/memory.max", "max\n"),
            ("pods/one/main/memory.max", "4000\n"),
        ];
        check("levels", &files, "0::/pods/one/main\n", Some(1_000));
    }

    #[test]
    fn a_container_finds_its_limit_at_the_outermost_level() {
        let files = [("memory.max", "2000")];
        check("container", &files, "0::/kubepods/pod7/abc", Some(2_000));
    }

    #[test]
    fn older_control_groups_are_read_too() {
        let files = [
            ("memory/a/memory.limit_in_bytes", "3000"),
            ("memory/memory.limit_in_bytes", "9223372036854771712"),
        ];
        let lines = "5:cpu,cpuacct:/a\n4:memory:/a\n0::/\n";
        check("older", &files, lines, Some(3_000));
    }

    #[test]
    fn without_a_limit_the_share_is_a_fixed_one() {
        let files = [("memory.max", "max")];
        check("unlimited", &files, "0::/", None);
        assert_eq!(share(None), 1 << 30);
        assert_eq!(share(Some(1 << 30)), 256 << 20);
    }
}
