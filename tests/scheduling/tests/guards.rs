//! Bounds on what packing by price may do: they hold whatever a policy says of prices, yield rather than leave a pod waiting,
//! and tell what they cost.

use std::collections::BTreeMap;

use plimsoll_oracles::judge::cases;
use proptest::prelude::*;

use plimsoll_base::requirement::Requirement;
use plimsoll_base::resources::ResourceName;
use plimsoll_base::units::PricePerHour;
use plimsoll_check::{PriceRule as Whose, review};
use plimsoll_hooks::rank::{Price, Prices, Quote};
use plimsoll_model::plan::{LaunchOption, Plan, Target};
use plimsoll_model::snapshot::{Guard, Snapshot};
use plimsoll_model::{OwnerKind, PackingMode};
use plimsoll_oracles::fixture::*;
use plimsoll_schedule::{finish, guard_costs, note_guards, plan, prepare};

const GENERATION: &str = "karpenter.k8s.aws/instance-generation";
const FAMILY: &str = "karpenter.k8s.aws/instance-family";

pub(crate) fn family(name: &str, cores: i64, dollars: f64) -> TypeFixture {
    let kind: String = name.split('.').next().unwrap_or(name).to_owned();
    let generation: String = kind.chars().filter(char::is_ascii_digit).collect();
    let mut fixture = instance_type(name)
        .cpu(cores * 1000)
        .memory_mib(cores * 4096)
        .pods(500)
        .no_overhead()
        .describes(is_in(FAMILY, &[&kind]))
        .describes(is_in(GENERATION, &[&generation]))
        .price(dollars);
    for zone in ZONES {
        fixture = fixture.offered(zone, OnDemand);
    }
    fixture = fixture.price(dollars / 3.0);
    for zone in ZONES {
        fixture = fixture.offered(zone, Spot);
    }
    fixture
}

/// Twelve cores, dearer per core the smaller; burstable and old ones are cheapest.
pub(crate) fn shop() -> ClusterFixture {
    let mut cluster = cluster();
    for (name, cores, dollars) in [
        ("t3.large", 2, 0.05),
        ("m2.large", 2, 0.05),
        ("m7i.large", 2, 0.11),
        ("m6i.large", 2, 0.12),
        ("m6a.large", 2, 0.13),
        ("m7i.4xlarge", 16, 0.8),
        ("m7i.24xlarge", 96, 4.0),
    ] {
        cluster = cluster.sells(family(name, cores, dollars));
    }
    cluster
}

pub(crate) fn on_demand() -> PoolFixture {
    pool("general").capacity_types(&[OnDemand])
}

pub(crate) fn spot() -> PoolFixture {
    pool("general").capacity_types(&[Spot])
}

fn bought(plan: &Plan) -> Vec<&LaunchOption> {
    let chosen = plan.claims.iter().map(|claim| &claim.options[0]);
    chosen.collect()
}

pub(crate) fn names(plan: &Plan) -> Vec<String> {
    let chosen = bought(plan).into_iter();
    let mut names: Vec<String> = chosen.map(|o| o.instance_type.to_string()).collect();
    names.dedup();
    names
}

fn most_on_one_node(plan: &Plan) -> usize {
    let mut counts: BTreeMap<Target, usize> = BTreeMap::new();
    for placement in &plan.placements {
        *counts.entry(placement.target).or_default() += 1;
    }
    counts.into_values().max().unwrap_or(0)
}

pub(crate) fn texts(plan: &Plan) -> Vec<&str> {
    plan.notes.iter().map(|note| note.text.as_str()).collect()
}

pub(crate) fn web(count: usize) -> impl Iterator<Item = PodFixture> {
    pod("web").cpu(1900).memory_mib(4096).replicas(count)
}

