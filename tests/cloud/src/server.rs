//! The server: a request goes by its service to the world, past faults and rates, and its answer comes back or is lost.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use http::{HeaderMap, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1::Builder;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

use crate::call::{Call, Service};
use crate::fault::{Effect, Fault};
use crate::sending::{Lost, Sending, Sent};
use crate::world::World;
use crate::{ec2, eks, iam, iam_policy, pricing, sqs, ssm, sts, wire};

/// Most bytes of a request.
const MOST_BYTES: usize = 1 << 20;

/// How a cloud begins.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The port on loopback; 0 takes any that is free.
    pub port: u16,
    /// The world as it is at first.
    pub world: World,
}

/// A cloud that serves until it is dropped.
pub struct Cloud {
    address: SocketAddr,
    shared: Arc<Shared>,
    _serving: JoinSet<()>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// Told of whatever may have put a message on a queue.
    changed: Notify,
    /// Polls that wait for a message.
    waiting: AtomicUsize,
    /// Calls that have been held so far.
    held: AtomicUsize,
}

/// A poll that waits, counted until it does not, be it that its connection was closed.
struct Waiting<'s>(&'s AtomicUsize);

impl<'s> Waiting<'s> {
    fn new(count: &'s AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[derive(Default)]
struct State {
    world: World,
    calls: Vec<Call>,
}

impl Cloud {
    /// Begins to serve. Fails where the port is taken.
    pub async fn start(options: Options) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port)).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::default());
        shared.lock().world = options.world;
        let mut serving = JoinSet::new();
        serving.spawn(serve(listener, Arc::clone(&shared)));
        Ok(Self {
            address,
            shared,
            _serving: serving,
        })
    }

    /// URL of all its services.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Environment of a program that is to serve a cluster of this name on it, as AWS's tools and Karpenter have it: variables and their values.
    pub fn environment(&self, cluster: &str) -> Vec<(&'static str, String)> {
        let region = self.with(|world| world.region.clone());
        let key = || "test".to_owned();
        vec![
            ("AWS_ENDPOINT_URL", self.url()),
            ("AWS_REGION", region.clone()),
            ("AWS_DEFAULT_REGION", region),
            ("AWS_ACCESS_KEY_ID", key()),
            ("AWS_SECRET_ACCESS_KEY", key()),
            ("AWS_EC2_METADATA_DISABLED", "true".to_owned()),
            ("CLUSTER_NAME", cluster.to_owned()),
            ("INTERRUPTION_QUEUE", cluster.to_owned()),
        ]
    }

    /// Reads or changes what there is.
    pub fn with<T>(&self, act: impl FnOnce(&mut World) -> T) -> T {
        let told = act(&mut self.shared.lock().world);
        self.shared.changed.notify_waiters();
        told
    }

    /// Calls that were answered so far, in the order of their answers.
    pub fn calls(&self) -> Vec<Call> {
        self.shared.lock().calls.clone()
    }

    /// Polls that wait for a message now.
    pub fn waiting_polls(&self) -> usize {
        self.shared.waiting.load(Ordering::SeqCst)
    }

    /// Calls that have been held since the cloud began; one whose answer is held has been carried out by then.
    pub fn held_calls(&self) -> usize {
        self.shared.held.load(Ordering::SeqCst)
    }

    /// Forgets the calls so far.
    pub fn forget_calls(&self) {
        self.shared.lock().calls.clear();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections: JoinSet<()> = JoinSet::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::task::yield_now().await;
            continue;
        };
        while connections.try_join_next().is_some() {}
        let shared = Arc::clone(&shared);
        connections.spawn(async move {
            let answer = service_fn(|request| answer(request, Arc::clone(&shared)));
            let connection = Builder::new()
                .timer(TokioTimer::new())
                .serve_connection(TokioIo::new(stream), answer);
            // How a connection ended is told to its client, by its end.
            let _ = connection.await;
        });
    }
}

/// A request, read.
struct Asked {
    service: Service,
    /// The region that it is signed for.
    region: String,
    operation: String,
    input: Value,
    /// Where the client believes the server to be.
    host: String,
    started: SystemTime,
}

