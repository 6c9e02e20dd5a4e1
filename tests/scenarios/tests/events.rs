//! Events that people and other programs know from Karpenter: on pods that are moved or ask not to be, and on pools of which no node may
//! go.

use plimsoll_base::event_reason::EventReason;
use plimsoll_base::ids::Uid;
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_engine::Input;
use plimsoll_model::action::{Action, Answer, ObjectKey, Outcome, Purpose};
use plimsoll_model::{
    Budget, BudgetNodes, BudgetReasons, ClaimPhase, ClassRef, DoNotDisrupt, Effect, Object, Pod,
    PodPhase, Version,
};
use plimsoll_oracles::fixture::{
    Amounts, CAPACITY_TYPE, ClusterFixture, NodeFixture, OnDemand, PoolFixture, ZONE_1, cluster,
    instance_type, node, pod, pool,
};

use super::driven::{Driven, consider, ordered};

const START: Timestamp = Timestamp::from_millis(1_000_000_000);
const MINUTE: Span = Span::from_secs(60);

fn ours() -> NodeFixture {
    let ours = node("n1").managed("general").of_type("four").cpu(4000);
    let ours = ours.memory_mib(16_384).pods(110).zone(ZONE_1);
    let ours = ours.label(CAPACITY_TYPE, "on-demand");
    ours.phase(ClaimPhase::Initialized)
}

fn world(pool: PoolFixture, node: NodeFixture) -> ClusterFixture {
    let sold = instance_type("four").cpu(4000).memory_mib(16_384).pods(110);
    let sold = sold.no_overhead().price(0.2).offered(ZONE_1, OnDemand);
    cluster().pool(pool).sells(sold).node(node)
}

fn resting() -> PoolFixture {
    pool("general").with(|pool| pool.disruption.consolidate_after = None)
}

impl Driven {
    /// Reports about pods and pools since the last look: the object and the reason.
    fn told(&mut self) -> Vec<(String, String)> {
        let actions = std::mem::take(&mut self.actions).into_iter();
        let pods = self.engine.cluster().pods.objects();
        let name = |uid: &Uid| {
            let mut pods = pods.iter();
            let pod = pods.find(|pod| pod.uid == *uid);
            pod.map_or_else(|| uid.to_string(), |pod| pod.name.name.to_string())
        };
        let told = actions.filter_map(|action| match action {
            Action::Report(event) => match event.object {
                ObjectKey::Pod(uid) => Some((name(&uid), event.reason.to_string())),
                ObjectKey::Pool(pool) => Some((pool.to_string(), event.reason.to_string())),
                _ => None,
            },
            _ => None,
        });
        told.collect()
    }

    /// Time passes with nothing but its own wakes.
    fn wait(&mut self, span: Span) {
        let end = self.now + span;
        while let Some(wake) = self.engine.next_wake().filter(|wake| *wake <= end) {
            self.now = wake.max(self.now + Span::from_millis(1));
            self.hand_in(Input::Tick);
        }
        self.now = end;
        self.hand_in(Input::Tick);
    }
}

fn told(name: &str, reason: &str) -> Vec<(String, String)> {
    vec![(name.to_owned(), reason.to_owned())]
}

#[test]
fn an_owner_is_told_once_of_a_wish_that_means_nothing_and_of_the_time_that_one_lasts() {
    let wishes = |name: &str, wish: DoNotDisrupt| {
        pod(name).on("n1").with(move |pod: &mut Pod| {
            pod.phase = PodPhase::Running;
            pod.started = Some(START);
            pod.do_not_disrupt = wish.clone();
        })
    };
    let fixture = world(resting(), ours())
        .pod(wishes("vague", DoNotDisrupt::Malformed("soon".into())))
        .pod(wishes("batch", DoNotDisrupt::For(Span::from_secs(600))))
        .pod(wishes("quiet", DoNotDisrupt::Always));
    let mut driven = Driven::start(fixture, START);
    let at_first = [
        told("batch", "DoNotDisruptUntil"),
        told("vague", "InvalidDoNotDisruptAnnotation"),
    ];
    assert_eq!(driven.told(), at_first.concat());
    driven.wait(Span::from_secs(599));
    assert_eq!(driven.told(), []);
    driven.wait(MINUTE);
    let reason = "DoNotDisruptGracePeriodElapsed";
    assert_eq!(driven.told(), told("batch", reason));
    driven.wait(Span::from_secs(3600));
    assert_eq!(driven.told(), []);
}

