//! The program is killed at one of its calls to EC2, or at a write to the API server between them, before it is carried out or before its
//! answer comes, and started again: each claim has an instance of its own, none was launched twice, and none is left over when the pods go.
//!
//! EC2 shows instances late, and the next answer to CreateFleet is lost. Each point has a course of its own in one lab: two pods get an instance
//! each, and both go when the pods do, by hand where the process has died before. The two most dangerous points are taken by default, all
//! with `PLIMSOLL_LIVE=full`.

use std::time::Duration;

use plimsoll_cloud::{Delays, ScriptedFault};
use plimsoll_lab::{Fault, Proxy, Rule, Verb};

use super::super::served::{end, in_full};
use super::*;

/// Instances of a course: each pod needs one.
const PODS: usize = 2;
/// EC2 shows an instance, and it runs, so long after its launch.
const LATE: Duration = Duration::from_secs(3);
/// An instance that is asked to end has ended so long after.
const ENDING: Duration = Duration::from_secs(1);

/// A call or a write at which the process dies.
#[derive(Clone, Copy, Debug)]
enum Point {
    /// A call to EC2.
    Ec2(&'static str),
    /// A write to the API server.
    Write(Verb, &'static str),
}

/// The part of a course in which it dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// Pods come and their instances are launched.
    Launch,
    /// Pods go and so do the instances.
    End,
}

/// The death of the process.
#[derive(Clone, Copy, Debug)]
struct Death {
    part: Part,
    point: Point,
    /// Whether it is carried out, and only its answer does not come.
    arrives: bool,
}

const fn death(part: Part, point: Point, arrives: bool) -> Death {
    Death {
        part,
        point,
        arrives,
    }
}

const DEATHS: [Death; 10] = [
    // The first two run always: the instances are there and no object says so; they end and no object says so.
    death(Part::Launch, Point::Ec2("CreateFleet"), true),
    death(Part::End, Point::Ec2("TerminateInstances"), true),
    death(Part::Launch, Point::Ec2("CreateFleet"), false),
    death(Part::Launch, Point::Ec2("CreateLaunchTemplate"), true),
    death(
        Part::Launch,
        Point::Write(Verb::Patch, "nodeclaims/status"),
        false,
    ),
    death(Part::Launch, Point::Ec2("CreateTags"), true),
    death(Part::Launch, Point::Write(Verb::Create, "nodeclaims"), true),
    death(Part::End, Point::Ec2("DescribeInstances"), false),
    death(Part::End, Point::Ec2("TerminateInstances"), false),
    death(Part::End, Point::Write(Verb::Patch, "nodeclaims"), true),
];

/// A scene in which the program reaches the API server by a proxy.
struct Course {
    scene: Scene,
    proxy: Proxy,
    /// Calls to EC2 and writes at which it has died.
    died: (usize, usize),
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_dies_at_a_call_to_ec2_leaves_no_instance_too_many() {
    let mut scene = Scene::unserved("on-demand").await;
    scene.cloud.with(|world| {
        world.delays = Delays {
            visible: LATE,
            running: LATE,
            terminated: ENDING,
            ..Delays::default()
        };
    });
    let proxy = scene.lab.proxy().await.expect("a proxy");
    // Dry runs are calls to CreateFleet as well, which are not meant here. The kubeconfig of a proxy names no certificate authority.
    let more = ["DISABLE_DRY_RUN=true", "CLUSTER_CA_BUNDLE=LS0t"];
    run(&mut scene.lab, proxy.kubeconfig(), &scene.cloud, &more);
    let mut course = Course {
        scene,
        proxy,
        died: (0, 0),
    };
    let chosen = if in_full() { &DEATHS[..] } else { &DEATHS[..2] };
    for (number, death) in chosen.iter().enumerate() {
        eprintln!("death {} of {}: {death:?}", number + 1, chosen.len());
        course.run(*death).await;
    }
}

impl Course {
    async fn run(&mut self, death: Death) {
        let before = self.launched();
        let (api, asked) = (self.scene.pods(), pods(PODS));
        let lost = ScriptedFault::lost_answer("CreateFleet");
        self.scene.cloud.with(|world| world.faults = vec![lost]);
        if death.part == Part::Launch {
            self.arm(death);
            tokio::join!(run_pods(&api, asked), self.die(death));
        } else {
            run_pods(&api, asked).await;
        }
        self.until_each_claim_has_its_instance(death).await;
        let launched = self.launched();
        let new = launched.difference(&before).count();
        assert_eq!(new, PODS, "{death:?}: none was launched twice");

        if death.part == Part::End {
            self.arm(death);
            tokio::join!(end(&api), self.die(death));
        } else {
            end(&api).await;
            // What is in question has been seen: there is no wait until the nodes are known to be empty.
            let claims = self.scene.claims_api();
            let now = DeleteParams::default();
            let asked = claims.delete_collection(&now, &ListParams::default()).await;
            asked.expect("deleted");
        }
        self.scene.until_alone().await;
        let gone = until("the claims to go", PATIENCE, async || {
            Ok(self.scene.claims().await.is_empty().then_some(()))
        });
        gone.await.expect("no finalizer stays");
        assert_eq!(self.launched(), launched, "{death:?}: none came after");
    }

