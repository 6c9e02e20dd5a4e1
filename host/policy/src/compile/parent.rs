//! The parent's part: it starts the child, feeds it, takes its answer up to a cap, and ends it when its time is over.
//!
//! Nothing of the child outlives the call: it is waited for in every case, and its pipes are read to their end.

use std::io::{self, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};

use super::Helper;
use super::child::Order;
use crate::gate::Refusal;
use crate::limits::{CompileLimits, Limits};
use crate::text;

/// Bytes kept of what the child says when it fails.
const WORDS: u64 = 4 << 10;

/// Output of the child, with its exit status.
struct Answer {
    code: Vec<u8>,
    words: Vec<u8>,
    status: ExitStatus,
    was_late: bool,
}

/// Machine code of a module, by a child.
pub(super) fn ask(helper: &Helper, limits: &Limits, module: &[u8]) -> Result<Vec<u8>, Refusal> {
    let no_compiler = |error: io::Error| Refusal::NoCompiler {
        problem: format!("{} cannot be started: {error}", helper.program.display()),
    };
    let child = Command::new(&helper.program)
        .args(&helper.arguments)
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(no_compiler)?;
    let answer = converse(child, limits, module).map_err(no_compiler)?;
    judge(answer, limits.compiling(module.len()))
}

/// Feeds the child and takes what it says, within the wall time.
fn converse(mut child: Child, limits: &Limits, module: &[u8]) -> io::Result<Answer> {
    let gone = || io::Error::other("a pipe is missing");
    let mut input = child.stdin.take().ok_or_else(gone)?;
    let output = child.stdout.take().ok_or_else(gone)?;
    let errors = child.stderr.take().ok_or_else(gone)?;
    let &CompileLimits {
        wall, code: most, ..
    } = limits.compiling(module.len());
    let (ended, end) = sync_channel::<()>(1);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let order = Order::of(limits, module.len()).to_bytes();
            // A child that has gone away says why by its status.
            let _ = input
                .write_all(&order)
                .and_then(|()| input.write_all(module));
        });
        let code = scope.spawn(move || {
            let code = capped(output, most + 1);
            drop(ended);
            code
        });
        let words = scope.spawn(move || capped(errors, WORDS));
        let was_late = end.recv_timeout(wall) == Err(RecvTimeoutError::Timeout);
        if was_late {
            child.kill()?;
        }
        let status = child.wait()?;
        Ok(Answer {
            code: code.join().unwrap_or_default(),
            words: words.join().unwrap_or_default(),
            status,
            was_late,
        })
    })
}

/// The first bytes of a pipe; what follows is read and forgotten, so that the writer is not held up.
fn capped(mut pipe: impl Read, most: u64) -> Vec<u8> {
    let mut kept = Vec::new();
    // A pipe that breaks ends like one that is closed: the status tells.
    let _ = pipe.by_ref().take(most).read_to_end(&mut kept);
    let _ = io::copy(&mut pipe, &mut io::sink());
    kept
}

/// Machine code of the module, or the refusal that the end of the child stands for.
fn judge(answer: Answer, limits: &CompileLimits) -> Result<Vec<u8>, Refusal> {
    let Answer {
        code,
        words,
        status,
        was_late,
    } = answer;
    let refuse = |problem: String| Err(Refusal::Compile { problem });
    if was_late {
        return refuse(format!("it took more than {} s", limits.wall.as_secs_f64()));
    }
    let cpu = format!("more than {} s of CPU time", limits.cpu.as_secs().max(1));
    match (status.code(), status.signal()) {
        (Some(0), _) if code.len() as u64 <= limits.code => Ok(code),
        (Some(0), _) => refuse(format!(
            "its machine code has more than {} MiB",
            limits.code >> 20
        )),
        (_, Some(SIGXCPU)) => refuse(format!("it took {cpu}")),
        // The hard limit of CPU time ends it so, and a machine that runs out of memory ends it first.
        (_, Some(SIGKILL)) => refuse(format!(
            "its process was killed: it took {cpu}, or the machine ran out of memory"
        )),
        (_, Some(SIGABRT | SIGSEGV)) => refuse(format!(
            "it needed more than {} MiB of memory",
            limits.memory >> 20
        )),
        _ => {
            let words = String::from_utf8_lossy(&words);
            refuse(text::clean(words.trim(), text::MESSAGE))
        }
    }
}

/// Numbers of signals, the same on every Linux we build for.
const SIGABRT: i32 = 6;
const SIGKILL: i32 = 9;
const SIGSEGV: i32 = 11;
const SIGXCPU: i32 = 24;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn refusal(script: &str, compile: CompileLimits) -> String {
        let helper = Helper {
            program: "/bin/sh".into(),
            arguments: vec!["-c".into(), script.into()],
        };
        let limits = Limits {
            compile,
            ..Limits::default()
        };
        ask(&helper, &limits, &vec![7; 100_000])
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn a_child_that_does_nothing_is_ended_when_its_time_is_over() {
        let compile = CompileLimits {
            wall: Duration::from_millis(10),
            ..CompileLimits::default()
        };
        // `exec`, so that the shell leaves no child of its own behind.
        let said = refusal("exec /bin/sleep 1000", compile);
        assert_eq!(
            said,
            "the module cannot be compiled: it took more than 0.01 s"
        );
    }

    #[test]
    fn signals_are_told_as_the_limit_that_sent_them() {
        for (signal, said) in [
            ("XCPU", "it took more than 20 s of CPU time"),
            ("ABRT", "it needed more than 1024 MiB of memory"),
        ] {
            let found = refusal(&format!("kill -{signal} $$"), CompileLimits::default());
            assert_eq!(found, format!("the module cannot be compiled: {said}"));
        }
    }

    #[test]
    fn a_flood_of_code_is_cut_and_refused() {
        let compile = CompileLimits {
            code: 1 << 20,
            ..CompileLimits::default()
        };
        assert_eq!(
            refusal("head -c 3000000 /dev/zero", compile),
            "the module cannot be compiled: its machine code has more than 1 MiB"
        );
    }

    #[test]
    fn words_of_the_child_are_the_reason_and_cleaned() {
        assert_eq!(
            refusal(
                "printf 'no\\033[31m idea\\n' >&2; exit 1",
                CompileLimits::default()
            ),
            "the module cannot be compiled: no [31m idea"
        );
    }

    #[test]
    fn a_program_that_is_not_there_is_not_the_modules_fault() {
        let helper = Helper::new("/nowhere/compiler");
        let refusal = ask(&helper, &Limits::default(), b"").unwrap_err();
        assert!(!refusal.blames_module());
        assert_eq!(
            refusal.to_string(),
            "the compiler's process /nowhere/compiler cannot be started: No such file or directory (os error 2)"
        );
    }
}