/// Objects and words of all reports since the last look that are of one of these reasons.
fn said(driven: &mut Driven, reasons: &[EventReason]) -> Vec<(EventReason, String)> {
    let actions = std::mem::take(&mut driven.actions).into_iter();
    let said = actions.filter_map(|action| match action {
        Action::Report(event) => Some((event.reason, event.message)),
        _ => None,
    });
    said.filter(|(reason, _)| reasons.contains(reason))
        .collect()
}

#[test]
fn each_step_of_a_claim_is_told_once_and_those_of_before_are_not() {
    const STEPS: [EventReason; 3] = [
        EventReason::Launched,
        EventReason::Registered,
        EventReason::Initialized,
    ];
    let mut driven = Driven::start(world(resting(), ours()), START);
    assert_eq!(said(&mut driven, &STEPS), [], "it had come so far before");
    let claim = |phase| {
        let next = node("n2").managed("general").of_type("four");
        let (objects, ..) = cluster().node(next.phase(phase)).parts();
        Object::Claim(objects.claims[0].clone())
    };
    let rounds = [
        (ClaimPhase::Created, &STEPS[..0]),
        (ClaimPhase::Launched, &STEPS[..1]),
        (ClaimPhase::Launched, &STEPS[..0]),
        (ClaimPhase::Initialized, &STEPS[1..]),
        (ClaimPhase::Registered, &STEPS[..0]),
        (ClaimPhase::Initialized, &STEPS[..0]),
    ];
    for (version, (phase, told)) in (2..).zip(rounds) {
        driven.now = driven.now + Span::from_secs(1);
        driven.hand_in(Input::Applied(claim(phase), Version(version)));
        let words = |reason: &EventReason| {
            let words = format!(
                "Status condition transitioned, Type: {reason}, Status: Unknown -> True, Reason: {reason}"
            );
            (*reason, words)
        };
        let told: Vec<_> = told.iter().map(words).collect();
        assert_eq!(said(&mut driven, &STEPS), told, "{phase:?}");
    }
}

#[test]
fn a_pod_is_told_where_it_is_expected() {
    let fixture = world(resting(), ours())
        .pod(pod("small").cpu(1000))
        .pod(pod("large").cpu(3500));
    let mut driven = Driven::start(fixture, START);
    driven.plan();
    let mut told = said(&mut driven, &[EventReason::Nominated]);
    told.sort();
    let words: Vec<&str> = told.iter().map(|(_, words)| words.as_str()).collect();
    assert_eq!(words.len(), 2, "{words:?}");
    let there = "Pod should schedule on: nodeclaim/claim-n1, node/n1";
    assert_eq!(words[0], there);
    let bought = words[1].strip_prefix("Pod should schedule on: nodeclaim/");
    assert!(
        bought.is_some_and(|name| name.starts_with("general-")),
        "{words:?}"
    );
}

#[test]
fn a_pod_that_is_evicted_is_told_so() {
    let leaving = ours().taint("karpenter.sh/disrupted", "", Effect::NoSchedule);
    let leaving = leaving.with(|node| node.deleting = Some(START));
    let evicted = |grace: Option<Span>| {
        let web = pod("web")
            .on("n1")
            .with(|pod| pod.phase = PodPhase::Running);
        let fixture = world(resting(), leaving.clone()).pod(web);
        let fixture = fixture.with_claims(|claim| {
            claim.deleting = Some(START);
            claim.termination_grace = grace;
        });
        let mut driven = Driven::start(fixture, START);
        let order = driven.next(MINUTE, |action| ordered(action, Purpose::Evict));
        let order = order.expect("it is evicted");
        driven.told();
        driven.hand_in(Input::Outcome(order.id, Outcome::Done(Answer::Nothing)));
        driven.told()
    };
    assert_eq!(evicted(None), told("web", "Evicted"));
    let short = Some(Span::from_secs(10));
    assert_eq!(evicted(short), told("web", "Disrupted"));
}

