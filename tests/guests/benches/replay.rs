//! Prints how long it takes to make recorded decisions again: 10,000 of them, of all hooks, in a new process each time, with one
//! thread and with more. Every replay must be equal to the byte, or the program fails; that is the bar.
//!
//! How many decisions and types can be given: `replay -- 1000 50`.

#[path = "../tests/common/mod.rs"]
mod common;
#[path = "../tests/common/fleet.rs"]
mod fleet;
#[path = "../tests/common/recorded.rs"]
mod recorded;

use std::fs::File;
use std::io::BufReader;
use std::process::Command;
use std::time::Instant;

use plimsoll_policy::records::{Reader, replay};
use plimsoll_policy::{Engine, EngineSettings};

/// First argument of the process that replays.
const AGAIN: &str = "again";
const DECISIONS: u32 = 10_000;
const TYPES: u32 = 100;

#[expect(clippy::print_stdout, reason = "the table is what this program is for")]
fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments = arguments.iter().map(String::as_str);
    let arguments: Vec<&str> = arguments.filter(|word| !word.starts_with("--")).collect();
    let engine = Engine::new(EngineSettings::default()).expect("the engine starts");
    if let [AGAIN, path, threads] = arguments[..] {
        let threads = threads.parse().expect("a number of threads");
        let file = BufReader::new(File::open(path).expect("the records are there"));
        let reader = Reader::begin(file).expect("they begin as records do");
        let store = recorded::store(&engine);
        let replayed = replay(reader, &store, threads).expect("they can be made again");
        assert_eq!(replayed.differs, None, "a decision is another one now");
        println!("{}", replayed.decisions);
        return;
    }
    let number = |place: usize| {
        arguments
            .get(place)
            .and_then(|word| word.parse::<u32>().ok())
    };
    let decisions = number(0).unwrap_or(DECISIONS);
    let types = number(1).unwrap_or(TYPES);
    let path = std::env::temp_dir().join(format!("plimsoll-replay-{}", std::process::id()));
    let began = Instant::now();
    let bytes = recorded::records(&engine, decisions, types);
    std::fs::write(&path, &bytes).expect("the folder for temporary files can be written");
    println!("decisions   threads   equal   seconds");
    let took = began.elapsed().as_secs_f64();
    println!(
        "{decisions:>9}  recorded       -   {took:>7.1}   {} bytes",
        bytes.len()
    );
    for threads in [1, 2, 4] {
        let began = Instant::now();
        let program = std::env::current_exe().expect("this program knows itself");
        let mut again = Command::new(program);
        let again = again.arg(AGAIN).arg(&path).arg(threads.to_string());
        let done = again.output().expect("this program starts");
        let took = began.elapsed().as_secs_f64();
        let equal = String::from_utf8_lossy(&done.stdout).trim().to_owned();
        assert!(
            done.status.success() && equal == decisions.to_string(),
            "{equal} of {decisions} with {threads} threads: {}",
            String::from_utf8_lossy(&done.stderr)
        );
        println!("{decisions:>9}  {threads:>8}   {equal:>5}   {took:>7.1}");
    }
    std::fs::remove_file(&path).expect("the file is ours");
}