#[test]
fn burstable_and_old_types_are_bought_only_when_named() {
    let cheap = plan(&shop().pool(on_demand()).pods(web(1)).snapshot());
    assert_eq!(names(&cheap), ["m7i.large"]);
    for named in [
        on_demand().only_types(&["t3.large", "m7i.large"]),
        on_demand().needs(is_in(FAMILY, &["t3", "m7i"])),
    ] {
        let plan = plan(&shop().pool(named).pods(web(1)).snapshot());
        assert_eq!(names(&plan), ["t3.large"]);
    }
    let open = shop()
        .pool(on_demand())
        .pods(web(1))
        .settings(|settings| settings.guards.exotic_types = true);
    assert_eq!(
        bought(&plan(&open.snapshot()))[0].list_price.nanos(),
        50_000_000
    );
    let asked = web(1).map(|pod| pod.select(FAMILY, "t3"));
    let plan = plan(&shop().pool(on_demand()).pods(asked).snapshot());
    assert_eq!(
        (names(&plan), texts(&plan)),
        (vec!["t3.large".to_owned()], vec![])
    );
}

#[test]
fn guard_yields_where_only_kept_back_types_are_left_and_says_so() {
    let without_plain = on_demand().needs(is_in(GENERATION, &["2", "3"]));
    let plan = plan(&shop().pool(without_plain).pods(web(1)).snapshot());
    assert_eq!(plan.unplaced, []);
    assert_eq!(
        texts(&plan),
        [
            "guard on burstable, previous-generation and bare-metal types yields on 1 new node(s): nothing else would hold their pods"
        ]
    );
}

#[test]
fn pods_of_a_node_are_bounded_by_its_size() {
    let tiny = || {
        pod("web")
            .cpu(10)
            .memory_mib(10)
            .replicas(400)
            .collect::<Vec<_>>()
    };
    let only = |name| shop().pool(on_demand().only_types(&[name])).pods(tiny());
    assert_eq!(
        most_on_one_node(&plan(&only("m7i.4xlarge").snapshot())),
        110
    );
    let large = only("m7i.24xlarge").snapshot();
    assert_eq!(most_on_one_node(&plan(&large)), 250);
}

fn replicas_on_one_node(waiting: usize, running: usize) -> usize {
    let owned = |name: &str| {
        pod(name)
            .cpu(100)
            .memory_mib(100)
            .owned_by(OwnerKind::ReplicaSet, "web")
    };
    let running = owned("old").replicas(running).map(|pod| pod.on("n1"));
    let cluster = shop()
        .pool(on_demand())
        .node(node("n1").cpu(2000).taint("full", "", NoSchedule))
        .pods(owned("web").replicas(waiting))
        .pods(running);
    let plan = plan(&cluster.snapshot());
    assert_eq!(plan.unplaced, []);
    most_on_one_node(&plan)
}

#[test]
fn new_node_gets_at_most_a_third_of_a_workload() {
    let cases = [
        ((2, 0), 2),
        ((9, 0), 9),
        ((10, 0), 3),
        ((11, 0), 3),
        ((4, 5), 4),
        ((5, 5), 3),
    ];
    for ((waiting, running), expected) in cases {
        assert_eq!(
            replicas_on_one_node(waiting, running),
            expected,
            "{waiting} wait, {running} run"
        );
    }
}

#[test]
fn where_replicas_are_kept_apart_and_how_far_are_settings() {
    let most = |from: u32, divisor: u32| {
        let web = pod("web").cpu(100).memory_mib(100);
        let web = web.owned_by(OwnerKind::ReplicaSet, "web").replicas(4);
        let cluster = shop().pool(on_demand()).pods(web).settings(|all| {
            all.guards.replicas_apart_from = from;
            all.guards.replicas_apart_divisor = divisor;
        });
        most_on_one_node(&plan(&cluster.snapshot()))
    };
    assert_eq!((most(5, 2), most(4, 2)), (4, 2));
    assert_eq!((most(4, 1), most(4, 4), most(4, 100)), (4, 1, 1));
}