    /// The process will be held at the point of its death.
    fn arm(&self, death: Death) {
        match death.point {
            Point::Ec2(operation) => self.scene.cloud.with(|world| {
                if operation == "CreateLaunchTemplate" {
                    // The launch finds that its template is gone, and makes it once more.
                    world.launch_templates.clear();
                }
                let held = ScriptedFault::hold(operation, death.arrives);
                world.faults.insert(0, held);
            }),
            Point::Write(verb, resource) => {
                let fault = if death.arrives {
                    Fault::HoldAnswer
                } else {
                    Fault::Hold
                };
                self.proxy.add(Rule {
                    times: Some(1),
                    ..Rule::new(&[verb], &[resource], fault)
                });
            }
        }
    }

    /// Kills the process once it is held, and starts it again.
    async fn die(&mut self, death: Death) {
        match death.point {
            Point::Ec2(_) => {
                self.died.0 += 1;
                let held = until("the process to come to this call", PATIENCE, async || {
                    Ok((self.scene.cloud.held_calls() == self.died.0).then_some(()))
                });
                held.await.expect("it comes there");
            }
            Point::Write(..) => {
                self.died.1 += 1;
                let held = self.proxy.until_held(self.died.1, PATIENCE);
                held.await.expect("it comes there");
            }
        }
        self.scene.lab.kill(NAME).expect("it runs");
        self.proxy.clear();
        let again = self.scene.lab.start_again(NAME).await;
        again.expect("it starts again");
    }

    /// Waits until the instances are named after their nodes, the last that is done to them: by then each claim has one of its own, and there
    /// are no others.
    async fn until_each_claim_has_its_instance(&self, death: Death) {
        let named = until("the instances to be named", PATIENCE, async || {
            let alive = self.scene.alive();
            let is_named = |own: &Instance| own.tags.contains_key("Name");
            Ok((alive.len() >= PODS && alive.iter().all(is_named)).then_some(alive))
        });
        let alive = named.await.expect("named");
        let alive: BTreeSet<String> = alive.into_iter().map(|own| own.id).collect();
        let claims = self.scene.claims().await;
        let instance = |claim: &DynamicObject| {
            let id = claim.data["status"]["providerID"].as_str();
            let id = id.and_then(|id| id.rsplit('/').next());
            id.unwrap_or_default().to_owned()
        };
        let of_claims: BTreeSet<String> = claims.iter().map(instance).collect();
        assert_eq!(claims.len(), PODS, "{death:?}: a claim for each pod");
        assert_eq!(of_claims, alive, "{death:?}: an instance for each claim");
    }

    /// Ids of all instances that ever were.
    fn launched(&self) -> BTreeSet<String> {
        self.scene
            .cloud
            .with(|world| world.instances.keys().cloned().collect())
    }
}