#[test]
fn a_budget_that_limits_nothing_is_told_once_and_again_when_it_comes_back() {
    let empty = Budget {
        reasons: BudgetReasons::Listed(Vec::new()),
        ..Budget::always(BudgetNodes::Count(0))
    };
    let general = |budget: &Budget| {
        pool("general").with(|pool| pool.disruption.budgets = vec![budget.clone()])
    };
    let mut driven = Driven::start(world(general(&empty), ours()), START);
    let reason = "EmptyBudgetReasons";
    let told = driven.reports(reason);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0]
            .message
            .contains("budgets[0].reasons is an empty list")
    );
    let every = Budget::always(BudgetNodes::Count(0));
    for (version, budget, count) in [(2, &empty, 0), (3, &every, 0), (4, &empty, 1)] {
        let pool = Object::Pool(general(budget).build());
        driven.hand_in(Input::Applied(pool, Version(version)));
        assert_eq!(driven.reports(reason).len(), count, "{version}");
    }
}

#[test]
fn a_schedule_that_cannot_be_read_and_parts_that_are_ignored_are_told_once() {
    let with = |schedule: &str| {
        pool("general").with(|pool| {
            let budget = Budget {
                schedule: Some(schedule.into()),
                duration: Some(Span::from_secs(3600)),
                ..Budget::always(BudgetNodes::Count(0))
            };
            pool.disruption.budgets = vec![budget];
            pool.unread.ignored = vec!["spec.pace is ignored".into()];
        })
    };
    let mut driven = Driven::start(world(with("61 * * * *"), ours()), START);
    let reason = "FailedValidation";
    let told = driven.reports(reason);
    assert_eq!(told.len(), 1, "{told:?}");
    let words = &told[0].message;
    assert!(
        words.starts_with("spec.pace is ignored; spec.disruption.budgets[0].schedule is "),
        "{words}"
    );
    for (version, schedule, count) in [(2, "61 * * * *", 0), (3, "0 * * * *", 1)] {
        let pool = Object::Pool(with(schedule).build());
        driven.hand_in(Input::Applied(pool, Version(version)));
        assert_eq!(driven.reports(reason).len(), count, "{version}");
    }
}

#[test]
fn a_pool_of_another_providers_class_is_told_once_whose_it_is() {
    let of = |kind: &str| {
        pool("general").with(|pool| {
            pool.class = ClassRef {
                group: "karpenter.example.com".into(),
                kind: kind.into(),
                name: "default".into(),
            };
        })
    };
    let mut driven = Driven::start(world(of("ExampleNodeClass"), ours()), START);
    let reason = "NodeClassNotServed";
    let told = driven.reports(reason);
    assert_eq!(told.len(), 1, "{told:?}");
    let words = &told[0].message;
    let begin = "left to another controller: spec.template.spec.nodeClassRef is karpenter.example.com/ExampleNodeClass; provider ";
    assert!(words.starts_with(begin), "{words}");
    let pool = Object::Pool(of("ExampleNodeClass").build());
    driven.hand_in(Input::Applied(pool, Version(2)));
    assert_eq!(driven.reports(reason), []);
}

#[test]
fn a_pool_whose_budget_lets_no_node_go_is_told_so_once() {
    let none = Budget {
        nodes: BudgetNodes::Count(0),
        reasons: BudgetReasons::All,
        schedule: None,
        duration: None,
    };
    let general = pool("general").with(|pool| {
        pool.disruption.consolidate_after = Some(Span::ZERO);
        pool.disruption.budgets = vec![none];
    });
    let mut driven = Driven::start(world(general, ours()), START);
    let mut reports = Vec::new();
    for name in ["first", "second"] {
        let request = driven.next(MINUTE, consider);
        let request = request.expect("a decision is asked for");
        let decision = plimsoll_disrupt::consider(&request.snapshot, &request.question);
        driven.told();
        driven.hand_in(Input::Considered(request.id, Box::new(decision)));
        reports.extend(driven.told());
        // A node without a claim, so that there is reason to look again.
        let other = cluster().node(node(name)).parts().0.nodes.remove(0);
        driven.hand_in(Input::Applied(Object::Node(other), Version(2)));
    }
    assert_eq!(reports, told("general", "DisruptionBlocked"));
}
