//! Holds a lab for people and scripts: starts one, says where its kubeconfig is, and ends it when standard input closes.
//!
//! `plimsoll-lab [--serve PROGRAM] [CRD_FOLDER]...` prints two lines to standard output, `kubeconfig PATH` and
//! `processes ID...`. With a program it also installs our definitions, a class and a pool, runs `PROGRAM run` there until
//! the end, and says what can be tried.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};

use plimsoll_lab::{Lab, LabError, Options, apply, example_class, example_pool};

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
    let mut arguments = std::env::args_os().skip(1).peekable();
    let serve = arguments.next_if(|first| first == "--serve");
    let program = serve.and_then(|_| arguments.next()).map(PathBuf::from);
    let mut options = Options {
        crds: arguments.map(PathBuf::from).collect(),
        ..Options::default()
    };
    if program.is_some() {
        options.definitions = plimsoll_api::crd::karpenter();
        options.definitions.push(plimsoll_api::crd::kwok());
    }
    let lab = runtime.block_on(Lab::start(options))?;
    let mut served = match &program {
        Some(program) => Some(runtime.block_on(serve_with(&lab, program))?),
        None => None,
    };
    let processes: Vec<String> = lab.processes().iter().map(u32::to_string).collect();
    let said = writeln!(
        std::io::stdout(),
        "kubeconfig {}\nprocesses {}",
        lab.kubeconfig().display(),
        processes.join(" ")
    );
    if served.is_some() {
        invite(lab.kubeconfig());
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
    apply(&lab.client(), &example_class()).await?;
    apply(&lab.client(), &example_pool()).await?;
    let mut command = Command::new(program);
    command
        .args(["run", "--provider", "kwok", "--kubeconfig"])
        .arg(lab.kubeconfig())
        .stdin(Stdio::null());
    command.spawn().map_err(|source| LabError::Spawn {
        program: program.display().to_string(),
        source,
    })
}

fn invite(kubeconfig: &Path) {
    eprintln!(
        "
The lab is up, and plimsoll serves it. In another terminal:

  export KUBECONFIG={}
  kubectl create deployment web --image=registry.k8s.io/pause --replicas=10
  kubectl set resources deployment web --requests=cpu=500m,memory=512Mi
  kubectl get nodeclaims,nodes,pods -o wide
  kubectl scale deployment web --replicas=0     # 30 s later the empty nodes go

Ctrl-D ends it all.
",
        kubeconfig.display()
    );
}
