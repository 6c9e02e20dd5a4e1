//! The processes of a lab, and that none outlives it.
//!
//! One thread starts them and waits for the lab's end; then it kills each by process id, last started first. The thread
//! matters: each process asks the kernel (by `setpriv`) to be killed when the thread that started it ends, which is what
//! happens when this whole process is killed, and must not happen because some worker of a runtime retires.

use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread::JoinHandle;

use rustix::process::{Pid, Signal, kill_process_group};

use crate::error::LabError;

/// Owns the thread that owns the processes.
pub(crate) struct Processes {
    requests: Option<SyncSender<Request>>,
    keeper: Option<JoinHandle<()>>,
    folder: PathBuf,
    ids: Vec<u32>,
}

enum Request {
    Start(Box<Command>, &'static str, SyncSender<std::io::Result<u32>>),
    /// The first that has ended, with its status.
    AnyEnded(SyncSender<Option<(&'static str, String)>>),
}

impl Processes {
    /// None yet; each will write `NAME.log` into `folder`.
    pub(crate) fn new(folder: &Path) -> Self {
        let (requests, inbox) = mpsc::sync_channel(1);
        let keeper = std::thread::spawn(move || keep(&inbox));
        Self {
            requests: Some(requests),
            keeper: Some(keeper),
            folder: folder.to_owned(),
            ids: Vec::new(),
        }
    }

    /// Starts `program` in a process group of its own.
    pub(crate) fn start(
        &mut self,
        name: &'static str,
        program: &Path,
        arguments: &[String],
    ) -> Result<(), LabError> {
        let path = self.log(name);
        let file = |source| LabError::File {
            path: path.clone(),
            source,
        };
        let log = File::create(&path).map_err(file)?;
        let mut command = Command::new("setpriv");
        command
            .args(["--pdeathsig", "KILL", "--"])
            .arg(program)
            .args(arguments);
        command
            .current_dir(&self.folder)
            .env("HOME", &self.folder)
            .env("KWOK_WORKDIR", &self.folder);
        command
            .stdin(Stdio::null())
            .stdout(log.try_clone().map_err(file)?)
            .stderr(log)
            .process_group(0);
        let (reply, answer) = mpsc::sync_channel(1);
        self.ask(Request::Start(Box::new(command), name, reply))?;
        let started = answer.recv().map_err(|_| LabError::Stopped)?;
        let spawn = |source| LabError::Spawn {
            program: format!("setpriv for {}", program.display()),
            source,
        };
        self.ids.push(started.map_err(spawn)?);
        Ok(())
    }

    /// An error if one of them has ended by itself.
    pub(crate) fn all_alive(&self) -> Result<(), LabError> {
        let (reply, answer) = mpsc::sync_channel(1);
        self.ask(Request::AnyEnded(reply))?;
        match answer.recv().map_err(|_| LabError::Stopped)? {
            None => Ok(()),
            Some((program, status)) => Err(LabError::Ended {
                program,
                status,
                log: last_lines(&self.log(program)),
            }),
        }
    }

    /// Process ids in the order of their start.
    pub(crate) fn ids(&self) -> Vec<u32> {
        self.ids.clone()
    }

    fn ask(&self, request: Request) -> Result<(), LabError> {
        let requests = self.requests.as_ref().ok_or(LabError::Stopped)?;
        requests.send(request).map_err(|_| LabError::Stopped)
    }

    fn log(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.log"))
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        drop(self.requests.take());
        if let Some(keeper) = self.keeper.take() {
            // A keeper that panicked has ended, and its end has killed them.
            let _ = keeper.join();
        }
    }
}

fn keep(inbox: &Receiver<Request>) {
    let mut children: Vec<(&'static str, Child)> = Vec::new();
    while let Ok(request) = inbox.recv() {
        // Who asked may have gone meanwhile; that is no matter.
        let _ = match request {
            Request::Start(mut command, name, reply) => reply
                .send(command.spawn().map(|child| {
                    let id = child.id();
                    children.push((name, child));
                    id
                }))
                .map_err(drop),
            Request::AnyEnded(reply) => {
                let ended = children.iter_mut().find_map(|(name, child)| {
                    child
                        .try_wait()
                        .ok()
                        .flatten()
                        .map(|status| (*name, status.to_string()))
                });
                reply.send(ended).map_err(drop)
            }
        };
    }
    for (_, child) in children.iter_mut().rev() {
        // Errors say that it has ended already, which is what is wanted. The data is thrown away, so there is nothing to save.
        let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
        let _ = child.wait();
    }
}

/// The end of a log, on one line.
fn last_lines(log: &Path) -> String {
    let text = std::fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    lines[lines.len().saturating_sub(4)..].join(" | ")
}