#[test]
fn replicas_of_many_workloads_cost_nothing_where_they_can_be_dealt() {
    let cluster = |enabled: bool| {
        let mut cluster = shop().pool(on_demand().only_types(&["m7i.large", "m7i.4xlarge"]));
        for workload in 0..40 {
            let name = format!("app-{workload:02}");
            let one = pod(&name).cpu(400).memory_mib(1600);
            let one = one.owned_by(OwnerKind::ReplicaSet, &name);
            cluster = cluster.pods(one.replicas(10));
        }
        cluster.settings(|all| all.guards.enabled = enabled)
    };
    let (with, without) = (cluster(true).snapshot(), cluster(false).snapshot());
    let (guarded, free) = (plan(&with), plan(&without));
    assert_eq!(review(&with, &guarded, Whose::List), []);
    assert_eq!(guarded.cost.list, free.cost.list);
    assert_eq!(guarded.claims.len(), free.claims.len());
    assert_guarded(&with, &guarded);
}

#[test]
fn replicas_of_hundreds_of_workloads_cost_little_where_their_shapes_must_be_spread() {
    let cluster = |apart_from: u32| {
        let mut cluster = shop().pool(on_demand());
        for workload in 0..420 {
            let name = format!("app-{workload:03}");
            let one = pod(&name).cpu([100, 250, 500, 1000, 1500][workload % 5]);
            let one = one.memory_mib([256, 1024, 4096][workload % 3]);
            let one = one.owned_by(OwnerKind::ReplicaSet, &name);
            cluster = cluster.pods(one.replicas(10));
        }
        cluster.settings(|all| all.guards.replicas_apart_from = apart_from)
    };
    let (with, without) = (cluster(10).snapshot(), cluster(u32::MAX).snapshot());
    let (guarded, free) = (plan(&with), plan(&without));
    assert_eq!(review(&with, &guarded, Whose::List), []);
    assert_guarded(&with, &guarded);
    let ratio = guarded.cost.list.dollars() / free.cost.list.dollars();
    assert!(ratio < 1.02, "{ratio}");
}

/// Nodes per type and zone that a plan buys on spot terms.
pub(crate) fn markets(plan: &Plan) -> BTreeMap<(String, String), usize> {
    let mut counts = BTreeMap::new();
    for option in bought(plan) {
        assert_eq!(option.capacity_type, Spot);
        let market = (option.instance_type.to_string(), option.zone.to_string());
        *counts.entry(market).or_default() += 1;
    }
    counts
}

#[test]
fn spot_nodes_of_a_pool_are_spread_over_markets_from_the_tenth_on() {
    let small = || spot().only_types(&["m7i.large", "m6i.large", "m6a.large"]);
    let few = small().zones(&[ZONE_1]);
    let few = plan(&shop().pool(few).pods(web(9)).snapshot());
    assert_eq!(markets(&few).into_values().collect::<Vec<_>>(), [9]);
    for (pods, most) in [(10, 2), (20, 4), (25, 5)] {
        let plan = plan(&shop().pool(small()).pods(web(pods)).snapshot());
        let markets = markets(&plan);
        assert_eq!(markets.values().sum::<usize>(), pods);
        assert_eq!(markets.values().max(), Some(&most), "{markets:?}");
        assert_eq!(texts(&plan), Vec::<&str>::new());
    }
}

#[test]
fn spot_nodes_that_are_there_count_towards_the_share() {
    let mut cluster = shop().pool(spot()).pods(web(6));
    for at in 0..4 {
        let standing = node(&format!("n{at}"))
            .of_type("m7i.large")
            .zone(ZONE_1)
            .label(CAPACITY_TYPE, "spot")
            .cpu(100)
            .managed("general");
        cluster = cluster.node(standing);
    }
    let plan = plan(&cluster.snapshot());
    let first = ("m7i.large".to_owned(), ZONE_1.to_owned());
    assert!(!markets(&plan).contains_key(&first));
    assert_eq!(markets(&plan).values().max(), Some(&2));
}

