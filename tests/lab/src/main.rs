//! Holds a lab for people and scripts: starts one, says where its kubeconfig is, and ends it when standard input closes.
//!
//! `plimsoll-lab [--serve PROGRAM] [CRD_FOLDER]...` prints two lines to standard output, `kubeconfig PATH` and
//! `processes ID...`. With a program it also installs our definitions, a class, a pool, a Policy and a load, runs `PROGRAM run` there until
//! the end, and says what can be tried. None of the processes outlives it, even if it is killed.

mod playground;

use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use plimsoll_lab::{Lab, LabError, Options};

const USAGE: &str = "--serve names no program; expected --serve PROGRAM [CRD_FOLDER]...";
/// A program that cannot serve has ended by then.
const TRIAL: Duration = Duration::from_secs(1);
const INTERVAL: Duration = Duration::from_millis(50);

fn main() -> ExitCode {
    let asked = match Asked::read(std::env::args_os().skip(1)) {
        Ok(asked) => asked,
        Err(words) => {
            eprintln!("error: {words}");
            return ExitCode::from(2);
        }
    };
    match hold(asked) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let mut chain = error.to_string();
            let mut source = std::error::Error::source(&error);
            while let Some(cause) = source {
                chain = format!("{chain}: {cause}");
                source = cause.source();
            }
            eprintln!("error: {chain}");
            ExitCode::from(3)
        }
    }
}

/// The command line.
struct Asked {
    program: Option<PathBuf>,
    crds: Vec<PathBuf>,
}

impl Asked {
    /// Reads the arguments; what is wrong with them, in words.
    fn read(arguments: impl Iterator<Item = OsString>) -> Result<Self, &'static str> {
        let mut arguments = arguments.peekable();
        let program = match arguments.next_if(|first| first == "--serve") {
            Some(_) => Some(arguments.next().ok_or(USAGE)?.into()),
            None => None,
        };
        Ok(Self {
            program,
            crds: arguments.map(PathBuf::from).collect(),
        })
    }
}

fn hold(asked: Asked) -> Result<(), LabError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime.map_err(|source| LabError::Spawn {
        program: "the runtime".to_owned(),
        source,
    })?;
    let mut options = Options {
        crds: asked.crds,
        ..Options::default()
    };
    let program = asked.program;
    if program.is_some() {
        options.definitions = plimsoll_api::crd::definitions(plimsoll_api::crd::Provider::Kwok);
    }
    let lab = runtime.block_on(Lab::start(options))?;
    let mut served = match &program {
        Some(program) => Some(runtime.block_on(serve_with(&lab, program))?),
        None => None,
    };
    let mut processes = lab.processes();
    processes.extend(served.as_ref().map(Child::id));
    let processes: Vec<String> = processes.iter().map(u32::to_string).collect();
    let said = writeln!(
        std::io::stdout(),
        "kubeconfig {}\nprocesses {}",
        lab.kubeconfig().display(),
        processes.join(" ")
    );
    if let Some(program) = &program {
        eprintln!("{}", playground::invitation(lab.kubeconfig(), program));
    }
    if said.is_ok() {
        // An error ends the wait as the end of the input does.
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
    }
    if let Some(served) = &mut served {
        // An error says that it has ended already.
        let _ = served.kill();
        let _ = served.wait();
    }
    Ok(())
}

async fn serve_with(lab: &Lab, program: &Path) -> Result<Child, LabError> {
    playground::furnish(&lab.client(), program).await?;
    // The kernel kills it where this process is killed. It is started on the main thread, which lives as long.
    let mut command = Command::new("setpriv");
    command
        .args(["--pdeathsig", "KILL", "--"])
        .arg(program)
        .args(["run", "--provider", "kwok", "--disable-leader-election"])
        // Ports that are free, so that nothing else on the machine is in the way.
        .args([
            "--bind-address=127.0.0.1",
            "--metrics-port=0",
            "--health-probe-port=0",
        ])
        // Standard output says where the lab is.
        .arg("--log-output-paths=stderr")
        .env("SYSTEM_NAMESPACE", playground::NAMESPACE)
        .arg("--kubeconfig")
        .arg(lab.kubeconfig())
        .stdin(Stdio::null());
    let failed = |source| LabError::Spawn {
        program: format!("setpriv for {}", program.display()),
        source,
    };
    let mut child = command.spawn().map_err(failed)?;
    let start = Instant::now();
    while start.elapsed() < TRIAL {
        if let Some(status) = child.try_wait().map_err(failed)? {
            return Err(LabError::Ended {
                program: "the program to serve".to_owned(),
                status: status.to_string(),
                log: "what it said stands above".to_owned(),
            });
        }
        tokio::time::sleep(INTERVAL).await;
    }
    Ok(child)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(arguments: &[&str]) -> Result<Asked, &'static str> {
        Asked::read(arguments.iter().map(OsString::from))
    }

    #[test]
    fn a_program_to_serve_must_be_named() {
        assert_eq!(read(&["--serve"]).err(), Some(USAGE));
        let asked = read(&["--serve", "plimsoll", "crds"]).ok().unwrap();
        assert_eq!(asked.program, Some(PathBuf::from("plimsoll")));
        assert_eq!(asked.crds, [PathBuf::from("crds")]);
        assert_eq!(read(&["crds"]).ok().unwrap().program, None);
    }
}
