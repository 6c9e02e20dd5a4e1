//! Holds a lab for people and scripts: starts one, says where its kubeconfig is, and ends it when standard input closes.
//!
//! `plimsoll-lab [CRD_FOLDER]...` prints two lines to standard output, `kubeconfig PATH` and `processes ID...`.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use plimsoll_lab::{Lab, LabError, Options};

fn main() -> ExitCode {
    match hold() {
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

fn hold() -> Result<(), LabError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime.map_err(|source| LabError::Spawn {
        program: "the runtime".to_owned(),
        source,
    })?;
    let crds = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let lab = runtime.block_on(Lab::start(Options {
        crds,
        ..Options::default()
    }))?;
    let processes: Vec<String> = lab.processes().iter().map(u32::to_string).collect();
    let said = writeln!(
        std::io::stdout(),
        "kubeconfig {}\nprocesses {}",
        lab.kubeconfig().display(),
        processes.join(" ")
    );
    if said.is_ok() {
        // An error ends the wait as the end of the input does.
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
    }
    Ok(())
}