#[test]
fn share_of_spot_yields_where_pods_are_bound_to_one_market() {
    let bound = web(12).map(|pod| pod.select(ZONE, ZONE_1).select(INSTANCE_TYPE, "m7i.large"));
    let plan = plan(&shop().pool(spot()).pods(bound).snapshot());
    assert_eq!((plan.unplaced.len(), plan.claims.len()), (0, 12));
    assert_eq!(
        texts(&plan),
        [
            "guard on spot nodes of one type and zone yields on 10 new node(s): nothing else would hold their pods"
        ]
    );
}

#[test]
fn compatible_pools_have_no_guards() {
    let compatible = || on_demand().packing(PackingMode::Compatible);
    let plan = plan(&shop().pool(compatible()).pods(web(1)).snapshot());
    assert_eq!(bought(&plan)[0].list_price.nanos(), 50_000_000);
    assert_eq!(texts(&plan), Vec::<&str>::new());
}

#[test]
fn guards_tell_what_they_cost_dearest_first() {
    let snapshot = shop().pool(on_demand()).pods(web(4)).snapshot();
    let prepared = prepare(&snapshot);
    let mut plan = finish(&prepared, None);
    let costs = guard_costs(&prepared, None, &plan);
    let found: Vec<_> = costs
        .iter()
        .map(|one| (one.guard, one.cost.nanos()))
        .collect();
    assert_eq!(
        found,
        [(None, 240_000_000), (Some(Guard::ExoticTypes), 240_000_000)]
    );
    note_guards(&prepared, None, &mut plan);
    assert_eq!(
        texts(&plan),
        [
            "all guards together cost $0.2400/h more than without (54.5 % of the plan)",
            "guard on burstable, previous-generation and bare-metal types costs $0.2400/h more than without (54.5 % of the plan)",
        ]
    );
}

#[test]
fn guards_that_change_nothing_are_not_mentioned() {
    let named = on_demand().needs(is_in(FAMILY, &["m7i"]));
    let snapshot = shop().pool(named).pods(web(4)).snapshot();
    let prepared = prepare(&snapshot);
    let mut plan = finish(&prepared, None);
    note_guards(&prepared, None, &mut plan);
    assert_eq!(texts(&plan), Vec::<&str>::new());
}