async fn answer(request: Request<Incoming>, shared: Arc<Shared>) -> Result<Response<Sent>, Lost> {
    let started = SystemTime::now();
    let (head, body) = request.into_parts();
    let Ok(body) = Limited::new(body, MOST_BYTES).collect().await else {
        let words = "the request was cut or is too large";
        return Sending::Whole.of(wire::plain(StatusCode::BAD_REQUEST, words));
    };
    let body = body.to_bytes();
    let signed = signed_for(&head.headers).or_else(|| sts::unsigned(&body));
    let Some((service, region)) = signed else {
        let words = "the request is signed for no service that is served here";
        return Sending::Whole.of(wire::plain(StatusCode::FORBIDDEN, words));
    };
    let (path, headers) = (head.uri.path(), &head.headers);
    let (operation, input) = wire::read(service, path, headers, &body);
    let host = headers.get(header::HOST);
    let host = host.and_then(|host| host.to_str().ok()).unwrap_or_default();
    let asked = Asked {
        service,
        region: region.to_owned(),
        operation,
        input,
        host: host.to_owned(),
        started,
    };
    let (answered, sending) = shared.answered(&asked).await;
    let response = wire::written(service, &asked.operation, &answered);
    shared.log(asked, &answered);
    sending.of(response)
}

fn signed_for(headers: &HeaderMap) -> Option<(Service, &str)> {
    let authorization = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    Service::signed_for(authorization)
}

impl Shared {
    /// The answer, and how much of it is to come.
    async fn answered(&self, asked: &Asked) -> (Result<Value, Fault>, Sending) {
        let (operation, input) = (&*asked.operation, &asked.input);
        let effect = {
            let world = &mut self.lock().world;
            let named = ec2::texts(input, "InstanceId").len();
            if !world.take_tokens(operation, named) {
                return (Err(Fault::throttled(asked.service)), Sending::Whole);
            }
            let signed = (asked.service, asked.region.as_str());
            if let Some(denied) = iam_policy::denial(world, signed, operation, input) {
                return (Err(denied), Sending::Whole);
            }
            let subjects = ec2::subjects(world, operation, input);
            world.take_fault(operation, |fault| {
                // Overrides of a fleet meet their errors one by one.
                let is_of_override =
                    operation == "CreateFleet" && matches!(fault.effect, Effect::Fails(_));
                let mut subjects = subjects.iter();
                !fault.is_narrow()
                    || !is_of_override && subjects.any(|(own, zone)| fault.covers(own, zone))
            })
        };
        match effect {
            Some(Effect::Fails(fault)) => (Err(fault), Sending::Whole),
            Some(Effect::Holds) => self.hold().await,
            Some(Effect::HoldsAnswer) => {
                // The client does not hear of an error either.
                drop(self.act(asked).await);
                self.hold().await
            }
            Some(Effect::LosesAnswer) => (self.act(asked).await, Sending::Nothing),
            Some(Effect::CutsAnswer) => (self.act(asked).await, Sending::Cut),
            Some(Effect::HalvesAnswer) => (self.act(asked).await, Sending::Half),
            None => (self.act(asked).await, Sending::Whole),
        }
    }

    /// Holds a call for good: its connection ends with who asked, or with the cloud.
    async fn hold<T>(&self) -> T {
        self.held.fetch_add(1, Ordering::SeqCst);
        std::future::pending().await
    }

    async fn act(&self, asked: &Asked) -> Result<Value, Fault> {
        let deadline = Instant::now() + sqs::wait(&asked.operation, &asked.input);
        loop {
            let mut changed = pin!(self.changed.notified());
            // Before looking, so that what comes in between is not missed.
            changed.as_mut().enable();
            let (answered, next) = {
                let world = &mut self.lock().world;
                let answered = act(world, asked)?;
                (answered, sqs::next_due(world, &asked.input))
            };
            if Instant::now() >= deadline || !sqs::is_empty(&answered) {
                return Ok(answered);
            }
            // A clock that stands does not come nearer, so it is not looked at without end.
            let next = next.map(|next| Instant::now() + next.max(Duration::from_millis(10)));
            let until = next.map_or(deadline, |next| next.min(deadline));
            let _waiting = Waiting::new(&self.waiting);
            // Past the time or told of a change, it is looked again.
            let _ = timeout_at(until, changed).await;
        }
    }

    fn log(&self, asked: Asked, answered: &Result<Value, Fault>) {
        let has_changed = asked.operation != "ReceiveMessage";
        let call = Call {
            service: asked.service,
            operation: asked.operation,
            input: asked.input,
            started: asked.started,
            error: answered.as_ref().err().map(|fault| fault.code.clone()),
        };
        self.lock().calls.push(call);
        if has_changed {
            self.changed.notify_waiters();
        }
    }
}

fn act(world: &mut World, asked: &Asked) -> Result<Value, Fault> {
    let (operation, input) = (&*asked.operation, &asked.input);
    match asked.service {
        Service::Ec2 => ec2::answer(world, operation, input),
        Service::Eks => eks::answer(world, operation, input),
        Service::Iam => iam::answer(world, operation, input),
        Service::Pricing => pricing::answer(world, operation, input),
        Service::Sqs => sqs::answer(world, operation, input, &asked.host),
        Service::Ssm => ssm::answer(world, operation, input),
        Service::Sts => sts::answer(world, operation, input),
    }
}
