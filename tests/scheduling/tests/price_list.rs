//! EC2's own types at their list prices: what known pod sets cost at best, and which types their shapes call for.

use std::collections::BTreeSet;

use plimsoll_base::resources::ResourceName;
use plimsoll_ec2_facts::catalogue::CapacityTypes;
use plimsoll_ec2_facts::{CatalogueSettings, catalogue};
use plimsoll_model::PackingMode;
use plimsoll_model::catalogue::Catalogue;
use plimsoll_model::plan::PlannedClaim;
use plimsoll_oracles::fixture::*;
use plimsoll_schedule::waste::{Waste, waste};
use plimsoll_scheduling_tests::{Outcome, check};

const FAMILY: &str = "karpenter.k8s.aws/instance-family";
const CATEGORY: &str = "karpenter.k8s.aws/instance-category";

/// Everything that a region sells on demand.
fn shop(region: &str) -> Catalogue {
    let mut settings = CatalogueSettings::for_region(region);
    settings.capacity_types = CapacityTypes::OnDemandOnly;
    catalogue(&settings).expect("the embedded price list has the region")
}

/// A cluster of a region, without guards: the best fleet may be of any type.
fn region(shop: &Catalogue) -> ClusterFixture {
    let types = shop.types().iter().map(|sold| sold.as_ref().clone());
    cluster()
        .types(types)
        .settings(|settings| settings.guards.enabled = false)
}

/// Equal pods: how many, milli-cores and mebibytes of each.
type Shape = (usize, i64, i64);

/// Cost of one node, in nano-dollars, that holds so many pods of either shape; by their numbers.
fn single_nodes(shop: &Catalogue, (left, right): (Shape, Shape)) -> Vec<Vec<i64>> {
    let mut cheapest = vec![vec![i64::MAX; right.0 + 1]; left.0 + 1];
    for sold in shop.types() {
        let Some(offering) = sold
            .offerings
            .iter()
            .filter(|o| o.available)
            .min_by_key(|o| o.price)
        else {
            continue;
        };
        let room = sold.allocatable(offering);
        let holds = |count: i64, other: i64| {
            let asked = [
                (ResourceName::Cpu, count * left.1 + other * right.1),
                (
                    ResourceName::Memory,
                    (count * left.2 + other * right.2) << 20,
                ),
                (ResourceName::Pods, count + other),
            ];
            asked.iter().all(|(name, amount)| *amount <= room.get(name))
        };
        for (count, row) in (0_i64..).zip(&mut cheapest) {
            for (other, price) in (0_i64..).zip(row) {
                if holds(count, other) {
                    *price = (*price).min(offering.price.nanos());
                }
            }
        }
    }
    cheapest
}

/// The least that pods of two shapes cost on nodes of their own, by trying every division of them.
fn least_cost(shop: &Catalogue, shapes: (Shape, Shape)) -> i64 {
    let single = single_nodes(shop, shapes);
    let mut least = vec![vec![i64::MAX; shapes.1.0 + 1]; shapes.0.0 + 1];
    least[0][0] = 0;
    for count in 0..=shapes.0.0 {
        for other in 0..=shapes.1.0 {
            for first in 0..=count {
                for second in 0..=other {
                    let rest = least[count - first][other - second];
                    if first + second > 0 {
                        let sum = rest.saturating_add(single[first][second]);
                        least[count][other] = least[count][other].min(sum);
                    }
                }
            }
        }
    }
    least[shapes.0.0][shapes.1.0]
}

/// Pod sets, of one shape or two, and the least that any fleet for them costs, in nano-dollars per hour.
const POD_SETS: [((Shape, Shape), i64); 20] = [
    (((1, 100, 128), (0, 0, 0)), 8_400_000),
    (((1, 1475, 1686), (0, 0, 0)), 33_600_000),
    (((1, 4000, 2048), (0, 0, 0)), 268_800_000),
    (((1, 500, 30_000), (0, 0, 0)), 334_000_000),
    (((1, 30_000, 200_000), (0, 0, 0)), 1_612_800_000),
    (((2, 900, 1800), (0, 0, 0)), 67_200_000),
    (((3, 1000, 4000), (0, 0, 0)), 134_400_000),
    (((5, 700, 900), (0, 0, 0)), 84_000_000),
    (((6, 500, 512), (0, 0, 0)), 50_400_000),
    (((8, 1900, 3000), (0, 0, 0)), 268_800_000),
    (((10, 250, 2048), (0, 0, 0)), 151_200_000),
    (((12, 3000, 6000), (0, 0, 0)), 1_491_200_000),
    (((16, 100, 7000), (0, 0, 0)), 668_000_000),
    (((20, 1000, 1000), (0, 0, 0)), 336_000_000),
    (((24, 2000, 16_000), (0, 0, 0)), 2_822_400_000),
    (((1, 3500, 1000), (1, 200, 12_000)), 134_400_000),
    (((2, 1500, 2000), (3, 500, 6000)), 218_400_000),
    (((4, 900, 3100), (4, 3500, 28_000)), 873_600_000),
    (((6, 1800, 1024), (6, 300, 9000)), 418_000_000),
    (((10, 1000, 2000), (10, 100, 500)), 336_000_000),
];