/// A policy's answer to whatever is asked, drawn from a seed.
fn answer(snapshot: &Snapshot, seed: u64) -> Prices {
    let prepared = prepare(snapshot);
    let rows = prepared
        .question()
        .map_or(0, |question| question.pools.cand.len());
    let quote = |at: usize| {
        let drawn = (seed ^ at as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        let nanos = i64::try_from(drawn % 1_000_000).unwrap_or(0) * 1000 + 1;
        Quote {
            price: Some(PricePerHour::from_nanos(nanos)),
            reason: 0,
        }
    };
    let price = |at: usize| Price {
        first: quote(at),
        first_count: 0,
        first_group: 0,
        then: quote(at),
    };
    Prices {
        rows: (0..rows).map(price).collect(),
        held: Vec::new(),
    }
}

/// Every guard, read off a plan without the planner's help.
fn assert_guarded(snapshot: &Snapshot, plan: &Plan) {
    let guards = &snapshot.settings.guards;
    let mut replicas: BTreeMap<&str, usize> = BTreeMap::new();
    for owner in snapshot.pods.iter().filter_map(|pod| pod.owner.as_ref()) {
        *replicas.entry(owner.uid.as_str()).or_default() += 1;
    }
    for (row, claim) in plan.claims.iter().enumerate() {
        let listed = snapshot.catalogues.of(&claim.class);
        let sold = listed.get(claim.options[0].instance_type.as_str());
        let sold = sold.expect("what is bought is in the catalogue");
        let cores = sold.capacity.get(&ResourceName::Cpu);
        let here = || {
            plan.placements
                .iter()
                .filter(|p| p.target == Target::New(row))
        };
        let most = if cores <= 30_000 { 110 } else { 250 };
        assert!(here().count() <= most);
        let too_much = |name: &ResourceName| {
            let all: i64 = snapshot
                .pods
                .iter()
                .map(|pod| pod.spec.requests.get(name))
                .sum();
            sold.capacity.get(name) * 100 > all * i64::from(guards.node_share_percent)
        };
        let is_large = cores > guards.node_share_from_cpu_milli;
        assert!(
            !is_large || !(too_much(&ResourceName::Cpu) || too_much(&ResourceName::Memory)),
            "{}",
            sold.name
        );
        let family = sold.requirements.get(FAMILY).and_then(Requirement::single);
        let family = family.map_or("", AsRef::as_ref);
        assert!(!["t3", "m2"].contains(&family), "{}", sold.name);
        let mut own: BTreeMap<&str, usize> = BTreeMap::new();
        for placement in here() {
            if let Some(owner) = &snapshot.pods[placement.pod].owner {
                *own.entry(owner.uid.as_str()).or_default() += 1;
            }
        }
        for (uid, count) in own {
            assert!(replicas[uid] < 10 || count <= replicas[uid] / 3, "{count}");
        }
    }
}

/// A market has more than its share only where no other that may be bought in would hold the nodes there: a guard yields
/// rather than leave pods waiting.
fn assert_spread(snapshot: &Snapshot, plan: &Plan) {
    let spot = markets(plan);
    let all: usize = spot.values().sum();
    let most = if all >= 10 { all / 5 } else { all };
    let count = |name: &str, zone: &str| spot.get(&(name.into(), zone.into())).copied();
    for claim in &plan.claims {
        let own = &claim.options[0];
        if count(own.instance_type.as_str(), &own.zone).is_none_or(|count| count <= most) {
            continue;
        }
        let kept_back = ["t3.large", "m2.large", "m7i.24xlarge"];
        let sold = snapshot.catalogues.of_others().types().iter();
        for sold in sold.filter(|sold| !kept_back.contains(&sold.name.as_str())) {
            let offered = sold.offerings.iter();
            for other in offered.filter(|other| other.capacity_type == Spot) {
                let holds = sold.allocatable(other).fits(&claim.requests);
                let left = count(sold.name.as_str(), &other.zone).unwrap_or(0) < most;
                assert!(
                    !(holds && left),
                    "{} in {}: {spot:?}",
                    sold.name,
                    other.zone
                );
            }
        }
    }
}

/// Plans groups of pods (how many, cpu in milli-cores and memory in MiB, whether a workload owns them) at the prices of a
/// policy drawn from a seed, and asserts that every guard holds.
fn assert_guards_hold(seed: u64, groups: &[(usize, i64, bool)]) {
    let mut cluster = shop().pool(spot());
    for (at, (count, size, owned)) in groups.iter().enumerate() {
        let name = format!("app-{at}");
        let one = pod(&name).cpu(*size).memory_mib(*size);
        let one = if *owned {
            one.owned_by(OwnerKind::ReplicaSet, &name)
        } else {
            one
        };
        cluster = cluster.pods(one.replicas(*count));
    }
    let snapshot = cluster.snapshot();
    let plan = finish(&prepare(&snapshot), Some(&answer(&snapshot, seed)));
    assert_eq!(plan.unplaced, []);
    let spread_yields = |text: &&str| text.starts_with("guard on spot nodes of one type and zone");
    let mut others = texts(&plan);
    others.retain(|text| !spread_yields(text));
    assert_eq!(others, Vec::<&str>::new());
    let findings = review(&snapshot, &plan, Whose::Policy);
    assert!(findings.is_empty(), "{findings:?}");
    assert_guarded(&snapshot, &plan);
    assert_spread(&snapshot, &plan);
}

#[test]
fn first_fit_where_it_is_cheaper_names_nothing_that_guards_keep_back() {
    assert_guards_hold(1_124_228_105_775_435_896, &[(19, 667, false)]);
    assert_guards_hold(
        3_931_587_812_278_972_213,
        &[(4, 1001, false), (6, 1001, false)],
    );
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn guards_hold_whatever_a_policy_answers(
        seed in any::<u64>(), groups in prop::collection::vec((1..30_usize, 50..1900_i64, any::<bool>()), 1..5),
    ) {
        assert_guards_hold(seed, &groups);
    }
}
