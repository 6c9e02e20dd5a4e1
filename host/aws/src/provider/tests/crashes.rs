//! Processes that end at every call of a launch, of a look for what it gave, and of an end: the next one goes on, and there are as many
//! instances as claims, each with one, although EC2 shows them a minute late.

use std::sync::atomic::{AtomicU64, Ordering};

use tokio::task::JoinSet;

use super::*;

/// How long EC2 takes to show an instance.
const LATE: Duration = Duration::from_mins(1);
/// As often as the SDK makes a call by itself.
const TRIES: u32 = 3;

/// What befalls a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Crash {
    /// It ends once it has its answer, before it has written it down.
    AfterAnswer,
    /// Calls of an operation are carried out, and their answers lost.
    LosesAnswer(&'static str),
    /// Calls of an operation are carried out, and the connection ends amid their answers.
    CutsAnswer(&'static str),
    /// Calls of an operation are carried out, and half of their answers comes as if that were all.
    HalvesAnswer(&'static str),
    /// Calls of an operation do not reach EC2.
    NeverArrives(&'static str),
}

/// How the next process goes on.
#[derive(Clone, Copy, Debug)]
enum Next {
    /// All claims are there: it makes the same call.
    Repeats,
    /// It looks for what the call gave.
    ReadsBack,
}

/// Processes one after another, and the time that passes for them and for the cloud.
struct Course {
    scene: Scene,
    ahead: Arc<AtomicU64>,
}

impl Course {
    async fn new() -> Self {
        let scene = Scene::new().await;
        scene.cloud.with(|world| world.delays.visible = LATE);
        Self {
            scene,
            ahead: Arc::default(),
        }
    }

    /// Another process, which knows what the API server knows.
    fn process(&self) -> Ec2 {
        let (start, ahead) = (Instant::now(), Arc::clone(&self.ahead));
        let now = move || start + Duration::from_secs(ahead.load(Ordering::SeqCst));
        let known = &self.scene.ec2;
        let ec2 = Ec2 {
            unseen: Unseen::by(Box::new(now)),
            ..Ec2::new(known.clients().clone(), (*known.cluster()).clone())
        };
        ec2.serve(known.class("default"));
        ec2
    }

    fn pass(&self, time: Duration) {
        self.ahead.fetch_add(time.as_secs(), Ordering::SeqCst);
        self.scene.cloud.with(|world| world.clock.advance(time));
    }

    /// A process carries out a call, something befalls it, and the answer is lost.
    async fn crash(&self, crash: Crash, call: CloudCall) {
        let fault = match crash {
            Crash::AfterAnswer => None,
            Crash::LosesAnswer(operation) => Some(ScriptedFault::lost_answer(operation)),
            Crash::CutsAnswer(operation) => Some(ScriptedFault::cut_answer(operation)),
            Crash::HalvesAnswer(operation) => Some(ScriptedFault::halved_answer(operation)),
            Crash::NeverArrives(operation) => {
                let fault = Fault::new("InternalError", "An internal error has occurred");
                Some(ScriptedFault::error(operation, fault.with_status(500)))
            }
        };
        let cloud = &self.scene.cloud;
        cloud.with(|world| {
            let faults = fault.into_iter().map(|fault| fault.times(TRIES));
            world.faults.extend(faults);
        });
        let outcome = self.process().call(&call).await;
        cloud.with(|world| world.faults.clear());
        // A call that was refused counts as one that did not happen.
        assert!(
            !matches!(outcome, Outcome::Refused(_)),
            "{crash:?}: {outcome:?}"
        );
    }

    /// What the claims of a launch have once a process has gone on with it, as the engine goes on.
    async fn settle(&self, next: Next, mut request: LaunchRequest) -> Vec<String> {
        let process = self.process();
        if matches!(next, Next::Repeats) {
            return ids(&claims(process.call(&CloudCall::Launch(request)).await));
        }
        let mut seen = claims(process.call(&CloudCall::Find(request.clone())).await);
        while seen.contains(&ClaimLaunch::Unknown) {
            self.pass(Duration::from_secs(20));
            seen = claims(process.call(&CloudCall::Find(request.clone())).await);
        }
        let mut have = ids(&seen);
        // Those that got nothing are launched under another token.
        let left = request.claims.iter().zip(&seen);
        let left = left.filter(|(_, became)| **became == ClaimLaunch::Absent);
        request.claims = left.map(|(claim, _)| Arc::clone(claim)).collect();
        if !request.claims.is_empty() {
            request.batch.token = "00ab-1".into();
            request.batch.size = request.claims.len();
            have.extend(ids(&claims(
                process.call(&CloudCall::Launch(request)).await,
            )));
        }
        have
    }

    fn alive(&self) -> Vec<String> {
        let instances = self.scene.instances().into_iter();
        let alive = instances.map(|own| format!("aws:///{}/{}", own.zone, own.id));
        alive.collect()
    }
}

#[tokio::test]
async fn a_launch_gives_each_claim_one_instance_wherever_its_process_ends() {
    let mut crashes = vec![Crash::AfterAnswer];
    for operation in [
        "DescribeLaunchTemplates",
        "CreateLaunchTemplate",
        "CreateFleet",
    ] {
        crashes.push(Crash::LosesAnswer(operation));
        crashes.push(Crash::CutsAnswer(operation));
        crashes.push(Crash::HalvesAnswer(operation));
        crashes.push(Crash::NeverArrives(operation));
    }
    let mut cases = JoinSet::new();
    for crash in crashes {
        for next in [Next::Repeats, Next::ReadsBack] {
            cases.spawn(async move {
                let course = Course::new().await;
                course.crash(crash, CloudCall::Launch(two(OnDemand))).await;
                let mut have = course.settle(next, two(OnDemand)).await;
                let mut alive = course.alive();
                have.sort();
                alive.sort();
                assert_eq!(have.len(), 2, "{crash:?}, {next:?}");
                assert_eq!(have, alive, "{crash:?}, {next:?}");
            });
        }
    }
    cases.join_all().await;
}

#[tokio::test]
async fn a_look_for_what_a_launch_gave_may_be_made_again_wherever_its_process_ends() {
    for crash in [
        Crash::AfterAnswer,
        Crash::LosesAnswer("DescribeInstances"),
        Crash::CutsAnswer("DescribeInstances"),
        Crash::HalvesAnswer("DescribeInstances"),
        Crash::NeverArrives("DescribeInstances"),
    ] {
        let course = Course::new().await;
        let lost = Crash::LosesAnswer("CreateFleet");
        course.crash(lost, CloudCall::Launch(two(Spot))).await;
        course.crash(crash, CloudCall::Find(two(Spot))).await;
        let mut have = course.settle(Next::ReadsBack, two(Spot)).await;
        have.sort();
        let mut alive = course.alive();
        alive.sort();
        assert_eq!(have, alive, "{crash:?}");
    }
}

#[tokio::test]
async fn an_instance_ends_once_wherever_the_process_that_ends_it_does() {
    for crash in [
        Crash::AfterAnswer,
        Crash::LosesAnswer("DescribeInstances"),
        Crash::CutsAnswer("DescribeInstances"),
        Crash::HalvesAnswer("DescribeInstances"),
        Crash::NeverArrives("DescribeInstances"),
        Crash::LosesAnswer("TerminateInstances"),
        Crash::CutsAnswer("TerminateInstances"),
        Crash::HalvesAnswer("TerminateInstances"),
        Crash::NeverArrives("TerminateInstances"),
    ] {
        let course = Course::new().await;
        let launched = claims(course.scene.launch(&two(OnDemand)).await);
        let ids = ids(&launched);
        course.pass(LATE);
        let instance = ProviderId::from(ids[0].as_str());
        let end = CloudCall::Terminate { instance };
        course.crash(crash, end.clone()).await;
        let next = course.process();
        let mut outcome = next.call(&end).await;
        for _ in 0..3 {
            course.pass(LATE);
            outcome = next.call(&end).await;
        }
        assert_eq!(outcome, Outcome::Done(Answer::Gone), "{crash:?}");
        let listed = match next.call(&CloudCall::List).await {
            Outcome::Done(Answer::Listed(listed)) => listed,
            _ => Vec::new(),
        };
        let left: Vec<&str> = listed.iter().map(|own| own.instance.as_str()).collect();
        assert_eq!(left, [ids[1].as_str()], "{crash:?}");
    }
}

#[tokio::test]
async fn an_instance_that_ec2_does_not_show_yet_is_not_taken_for_gone() {
    let course = Course::new().await;
    let process = course.process();
    let launched = claims(process.call(&CloudCall::Launch(two(OnDemand))).await);
    let instance = ProviderId::from(ids(&launched)[0].as_str());
    let end = CloudCall::Terminate {
        instance: instance.clone(),
    };
    assert_eq!(process.call(&end).await, Outcome::Unknown);
    let get = CloudCall::Get { instance };
    assert_eq!(process.call(&get).await, Outcome::Unknown);
    course.pass(LATE);
    assert_eq!(process.call(&end).await, Outcome::Done(Answer::Ending));
}
