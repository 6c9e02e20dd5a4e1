//! The run that is stopped everywhere: it provisions, consolidates with replacements, drifts, expires and terminates, in
//! three pools, one of them static, with a disruption budget, a daemon and a job.

use plimsoll_base::ids::ObjectName;
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_model::plan::Plan;
use plimsoll_model::snapshot::Snapshot;
use plimsoll_model::{
    Budget, BudgetNodes, DisruptionLimit, LabelSelector, NodePool, Object, OwnerKind,
    PodDisruptionBudget,
};
use plimsoll_oracles::fixture::{
    Amounts, OnDemand, PoolFixture, ZONE_1, ZONE_2, cluster, machine, pod, pool,
};
use plimsoll_scenarios::stage;
use plimsoll_sim::{Behaviour, Change, Recording, Run, TimedChange};

/// A run that is stopped everywhere, and what must come of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Course {
    /// The run at its start.
    pub(super) start: fn() -> Simulated,
    /// From here on nothing is asked for any more, and no order is a boundary.
    pub(super) last: Timestamp,
    /// When everything that was asked for should stand, whatever happened on the way.
    pub(super) rests: Timestamp,
    /// Until when it must stay so.
    pub(super) stays: Timestamp,
    /// Replicas of each workload in the end.
    pub(super) wish: &'static [(&'static str, usize)],
    /// The fewest boundaries that it has.
    pub(super) boundaries: usize,
}

/// A run that can be copied at any point.
pub(super) type Simulated = Run<fn(&Snapshot) -> Plan>;

/// The run of this file.
pub(super) const COURSE: Course = Course {
    start,
    last: at(45 * 60),
    rests: at(110 * 60),
    stays: at(130 * 60),
    wish: &[("web", 3), ("api", 1), ("brief", 0)],
    boundaries: 150,
};

pub(super) const fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(seconds * 1000)
}

pub(super) fn quick(own: PoolFixture) -> PoolFixture {
    own.with(|pool| {
        pool.disruption.consolidate_after = Some(Span::from_secs(30));
        pool.disruption.budgets = vec![Budget::always(BudgetNodes::Percent(100))];
    })
}

pub(super) fn scale(minute: i64, name: &str, replicas: u32) -> TimedChange {
    TimedChange {
        at: at(minute * 60),
        change: Change::Scale(ObjectName::new("default", name), replicas),
    }
}

fn relabelled(minute: i64, pool: &NodePool) -> TimedChange {
    let mut pool = pool.clone();
    pool.labels.insert("revision".into(), "two".into());
    let change = Change::Apply(Object::from(pool));
    TimedChange {
        at: at(minute * 60),
        change,
    }
}

/// All that happens in the run.
pub(super) fn recording() -> Recording {
    let brief = quick(pool("brief")).label("team", "brief");
    let general = quick(pool("general")).label("team", "general").build();
    let fixed = quick(pool("fixed").replicas(1))
        .label("team", "fixed")
        .build();
    let pdb = PodDisruptionBudget {
        name: ObjectName::new("default", "api"),
        selector: LabelSelector::match_labels([(&"app".into(), &"api".into())]),
        limit: DisruptionLimit::MaxUnavailable(1),
        always_allow_unhealthy: false,
        disruptions_allowed: 0,
        is_met: false,
    };
    let mut fixture = cluster()
        .daemon(&pod("logs").cpu(100).memory_mib(64))
        .disruption_budget(pdb)
        .pool(brief.with(|pool| pool.expire_after = Some(Span::from_secs(20 * 60))))
        .pool(quick(pool("general")).label("team", "general"))
        .pool(quick(pool("fixed").replicas(1)).label("team", "fixed"))
        .settings(|settings| settings.static_capacity = true);
    for (name, cores, price) in [("small", 2, 0.1), ("middle", 4, 0.19), ("large", 8, 0.36)] {
        let listed = machine(name, cores, price).pods(58);
        fixture = fixture.sells(listed.offered(ZONE_1, OnDemand).offered(ZONE_2, OnDemand));
    }
    let deploy = |name: &str, replicas: u32, cpu: i64, team: &str| TimedChange {
        at: at(0),
        change: Change::Deploy(stage::deployment(
            &pod(name).cpu(cpu).memory_mib(700).select("team", team),
            replicas,
        )),
    };
    let job = pod("job").cpu(700).memory_mib(256);
    let (mut objects, catalogues, settings) =
        fixture.pod(job.owned_by(OwnerKind::Job, "job")).parts();
    let job = objects.pods.pop().map(|job| TimedChange {
        at: at(10),
        change: Change::Arrive(job, Some(Span::from_secs(300))),
    });
    let mut changes = vec![
        deploy("web", 7, 900, "general"),
        deploy("api", 2, 1900, "general"),
        deploy("brief", 2, 900, "brief"),
        scale(7, "web", 3),
        relabelled(14, &general),
        relabelled(15, &fixed),
        scale(32, "brief", 0),
        scale(34, "api", 1),
    ];
    changes.extend(job);
    let world = (objects, catalogues, settings);
    stage::recording(world, at(0), Some(COURSE.stays), changes)
}

/// Instances and the world around them, without faults of their own.
pub(super) fn behaviour() -> Behaviour {
    stage::uninterrupted()
}

fn start() -> Simulated {
    let plan = plimsoll_schedule::plan as fn(&Snapshot) -> Plan;
    let mut run = Run::new(recording(), behaviour(), plan);
    run.keep_history();
    run
}
