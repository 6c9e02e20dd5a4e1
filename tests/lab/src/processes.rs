//! The processes of a lab, and that none outlives it.
//!
//! One thread starts them and waits for the lab's end; then it kills each by process id, last started first. The thread
//! matters: each process asks the kernel (by `setpriv`) to be killed when the thread that started it ends, which is what
//! happens when this whole process is killed, and must not happen because some worker of a runtime retires.
//!
//! A process is known by name. It may be killed, and started again as it was.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
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
    /// Names and ids in the order of the first start.
    ids: Vec<(String, u32)>,
    /// Program and arguments of each that was started, for another start.
    started: BTreeMap<String, (PathBuf, Vec<String>)>,
}

enum Request {
    Start(Box<Command>, String, SyncSender<std::io::Result<u32>>),
    /// The first that has ended by itself, with its status.
    AnyEnded(SyncSender<Option<(String, String)>>),
    /// The status of one that has ended; `None` while it runs, and of one that is not known.
    HasEnded(String, SyncSender<Option<String>>),
    /// Kills one and waits for its end; `false` where there is none.
    Kill(String, SyncSender<bool>),
    /// Sends a signal; `false` where there is none, or it has ended.
    Signal(String, Signal, SyncSender<bool>),
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
            started: BTreeMap::new(),
        }
    }

    /// Starts `program` in a process group of its own. Its log goes on where that of an earlier process of the name ends.
    pub(crate) fn start(
        &mut self,
        name: &str,
        program: &Path,
        arguments: &[String],
    ) -> Result<(), LabError> {
        let path = self.log_path(name);
        let file = |source| LabError::File {
            path: path.clone(),
            source,
        };
        let log = OpenOptions::new().create(true).append(true).open(&path);
        let log = log.map_err(file)?;
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
        let request = |reply| Request::Start(Box::new(command), name.to_owned(), reply);
        let spawn = |source| LabError::Spawn {
            program: format!("setpriv for {}", program.display()),
            source,
        };
        let id = self.ask(request)?.map_err(spawn)?;
        match self.ids.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => *known = id,
            None => self.ids.push((name.to_owned(), id)),
        }
        let again = (program.to_owned(), arguments.to_vec());
        self.started.insert(name.to_owned(), again);
        Ok(())
    }

    /// Starts one that has ended as it was started before.
    pub(crate) fn start_again(&mut self, name: &str) -> Result<(), LabError> {
        let again = self.started.get(name).cloned();
        let (program, arguments) = again.ok_or_else(|| unknown(name))?;
        self.start(name, &program, &arguments)
    }

    /// Ends one at once, as the kernel ends a process that is out of memory.
    pub(crate) fn kill(&self, name: &str) -> Result<(), LabError> {
        let killed = self.ask(|reply| Request::Kill(name.to_owned(), reply))?;
        killed.then_some(()).ok_or_else(|| unknown(name))
    }

    /// Sends one a signal.
    pub(crate) fn signal(&self, name: &str, signal: Signal) -> Result<(), LabError> {
        let sent = self.ask(|reply| Request::Signal(name.to_owned(), signal, reply))?;
        sent.then_some(()).ok_or_else(|| unknown(name))
    }

    /// The status with which one ended; `None` while it runs.
    pub(crate) fn has_ended(&self, name: &str) -> Result<Option<String>, LabError> {
        self.ask(|reply| Request::HasEnded(name.to_owned(), reply))
    }

    /// An error if one of them has ended by itself.
    pub(crate) fn all_alive(&self) -> Result<(), LabError> {
        match self.ask(Request::AnyEnded)? {
            None => Ok(()),
            Some((program, status)) => Err(LabError::Ended {
                log: self.last_words(&program),
                program,
                status,
            }),
        }
    }

    /// Process ids in the order of the first start of each.
    pub(crate) fn ids(&self) -> Vec<u32> {
        self.ids.iter().map(|(_, id)| *id).collect()
    }

    /// All that a process has written so far.
    pub(crate) fn log(&self, name: &str) -> String {
        let text = std::fs::read(self.log_path(name)).unwrap_or_default();
        String::from_utf8_lossy(&text).into_owned()
    }

    /// The end of a process's log, on one line.
    pub(crate) fn last_words(&self, name: &str) -> String {
        let log = self.log(name);
        let lines: Vec<&str> = log.lines().filter(|line| !line.trim().is_empty()).collect();
        lines[lines.len().saturating_sub(4)..].join(" | ")
    }

    /// Has the keeper answer.
    fn ask<T>(&self, request: impl FnOnce(SyncSender<T>) -> Request) -> Result<T, LabError> {
        let (reply, answer) = mpsc::sync_channel(1);
        let requests = self.requests.as_ref().ok_or(LabError::Stopped)?;
        let sent = requests.send(request(reply));
        sent.map_err(|_| LabError::Stopped)?;
        answer.recv().map_err(|_| LabError::Stopped)
    }

    fn log_path(&self, name: &str) -> PathBuf {
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

fn unknown(name: &str) -> LabError {
    LabError::NotRunning {
        program: name.to_owned(),
    }
}

fn keep(inbox: &Receiver<Request>) {
    let mut children = Children::default();
    while let Ok(request) = inbox.recv() {
        children.answer(request);
    }
    for (_, child) in children.running.iter_mut().rev() {
        end(child);
    }
}

/// The processes that were started and not killed, in the order of their start.
#[derive(Default)]
struct Children {
    running: Vec<(String, Child)>,
}

impl Children {
    /// Does what is asked. Who asked may have gone meanwhile; that is no matter.
    fn answer(&mut self, request: Request) {
        match request {
            Request::Start(mut command, name, reply) => {
                let goes_on = |child: &mut Child| status(child).is_none();
                self.running
                    .retain_mut(|(known, child)| *known != name || goes_on(child));
                let started = command.spawn().map(|child| {
                    let id = child.id();
                    self.running.push((name, child));
                    id
                });
                let _ = reply.send(started);
            }
            Request::AnyEnded(reply) => {
                let mut running = self.running.iter_mut();
                let ended = running.find_map(|(name, child)| Some((name.clone(), status(child)?)));
                let _ = reply.send(ended);
            }
            Request::HasEnded(name, reply) => {
                let _ = reply.send(self.find(&name).and_then(status));
            }
            Request::Kill(name, reply) => {
                let known = self.running.iter().position(|(known, _)| *known == name);
                if let Some(at) = known {
                    end(&mut self.running.remove(at).1);
                }
                let _ = reply.send(known.is_some());
            }
            Request::Signal(name, signal, reply) => {
                let sent = self.find(&name).is_some_and(|child| {
                    status(child).is_none()
                        && kill_process_group(Pid::from_child(child), signal).is_ok()
                });
                let _ = reply.send(sent);
            }
        }
    }

    /// The last of a name: those before it have ended.
    fn find(&mut self, name: &str) -> Option<&mut Child> {
        let mut named = self.running.iter_mut().rev();
        named
            .find(|(known, _)| known == name)
            .map(|(_, child)| child)
    }
}

/// The status with which a process ended; `None` while it runs.
fn status(child: &mut Child) -> Option<String> {
    let ended = child.try_wait().ok().flatten();
    ended.map(|status| status.to_string())
}

/// Kills a process and waits for its end. Errors say that it has ended already, which is what is wanted.
fn end(child: &mut Child) {
    let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    let _ = child.wait();
}
