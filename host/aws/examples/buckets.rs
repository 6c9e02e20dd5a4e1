//! A thousand instances that come and go within the buckets of an account: `buckets [instances] [launches]`.
//!
//! The cloud on loopback has the default buckets of an account; the provider runs as a program beside it, with as many calls at
//! once as the controller makes. Every instance is launched, tagged and asked to end until it is gone, while instances are listed without end.
//! Fails where a call was throttled that begins or ends an instance.

#![expect(clippy::print_stdout, reason = "the figures are what it is for")]

use std::collections::BTreeMap;
use std::error::Error;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use plimsoll_api::{Interner, Kind};
use plimsoll_aws::{Clients, ClusterAccess, Ec2, Market, NodeSettings, ServedClass};
use plimsoll_base::ids::ProviderId;
use plimsoll_base::units::PricePerHour;
use plimsoll_cloud::{Cloud, InstanceProfile, Options, World, usual_instance_rates, usual_rates};
use plimsoll_ec2_facts::Share;
use plimsoll_model::action::{Answer, ClaimLaunch, CloudCall, LaunchBatch, LaunchRequest, Outcome};
use plimsoll_model::catalogue::CapacityType;
use plimsoll_model::plan::LaunchOption;
use plimsoll_model::{NodeClaim, Object};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::sleep;

type Failure = Box<dyn Error + Send + Sync>;