/// K04: twenty pod sets with known best answers from the price list; ours costs just that, and never more than first fit does.
#[test]
fn known_pod_sets_cost_what_the_price_list_allows() {
    let shop = shop("us-east-1");
    for (set, known) in POD_SETS {
        let (left, right) = set;
        let pods = |name: &str, (count, cpu, memory): Shape| {
            pod(name).cpu(cpu).memory_mib(memory).replicas(count)
        };
        let outcome = check(
            region(&shop)
                .pool(pool("general"))
                .pods(pods("left", left))
                .pods(pods("right", right)),
        );
        let plan = outcome.under(PackingMode::Price).plan();
        assert_eq!(plan.unplaced.len(), 0, "{set:?}");
        assert_eq!(
            least_cost(&shop, set),
            known,
            "{set:?}: every division was tried"
        );
        assert_eq!(plan.cost.list.nanos(), known, "{set:?}");
        let first_fit = outcome.under(PackingMode::Compatible).plan().cost.list;
        assert!(plan.cost.list <= first_fit, "{set:?}");
    }
}

#[test]
fn waste_is_what_nobody_asks_for_of_what_machines_give_to_pods() {
    let four_cores = instance_type("four")
        .cpu(4500)
        .overhead(ResourceName::Cpu, 500)
        .memory_mib(8192);
    let outcome = check(
        cluster()
            .pool(pool("general"))
            .sells(four_cores.overhead(ResourceName::Memory, 0))
            .daemon(&pod("log").cpu(200))
            .pods(pod("web").cpu(1400).memory_mib(1024).replicas(2)),
    );
    let run = outcome.under(PackingMode::Price);
    let claims = &run.plan().claims;
    assert_eq!(claims.len(), 1);
    let expected = Waste {
        // 4000 less 2800 and 200.
        cpu: 250,
        // 8192 less 2048.
        memory: 750,
    };
    assert_eq!(waste(run.snapshot(), claims), expected);
    assert_eq!(waste(run.snapshot(), []), Waste::default());
}

/// The one value of a label over the instances that a plan by price buys.
fn chosen(outcome: &Outcome, key: &str, app: &str) -> Vec<String> {
    let domains = outcome.under(PackingMode::Price).domains(key, app);
    domains.into_keys().collect()
}

/// C17: ten families to choose from, and each shape gets the kind of instance that fits it.
#[test]
fn types_vary_by_fit_where_a_launch_template_fixes_one() {
    let shop = shop("us-east-1");
    let families = [
        "c5", "c6i", "c7i", "m5", "m6i", "m7i", "r5", "r6i", "r7i", "c6a",
    ];
    for (memory, category) in [(1800, "c"), (3600, "m"), (7300, "r")] {
        let pods = pod("web").cpu(950).memory_mib(memory).replicas(7);
        let ten = pool("general").needs(is_in(FAMILY, &families));
        let outcome = check(region(&shop).pool(ten).pods(pods));
        assert_eq!(
            chosen(&outcome, CATEGORY, "web"),
            [category],
            "{memory} MiB"
        );
        let pods = pod("web").cpu(950).memory_mib(memory).replicas(7);
        let one = pool("general").only_types(&["m5.xlarge"]);
        let fixed = check(region(&shop).pool(one).pods(pods));
        let cost = |outcome: &Outcome| outcome.under(PackingMode::Price).plan().cost.list;
        assert!(cost(&outcome) < cost(&fixed), "{memory} MiB");
    }
}

/// B03: two zones of a region that has more, and ten pods spread over them.
#[test]
fn spread_pods_use_the_two_zones_of_their_pool_evenly() {
    let zones = ["us-east-1a", "us-east-1c"];
    let outcome = check(
        region(&shop("us-east-1"))
            .pool(pool("general").zones(&zones))
            .pods(pod("web").cpu(500).spread(ZONE, 1).replicas(10)),
    );
    let expected = zones.map(|zone| (zone.to_owned(), 5));
    assert_eq!(outcome.domains(ZONE, "web"), expected.into());
}

/// B04: both architectures in one pool: the cheaper one for pods that do not say, and each its own for those that do.
#[test]
fn architecture_is_the_cheaper_one_unless_the_pod_names_it() {
    let shop = shop("us-east-1");
    let both = || {
        let families = ["m7g", "m7i"];
        let general = pool("general").needs(is_in(FAMILY, &families));
        region(&shop).pool(general.needs(is_in(ARCH, &["amd64", "arm64"])))
    };
    let plain = check(both().pod(pod("web").cpu(1500)));
    assert_eq!(
        chosen(&plain, ARCH, "web"),
        ["arm64"],
        "Graviton is cheaper"
    );
    for arch in ["amd64", "arm64"] {
        let outcome = check(both().pod(pod("web").cpu(1500).select(ARCH, arch)));
        assert_eq!(chosen(&outcome, ARCH, "web"), [arch]);
    }
}

#[test]
fn minimum_of_types_is_kept_at_a_price_near_the_best() {
    let shop = shop("us-east-1");
    let set = ((8, 900, 3100), (8, 3500, 28_000));
    let pods = |name: &str, (count, cpu, memory): Shape| {
        pod(name).cpu(cpu).memory_mib(memory).replicas(count)
    };
    let outcome = check(
        region(&shop)
            .pool(pool("general").min_values(INSTANCE_TYPE, 6))
            .pods(pods("left", set.0))
            .pods(pods("right", set.1)),
    );
    let plan = outcome.under(PackingMode::Price).plan();
    let types = |claim: &PlannedClaim| {
        let names: BTreeSet<_> = claim
            .options
            .iter()
            .map(|option| &option.instance_type)
            .collect();
        names.len()
    };
    assert!(plan.claims.iter().all(|claim| types(claim) >= 6));
    let least = least_cost(&shop, set);
    let ours = plan.cost.list.nanos();
    assert!(
        ours * 100 <= least * 105,
        "{} where {least} nano-dollars are the least",
        plan.cost.list
    );
    assert!(plan.cost.list < plan.cost.first_fit);
}
