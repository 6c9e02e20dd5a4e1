//! EC2 as a provider: its calls, classes that are kept up to date, and what the queue says of instances.

mod classes;
mod interruption;
mod reconciler;

use std::sync::Arc;

use kube::Client;
use plimsoll_aws::{Clients, ClusterAccess, Ec2, NodeSettings};
use plimsoll_core::action::CloudCall;
use plimsoll_core::catalogue::Catalogues;
use plimsoll_core::engine::Input;
use plimsoll_core::time::Timestamp;
use tokio::sync::Mutex;
use tokio::sync::mpsc::{Receiver, channel};
use tokio::task::JoinSet;

use self::classes::Classes;
use super::{Calling, Provider, Telling};
use crate::Telemetry;

/// Inputs that wait to be heard; whoever tells more waits.
const AHEAD: usize = 64;

/// All that EC2 needs to serve a cluster.
pub struct AwsSetup {
    /// Client of the API server.
    pub client: Client,
    /// Clients of AWS.
    pub clients: Clients,
    /// The cluster, as nodes have to know it.
    pub cluster: ClusterAccess,
    /// Settings that change what nodes have.
    pub nodes: NodeSettings,
    /// Name of the queue with messages about instances; `None` for none.
    pub queue: Option<String>,
    /// Numbers about what it does.
    pub telemetry: Telemetry,
}

struct AwsProvider {
    ec2: Arc<Ec2>,
    catalogues: Arc<Catalogues>,
    said: Mutex<Receiver<Input>>,
    _tasks: JoinSet<()>,
}

/// EC2 as a provider, once every class that there is was looked at.
pub async fn aws(setup: AwsSetup) -> Arc<dyn Provider> {
    let (say, said) = channel(AHEAD);
    let ec2 = Arc::new(Ec2::new(setup.clients, setup.cluster));
    let mut classes = Classes::new(setup.client, Arc::clone(&ec2), setup.nodes);
    classes.first().await;
    let catalogues = classes.catalogues();
    let mut tasks = JoinSet::new();
    tasks.spawn(classes.follow(say.clone()));
    if let Some(name) = setup.queue {
        let own = Arc::clone(&ec2);
        tasks.spawn(interruption::follow(own, name, say, setup.telemetry));
    }
    Arc::new(AwsProvider {
        ec2,
        catalogues,
        said: Mutex::new(said),
        _tasks: tasks,
    })
}

impl Provider for AwsProvider {
    fn catalogues(&self) -> Arc<Catalogues> {
        Arc::clone(&self.catalogues)
    }

    fn call<'a>(&'a self, call: &'a CloudCall) -> Calling<'a> {
        Box::pin(self.ec2.call(call))
    }

    fn observe(&self, input: &Input, _: Timestamp) {
        self.ec2.observe(input);
    }

    fn next(&self) -> Telling<'_> {
        Box::pin(async {
            match self.said.lock().await.recv().await {
                Some(input) => input,
                None => std::future::pending().await,
            }
        })
    }
}