const CLUSTER: &str = "demo";
const PROFILE: &str = "demo_1";
/// The argument that makes a process the one that calls.
const CALLS: &str = "--calls";
/// Calls at once, and those of them in the background: the controller's.
const AT_ONCE: (usize, usize) = (32, 4);
/// An instance takes so long to end, and is asked about so often until then.
const ENDING: Duration = Duration::from_secs(10);
const ASKED_EVERY: Duration = Duration::from_secs(2);
const LISTED_EVERY: Duration = Duration::from_secs(1);
const TYPES: [&str; 5] = ["m5.large", "m5.xlarge", "c5.large", "c5.xlarge", "r5.large"];

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let calls = arguments.first().is_some_and(|first| first == CALLS);
    if calls {
        arguments.remove(0);
    }
    let done = match (
        number(arguments.first(), 1_000),
        number(arguments.get(1), 20),
    ) {
        (Err(words), _) | (_, Err(words)) => Err(words.into()),
        (Ok(instances), Ok(launches)) if calls => call(instances, launches).await,
        (Ok(instances), Ok(launches)) => serve(instances, launches).await,
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// A number of the command line; a sentence where it is none: figures of another size than was asked for mislead.
fn number(text: Option<&String>, default: usize) -> Result<usize, String> {
    let Some(text) = text else {
        return Ok(default);
    };
    let number = text.parse().ok().filter(|number| *number > 0);
    number
        .ok_or_else(|| format!("\"{text}\" is no argument; expected a whole number of at least 1"))
}

/// Serves the cloud until the program beside it has ended, and tells of its calls.
async fn serve(instances: usize, launches: usize) -> Result<(), Failure> {
    let mut world = World::demo(CLUSTER);
    world.rates = usual_rates();
    world.instance_rates = usual_instance_rates();
    world.delays.terminated = ENDING;
    let role = world.roles.first().cloned();
    let profile = InstanceProfile {
        role,
        ..InstanceProfile::default()
    };
    world.instance_profiles.insert(PROFILE.to_owned(), profile);
    let cloud = Cloud::start(Options { port: 0, world }).await?;
    let mut calls = Command::new(std::env::current_exe()?);
    calls
        .args([CALLS, &instances.to_string(), &launches.to_string()])
        .env("AWS_ENDPOINT_URL", cloud.url())
        .env("AWS_REGION", "us-east-1")
        .env("AWS_ACCESS_KEY_ID", "key")
        .env("AWS_SECRET_ACCESS_KEY", "secret")
        .env("AWS_EC2_METADATA_DISABLED", "true")
        .stdin(Stdio::null());
    let ended = tokio::task::spawn_blocking(move || calls.status()).await??;
    let mut told: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for call in cloud.calls() {
        let (all, throttled) = told.entry(call.operation).or_default();
        *all += 1;
        *throttled += usize::from(call.error.as_deref() == Some("RequestLimitExceeded"));
    }
    println!("{:<28} {:>6} {:>10}", "operation", "calls", "throttled");
    for (operation, (all, throttled)) in &told {
        println!("{operation:<28} {all:>6} {throttled:>10}");
    }
    let is_throttled = |operation: &&str| told.get(*operation).is_some_and(|own| own.1 > 0);
    match ["TerminateInstances", "CreateFleet"]
        .iter()
        .find(|own| is_throttled(own))
    {
        Some(operation) => Err(format!("{operation} was throttled; expected no such call").into()),
        None if !ended.success() => Err("the program that calls has failed".into()),
        None => Ok(()),
    }
}

/// Launches, tags and ends.
async fn call(instances: usize, launches: usize) -> Result<(), Failure> {
    let clients = Clients::connect("0.0.0").await?;
    let ec2 = Arc::new(Ec2::new(clients, cluster()).without_dry_runs());
    ec2.serve([Arc::new(class()?)]);
    let (waited_for, others) = (lane(AT_ONCE.0 - AT_ONCE.1), lane(AT_ONCE.1));
    let mut beside = JoinSet::new();
    beside.spawn(listed(Arc::clone(&ec2)));

    let begun = Instant::now();
    let mut launching = JoinSet::new();
    for number in 0..launches {
        let count = instances / launches + usize::from(number < instances % launches);
        let request = request(number, count)?;
        launching.spawn(launched(Arc::clone(&ec2), Arc::clone(&waited_for), request));
    }
    let mut given = Vec::new();
    while let Some(launched) = launching.join_next().await {
        given.extend(launched??);
    }
    say("launched", given.len(), begun);
    for (number, instance) in given.iter().enumerate() {
        let call = CloudCall::Tag {
            instance: instance.clone(),
            claim: format!("claim-{number}").as_str().into(),
            node: format!("node-{number}").as_str().into(),
        };
        let (ec2, others) = (Arc::clone(&ec2), Arc::clone(&others));
        beside.spawn(async move { drop(answered(&ec2, &others, &call).await) });
    }

    let (begun, count) = (Instant::now(), given.len());
    let mut ending = JoinSet::new();
    for instance in given {
        let (ec2, lane) = (Arc::clone(&ec2), Arc::clone(&waited_for));
        ending.spawn(async move { ended(&ec2, &lane, instance, begun).await });
    }
    let asked = ending.join_all().await.into_iter().max();
    println!(
        "{count} instances asked to end after {:.1} s",
        asked.unwrap_or_default().as_secs_f64()
    );
    say("gone", count, begun);
    if count == instances {
        Ok(())
    } else {
        Err(format!("{count} instances were given, expected {instances}").into())
    }
}

fn say(words: &str, count: usize, begun: Instant) {
    let seconds = begun.elapsed().as_secs_f64();
    println!("{count} instances {words} after {seconds:.1} s");
}

fn lane(at_once: usize) -> Arc<Semaphore> {
    Arc::new(Semaphore::new(at_once))
}

async fn answered(ec2: &Ec2, lane: &Semaphore, call: &CloudCall) -> Outcome {
    let turn = lane.acquire().await;
    let outcome = ec2.call(call).await;
    drop(turn);
    outcome
}

async fn launched(
    ec2: Arc<Ec2>,
    lane: Arc<Semaphore>,
    request: LaunchRequest,
) -> Result<Vec<ProviderId>, Failure> {
    match answered(&ec2, &lane, &CloudCall::Launch(request)).await {
        Outcome::Done(Answer::Launched(answer)) => {
            let given = answer.claims.into_iter().filter_map(|claim| match claim {
                ClaimLaunch::Instance(machine) => Some(machine.provider_id),
                _ => None,
            });
            Ok(given.collect())
        }
        other => Err(format!("a launch ended with {other:?}").into()),
    }
}

/// Asks an instance to end until it is gone; how long after the beginning it was asked first.
async fn ended(ec2: &Ec2, lane: &Semaphore, instance: ProviderId, begun: Instant) -> Duration {
    let call = CloudCall::Terminate { instance };
    let mut asked = None;
    while answered(ec2, lane, &call).await != Outcome::Done(Answer::Gone) {
        asked.get_or_insert_with(|| begun.elapsed());
        sleep(ASKED_EVERY).await;
    }
    asked.unwrap_or_default()
}

async fn listed(ec2: Arc<Ec2>) {
    loop {
        drop(ec2.call(&CloudCall::List).await);
        sleep(LISTED_EVERY).await;
    }
}

fn cluster() -> ClusterAccess {
    ClusterAccess {
        name: CLUSTER.to_owned(),
        kubernetes: "1.36".to_owned(),
        endpoint: "https://demo.example".to_owned(),
        ca_bundle: "LS0tLQ==".to_owned(),
        service_cidr: Some("10.100.0.0/16".to_owned()),
        dns: None,
    }
}

/// A class on all that the cloud has, resolved.
fn class() -> Result<ServedClass, Failure> {
    let world = World::demo(CLUSTER);
    let subnets = world.subnets.iter();
    let subnets: Vec<Value> = subnets
        .map(|own| json!({"id": own.id, "zone": own.zone, "zoneID": own.zone_id}))
        .collect();
    let groups = world.security_groups.iter();
    let groups: Vec<Value> = groups.map(|own| json!({"id": own.id})).collect();
    let image = world.images.first().map(|image| &image.id);
    let of_arch = json!({"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]});
    let class = json!({
        "apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass",
        "metadata": {"name": "default", "uid": "class-uid", "generation": 1},
        "spec": {
            "amiSelectorTerms": [{"alias": "al2023@latest"}], "role": "nodes",
            "subnetSelectorTerms": [{"tags": {"a": "b"}}], "securityGroupSelectorTerms": [{"tags": {"a": "b"}}],
        },
        "status": {
            "subnets": subnets, "securityGroups": groups, "instanceProfile": PROFILE,
            "amis": [{"id": image, "requirements": [of_arch]}],
            "conditions": [{"type": "Ready", "status": "True", "reason": "Ready", "message": ""}],
        },
    });
    let settings = NodeSettings {
        memory_overhead: Share::from_parts_per_million(75_000),
        reserved_interfaces: 0,
        fills_open_reservations: false,
    };
    let market = Market::of_tables(&world.region);
    Ok(ServedClass::new(
        serde_json::from_value(class)?,
        &market,
        "",
        settings,
    )?)
}

/// A launch of so many claims that ask for the same.
fn request(number: usize, count: usize) -> Result<LaunchRequest, Failure> {
    let claims: Result<Vec<_>, _> = (0..count)
        .map(|own| claim(&format!("claim-{number}-{own}")))
        .collect();
    let price = PricePerHour::from_dollars(0.1).ok_or("no price")?;
    let option = |zone: &str| LaunchOption {
        instance_type: TYPES[number % TYPES.len()].into(),
        zone: zone.into(),
        capacity_type: CapacityType::OnDemand,
        reservation: None,
        price,
        list_price: price,
    };
    Ok(LaunchRequest {
        batch: LaunchBatch {
            token: format!("{number:016x}-0").as_str().into(),
            size: count,
        },
        claims: claims?,
        taken: [].into(),
        options: ["us-east-1a", "us-east-1b", "us-east-1c"]
            .map(option)
            .into(),
    })
}

fn claim(name: &str) -> Result<Arc<NodeClaim>, Failure> {
    let written = json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
        "metadata": {
            "name": name, "uid": format!("uid-{name}"), "creationTimestamp": "2026-01-31T09:00:00Z",
            "labels": {"karpenter.sh/nodepool": "general"},
        },
        "spec": {
            "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
            "requirements": [],
        },
    });
    match plimsoll_api::read(Kind::NodeClaim, &written, &mut Interner::new(), &mut |_| {}) {
        Ok((_, plimsoll_api::Object::Whole(Object::Claim(claim)))) => Ok(claim),
        _ => Err(format!("claim {name} cannot be read").into()),
    }
}
