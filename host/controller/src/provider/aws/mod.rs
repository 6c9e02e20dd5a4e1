//! EC2 as a provider: its calls, classes that are kept up to date, and what the queue says of instances.

mod class_calls;
mod classes;
mod ended;
mod health;
mod interruption;
mod looks;
mod market;
mod profiles;
mod reconciler;
mod templates;
mod version;

use std::sync::Arc;

use kube::Client;
use plimsoll_aws::{CallFailure, Clients, ClusterAccess, Ec2, NodeSettings, QueueStanding};
use plimsoll_base::time::Timestamp;
use plimsoll_engine::Input;
use plimsoll_model::action::CloudCall;
use plimsoll_model::catalogue::Catalogues;
use tokio::sync::Mutex;
use tokio::sync::mpsc::{Receiver, channel};
use tokio::task::JoinSet;

use self::classes::Classes;
use self::ended::Ended;
use self::interruption::Interruptions;
use self::market::Follower;
use self::version::Version;
use super::{Calling, Provider, Telling};
use crate::metrics::families::{LAUNCH_FAILURES, TERMINATION_FAILURES};
use crate::{Notices, Telemetry};

pub use self::version::VersionSource;

/// Inputs that wait to be read; senders of more wait.
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
    /// `true` if neither Pricing nor IAM can be reached, as in a network without a way out: compiled list prices stand, and instance profiles
    /// are left.
    pub is_isolated: bool,
    /// `true` if classes are not tried out before they are launched.
    pub skips_dry_runs: bool,
    /// The source of the cluster's version of Kubernetes, read from time to time.
    pub version: VersionSource,
    /// Name of the queue with messages about instances; `None` for none.
    pub queue: Option<String>,
    /// Numbers about what it does.
    pub telemetry: Telemetry,
    /// Where events are published.
    pub notices: Notices,
}

struct AwsProvider {
    ec2: Arc<Ec2>,
    telemetry: Telemetry,
    catalogues: Arc<Catalogues>,
    said: Mutex<Receiver<Input>>,
    _tasks: JoinSet<()>,
}

/// EC2 as a provider, once every class that there is was looked at.
pub async fn aws(setup: AwsSetup) -> Arc<dyn Provider> {
    let (tell, said) = channel(AHEAD);
    let (say, heard) = channel(AHEAD);
    let mut ec2 = Ec2::new(setup.clients, setup.cluster);
    if setup.skips_dry_runs {
        ec2 = ec2.without_dry_runs();
    }
    let ec2 = Arc::new(ec2);
    if setup.queue.is_none() {
        ec2.set_queue(QueueStanding::Unnamed);
    }
    let market = Follower::start(&ec2, setup.is_isolated);
    let client = setup.client.clone();
    let version = Version::new(setup.version, client.clone());
    let settings = (setup.nodes, setup.is_isolated);
    let at = (setup.client, setup.notices.clone());
    let mut classes = Classes::new(at, Arc::clone(&ec2), settings, market, version);
    classes.first().await;
    let catalogues = classes.catalogues();
    let mut tasks = JoinSet::new();
    let ended = Ended::new(Arc::clone(&ec2), setup.notices, heard, tell);
    tasks.spawn(ended.follow());
    tasks.spawn(classes.follow(say.clone()));
    if let Some(name) = setup.queue {
        let interruptions = Interruptions {
            ec2: Arc::clone(&ec2),
            name,
            say: say.clone(),
            telemetry: setup.telemetry.clone(),
        };
        tasks.spawn(interruptions.follow());
    } else {
        tracing::warn!(
            "no interruption queue: spot instances that are taken back are heard of when they are gone; expected one as INTERRUPTION_QUEUE"
        );
    }
    tasks.spawn(templates::tidy(Arc::clone(&ec2)));
    // IAM has no endpoint within a network without a way out.
    if !setup.is_isolated {
        tasks.spawn(profiles::tidy(Arc::clone(&ec2), client));
    }
    let telemetry = setup.telemetry.clone();
    tasks.spawn(health::follow(Arc::clone(&ec2), say, telemetry));
    Arc::new(AwsProvider {
        ec2,
        telemetry: setup.telemetry,
        catalogues,
        said: Mutex::new(said),
        _tasks: tasks,
    })
}

impl AwsProvider {
    fn count_failures(&self) {
        for failure in self.ec2.take_failures() {
            match failure {
                CallFailure::Launch {
                    zone,
                    zone_id,
                    capacity_type,
                    reason,
                } => {
                    let labels = [
                        ("zone", zone.as_str()),
                        ("zone_id", &zone_id),
                        ("capacity_type", capacity_type.as_str()),
                        ("reason", &reason),
                    ];
                    self.telemetry.count(LAUNCH_FAILURES.name, &labels);
                }
                CallFailure::Termination { zone, zone_id } => {
                    let labels = [("zone", zone.as_str()), ("zone_id", &zone_id)];
                    self.telemetry.count(TERMINATION_FAILURES.name, &labels);
                }
            }
        }
    }
}

impl Provider for AwsProvider {
    fn catalogues(&self) -> Arc<Catalogues> {
        Arc::clone(&self.catalogues)
    }

    fn call<'a>(&'a self, call: &'a CloudCall) -> Calling<'a> {
        Box::pin(async {
            let outcome = self.ec2.call(call).await;
            self.count_failures();
            outcome
        })
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
