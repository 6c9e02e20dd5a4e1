//! A proxy before a lab's API server, for who is to see faults: it delays, refuses and cuts requests by verb and resource, loses
//! answers, shows an older view, and knows every request that came.
//!
//! It listens on loopback without encryption and speaks to the API server with the rights of its client, the lab's own as a rule. Nothing of it outlives the value.

mod call;
mod fault;
mod forward;

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use k8s_openapi::api::core::v1::Namespace;
use kube::api::{Api, ListParams};
use kube::{Client, Config};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::credentials::write;
use crate::error::LabError;

pub use call::{Call, Verb};
use fault::Rules;
pub use fault::{Fault, Rule};

/// A proxy at work. It ends, with all its connections, when this value is dropped.
pub struct Proxy {
    shared: Arc<Shared>,
    kubeconfig: PathBuf,
    address: String,
    _listening: JoinSet<()>,
}

struct Shared {
    upstream: Client,
    rules: Mutex<Rules>,
    /// Requests that came, in their order.
    calls: watch::Sender<Vec<Call>>,
    /// Requests that have been held so far.
    held: watch::Sender<usize>,
    /// The version that is shown instead of the present one.
    view: watch::Sender<Option<u64>>,
}

impl Shared {
    /// Takes note of a request; the fault that befalls it.
    fn enter(&self, call: Call) -> Option<Fault> {
        let fault = self.rules().fault(&call);
        self.calls.send_modify(|calls| calls.push(call));
        fault
    }

    /// Holds a request for good: its connection ends with who asked, or with the proxy.
    async fn hold(&self) {
        self.held.send_modify(|held| *held += 1);
        std::future::pending::<()>().await;
    }

    fn rules(&self) -> std::sync::MutexGuard<'_, Rules> {
        self.rules.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Proxy {
    /// Listens for requests to the API server of this client; the kubeconfig that leads here is written into `folder`.
    pub(crate) async fn start(upstream: Client, folder: &Path) -> Result<Self, LabError> {
        let failed = |source| LabError::File {
            path: folder.to_owned(),
            source,
        };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
        let listener = listener.map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        let address = format!("http://127.0.0.1:{port}");
        let kubeconfig = format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: lab\n\
             clusters: [{{name: lab, cluster: {{server: '{address}'}}}}]\n\
             users: [{{name: lab, user: {{}}}}]\n\
             contexts: [{{name: lab, context: {{cluster: lab, user: lab}}}}]\n"
        );
        let kubeconfig = write(folder, &format!("kubeconfig-{port}"), &kubeconfig)?;
        let shared = Arc::new(Shared {
            upstream,
            rules: Mutex::default(),
            calls: watch::Sender::default(),
            held: watch::Sender::default(),
            view: watch::Sender::default(),
        });
        let mut listening = JoinSet::new();
        listening.spawn(serve(listener, Arc::clone(&shared)));
        Ok(Self {
            shared,
            kubeconfig,
            address,
            _listening: listening,
        })
    }

    /// A kubeconfig that leads through the proxy, with the rights of the proxy's client.
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// A client whose requests come through the proxy.
    pub fn client(&self) -> Result<Client, LabError> {
        let address = self.address.parse();
        let mut config = Config::new(address.expect("an address of ours is a valid URL"));
        config.default_retry = false;
        Ok(Client::try_from(config)?)
    }

    /// From now on this befalls requests, after what the rules before it do.
    pub fn add(&self, rule: Rule) {
        self.shared.rules().add(rule);
    }

    /// No rule holds any more. Answers that break off later still do.
    pub fn clear(&self) {
        self.shared.rules().clear();
    }

    /// From now on watches tell nothing, and lists that take any age are answered as they would be now.
    pub async fn show_older_view(&self) -> Result<(), LabError> {
        let namespaces: Api<Namespace> = Api::all(self.shared.upstream.clone());
        let one = ListParams::default().limit(1);
        let version = namespaces
            .list_metadata(&one)
            .await?
            .metadata
            .resource_version;
        let version = version.and_then(|version| version.parse().ok());
        self.shared.view.send_replace(version);
        Ok(())
    }

    /// Watches tell what they held back, and lists are answered as they are.
    pub fn show_present_view(&self) {
        self.shared.view.send_replace(None);
    }

    /// Requests that came so far, in their order.
    pub fn calls(&self) -> Vec<Call> {
        self.shared.calls.borrow().clone()
    }

    /// Waits until so many requests have been held since the proxy began; one whose answer is held has been carried out by then.
    pub async fn until_held(&self, count: usize, deadline: Duration) -> Result<(), LabError> {
        let mut held = self.shared.held.subscribe();
        let met = timeout(deadline, held.wait_for(|held| *held >= count)).await;
        if matches!(met, Ok(Ok(_))) {
            return Ok(());
        }
        Err(LabError::Deadline {
            what: format!("request {count} to be held"),
            waited: deadline,
            last: format!("{} requests", self.calls().len()),
        })
    }

    /// Waits until a condition holds of the requests that came.
    pub async fn until(
        &self,
        what: &str,
        deadline: Duration,
        holds: impl Fn(&[Call]) -> bool,
    ) -> Result<(), LabError> {
        let mut calls = self.shared.calls.subscribe();
        let met = timeout(deadline, calls.wait_for(|calls| holds(calls))).await;
        if matches!(met, Ok(Ok(_))) {
            return Ok(());
        }
        Err(LabError::Deadline {
            what: what.to_owned(),
            waited: deadline,
            last: format!("{} requests", self.calls().len()),
        })
    }
}

/// Takes connections; they end with the listening.
async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    // A connection that cannot be taken is its client's to try again.
    while let Ok((stream, _)) = listener.accept().await {
        while connections.try_join_next().is_some() {}
        let shared = Arc::clone(&shared);
        connections.spawn(async move {
            let answer = service_fn(|request| forward::answer(Arc::clone(&shared), request));
            // How a connection ended is told to its client, by its end.
            let _ = http1::Builder::new()
                .serve_connection(TokioIo::new(stream), answer)
                .await;
        });
    }
}
