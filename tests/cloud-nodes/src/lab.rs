//! The process that holds a lab: it is started, says when it is ready, and ends when its standard input closes.

use std::io::{self, BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

/// A process that holds a lab. It ends its control plane when it ends itself.
pub(crate) struct LabProcess {
    child: Child,
    /// `None` once it is being read.
    said: Option<ChildStdout>,
    is_ready: bool,
}

/// A lab that is ready.
pub(crate) struct Ready {
    /// Where its kubeconfig is.
    pub(crate) kubeconfig: PathBuf,
    /// The line that names its processes.
    pub(crate) processes: String,
}

impl LabProcess {
    /// Starts a lab with the definitions of a folder.
    pub(crate) fn start(program: &Path, definitions: &Path) -> io::Result<Self> {
        let mut child = Command::new(program)
            .arg(definitions)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // Ctrl-C of a terminal is for this process alone, which then ends that one.
            .process_group(0)
            .spawn()
            .map_err(|error| io::Error::other(format!("{}: {error}", program.display())))?;
        let said = child.stdout.take();
        Ok(Self {
            child,
            said,
            is_ready: false,
        })
    }

    /// Waits until the lab is ready. Fails where it ends instead; why stands on standard error.
    pub(crate) async fn ready(&mut self) -> io::Result<Ready> {
        let said = self.said.take();
        let read = tokio::task::spawn_blocking(move || {
            let lines = said
                .into_iter()
                .flat_map(|said| BufReader::new(said).lines());
            lines.take(2).collect::<io::Result<Vec<String>>>()
        });
        let lines = read.await.map_err(io::Error::other)??;
        let ready = match &lines[..] {
            [first, processes] => first.strip_prefix("kubeconfig ").map(|path| Ready {
                kubeconfig: path.into(),
                processes: processes.clone(),
            }),
            _ => None,
        };
        self.is_ready = ready.is_some();
        ready.ok_or_else(|| io::Error::other("the lab has ended"))
    }

    /// Ends it. One that is still starting does not read its input, and is killed; the kernel ends what it has started.
    pub(crate) fn end(mut self) -> io::Result<()> {
        drop(self.child.stdin.take());
        if !self.is_ready {
            // An error says that it has ended already.
            drop(self.child.kill());
        }
        self.child.wait().map(drop)
    }
}
