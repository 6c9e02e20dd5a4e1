//! The cheapest way to buy, and what else a claim may name.

use plimsoll_base::requirement::Requirement;
use plimsoll_model::catalogue::{InstanceType, PriceSource};
use plimsoll_oracles::fixture::*;
use plimsoll_scheduling_tests::{check, market};

/// A part of the assorted catalogue: cores and memory in steps of two, one offering per type.
fn shop() -> Vec<InstanceType> {
    let mut types = Vec::new();
    for cpu in [1, 4, 16] {
        for gib in [2, 8] {
            for (zone, terms, os, arch) in ways() {
                types.push(assorted_type((cpu, gib), (zone, terms), (os, arch)).build());
            }
        }
    }
    types
}

fn ways() -> impl Iterator<Item = (&'static str, CapacityType, &'static str, &'static str)> {
    let zones = [ZONE_1, ZONE_2].into_iter();
    zones.flat_map(|zone| {
        [Spot, OnDemand].into_iter().flat_map(move |terms| {
            [("linux", "amd64"), ("linux", "arm64"), ("windows", "amd64")]
                .map(move |(os, arch)| (zone, terms, os, arch))
        })
    })
}

fn web() -> PodFixture {
    pod("web").cpu(500).memory_mib(512)
}

/// Price of the chosen way, and whether every named type says what is asked in its name.
fn bought(pool: PoolFixture, pod: PodFixture) -> Option<(i64, Vec<String>)> {
    let outcome = check(cluster().types(shop()).pool(pool).pod(pod));
    if outcome.unplaced() > 0 {
        return None;
    }
    outcome.agreed(|run| Some(run.plan().claims[0].options[0].list_price.nanos()));
    let run = &outcome.runs()[0];
    let claim = &run.plan().claims[0];
    let names = claim
        .options
        .iter()
        .map(|option| option.instance_type.to_string());
    Some((claim.options[0].list_price.nanos(), names.collect()))
}

fn cheapest() -> i64 {
    let offerings = shop().into_iter().flat_map(|sold| sold.offerings);
    offerings
        .map(|offering| offering.price.nanos())
        .min()
        .expect("the shop sells something")
}

#[test]
fn one_of_the_cheapest_types_is_chosen_whatever_narrows_it() {
    let wishes: [(Requirement, &str); 8] = [
        (is_in(ARCH, &["amd64"]), "amd64"),
        (is_in(ARCH, &["arm64"]), "arm64"),
        (is_in(OS, &["linux"]), "linux"),
        (is_in(OS, &["windows"]), "windows"),
        (is_in(ZONE, &[ZONE_2]), ZONE_2),
        (is_in(CAPACITY_TYPE, &["spot"]), "spot"),
        (is_in(CAPACITY_TYPE, &["on-demand"]), "on-demand"),
        (exists(ARCH), ""),
    ];
    for (wish, word) in wishes {
        let by_pod = bought(pool("general"), web().needs(wish.clone()));
        let by_pool = bought(pool("general").needs(wish.clone()), web());
        for result in [by_pod, by_pool] {
            let (price, names) = result.expect("the shop sells one");
            assert_eq!(price, cheapest(), "{wish}");
            assert!(
                names.iter().all(|name| name.contains(word)),
                "{wish}: {names:?}"
            );
        }
    }
}

#[test]
fn wishes_of_pool_and_pod_combine() {
    let (price, names) = bought(
        pool("general")
            .needs(is_in(OS, &["linux"]))
            .capacity_types(&[OnDemand]),
        web().select(ARCH, "arm64").select(ZONE, ZONE_2),
    )
    .expect("the shop sells one");
    assert_eq!(price, cheapest());
    let asked = |name: &String| {
        ["linux", "on-demand", "arm64", ZONE_2]
            .iter()
            .all(|word| name.contains(word))
    };
    assert!(names.iter().all(asked), "{names:?}");
}

#[test]
fn wishes_that_no_type_has_together_wait() {
    assert_eq!(
        bought(
            pool("general"),
            web().select(ARCH, "arm64").select(OS, "windows")
        ),
        None
    );
    assert_eq!(
        bought(
            pool("general").needs(is_in(ARCH, &["arm64"])),
            web().select(OS, "windows")
        ),
        None
    );
    assert_eq!(
        bought(
            pool("general"),
            web().select(ARCH, "arm64").select(ZONE, ZONE_3)
        ),
        None
    );
}

#[test]
fn three_pods_share_a_node_and_every_named_type_holds_them_all() {
    for cpu in [100, 1000, 4000] {
        for memory in [100, 1000, 2000] {
            let outcome = check(
                cluster()
                    .types(shop())
                    .pool(pool("general"))
                    .pods(pod("web").cpu(cpu).memory_mib(memory).replicas(3)),
            );
            assert_eq!(outcome.placed("web"), 3, "{cpu}m and {memory} MiB");
            for run in outcome.runs() {
                for claim in &run.plan().claims {
                    for option in &claim.options {
                        let catalogue = run.snapshot().catalogues.of(&claim.class);
                        let sold = catalogue
                            .get(option.instance_type.as_str())
                            .expect("it is sold");
                        let room = sold.allocatable(&sold.offerings[0]);
                        let short = claim
                            .requests
                            .iter()
                            .find(|(name, asked)| *asked > room.get(name));
                        assert_eq!(short, None, "{}", option.instance_type);
                    }
                }
            }
        }
    }
}

#[test]
fn on_demand_pool_goes_by_the_price_on_demand() {
    let outcome = check(
        cluster()
            .sells(
                instance_type("spot-is-cheap")
                    .price(0.1)
                    .offered(ZONE_1, Spot)
                    .price(2.0)
                    .offered(ZONE_1, OnDemand),
            )
            .sells(
                instance_type("list-is-cheap")
                    .price(0.9)
                    .offered(ZONE_1, Spot)
                    .price(1.0)
                    .offered(ZONE_1, OnDemand),
            )
            .pool(pool("general").capacity_types(&[OnDemand]))
            .pod(web()),
    );
    let chosen = outcome.agreed(|run| run.plan().claims[0].options[0].instance_type.to_string());
    assert_eq!(chosen, "list-is-cheap");
}

#[test]
fn cheapest_type_is_launched_whatever_its_size() {
    let outcome = check(
        cluster()
            .sells(
                instance_type("medium")
                    .cpu(2000)
                    .price(2.0)
                    .zones(&[ZONE_1]),
            )
            .sells(instance_type("small").cpu(1000).price(3.0).zones(&[ZONE_1]))
            .sells(instance_type("large").cpu(4000).price(1.0).zones(&[ZONE_1]))
            .pool(pool("general"))
            .pod(web()),
    );
    let chosen = outcome.agreed(|run| run.plan().claims[0].options[0].instance_type.to_string());
    assert_eq!(chosen, "large");
}

#[test]
fn options_are_in_order_of_price() {
    let outcome = check(market().pod(web()));
    for run in outcome.runs() {
        let prices: Vec<_> = run.plan().claims[0]
            .options
            .iter()
            .map(|option| option.price)
            .collect();
        assert!(prices.is_sorted(), "{prices:?}");
    }
}

#[test]
fn what_is_sold_out_is_not_named() {
    let outcome = check(
        cluster()
            .sells(
                instance_type("m")
                    .sold_out(ZONE_1, OnDemand)
                    .price(1.0)
                    .offered(ZONE_2, OnDemand),
            )
            .pool(pool("general"))
            .pod(web()),
    );
    assert_eq!(outcome.domain_names(ZONE, "web"), [ZONE_2]);
}

#[test]
fn huge_pages_are_taken_from_memory() {
    let sold = |huge: i64| {
        cluster()
            .sells(
                instance_type("m")
                    .memory_mib(4096)
                    .amount("hugepages-2Mi".into(), huge * MEBIBYTE),
            )
            .pool(pool("general"))
            .pod(pod("web").memory_mib(3000))
    };
    assert_eq!(check(sold(0)).unplaced(), 0);
    assert_eq!(check(sold(2048)).unplaced(), 1);
}

#[test]
fn own_cost_of_a_node_enters_the_plan_but_not_the_list_price() {
    let cost = plimsoll_base::units::PricePerHour::from_nanos(50_000_000);
    let outcome = check(
        market()
            .settings(|settings| settings.node_cost = cost)
            .pod(web()),
    );
    let (list, price, planned) = outcome.agreed(|run| {
        let option = run.plan().claims[0].options[0].clone();
        (option.list_price, option.price, run.plan().cost.planned)
    });
    assert_eq!(price, list + cost);
    assert_eq!(planned, price);
}

/// K04: six pod sets with known best answers on the ladder of one to eight cores; ours is never dearer than first fit.
#[test]
fn known_pod_sets_get_their_known_best_fleets() {
    let core = price_of(&ladder(1)[0].capacity).nanos();
    // (pods, milli-cores, MiB) and the least cores that hold them on the ladder, 100m kept back per node.
    let known = [
        (1, 500, 100, 1),
        (1, 1000, 100, 2),
        (2, 900, 100, 2),
        (3, 1000, 100, 4),
        (7, 1000, 100, 8),
        (10, 780, 100, 8),
        (14, 1000, 100, 16),
        (4, 1900, 100, 8),
    ];
    for (count, cpu, memory, cores) in known {
        let outcome = check(
            cluster()
                .types(ladder(8))
                .pool(pool("general"))
                .pods(pod("web").cpu(cpu).memory_mib(memory).replicas(count)),
        );
        let run = outcome.under(plimsoll_model::PackingMode::Price);
        assert_eq!(run.waiting().len(), 0);
        assert!(
            run.plan().cost.list.nanos() <= core * cores + cores,
            "{count} pods of {cpu}m cost {} and not {cores} cores",
            run.plan().cost.list
        );
        assert!(run.plan().cost.list <= run.plan().cost.first_fit);
    }
}

#[test]
fn of_machines_at_one_price_per_core_the_fewest_are_bought() {
    for (cores, expected) in [(64, 2), (16, 1), (12, 3), (100, 3)] {
        let sold = [4, 16, 48].map(|size: i64| {
            let dollars = 0.05 * size as f64;
            let name = format!("{size}-cpu");
            let sold = instance_type(&name).cpu(size * 1000);
            let sold = sold.memory_mib(size * 4096).pods(500).no_overhead();
            sold.price(dollars).offered(ZONE_1, OnDemand).build()
        });
        let web = pod("web").cpu(1000).memory_mib(512).replicas(cores);
        let outcome = check(cluster().types(sold).pool(pool("general")).pods(web));
        let plan = outcome.under(plimsoll_model::PackingMode::Price).plan();
        assert_eq!(plan.cost.list, plan.cost.bound, "{cores} cores");
        assert_eq!(plan.claims.len(), expected, "{cores} cores");
    }
}

#[test]
fn plan_that_weighs_modelled_prices_says_so() {
    let texts = |source: PriceSource| {
        let mut sold = instance_type("one").offered(ZONE_1, Spot).build();
        sold.offerings[0].price_source = source;
        let general = pool("general").capacity_types(&[OnDemand, Spot]);
        let outcome = check(cluster().types([sold]).pool(general).pod(web()));
        outcome.agreed(|run| {
            let notes = run.plan().notes.iter();
            notes.map(|note| note.text.clone()).collect::<Vec<_>>()
        })
    };
    assert_eq!(
        texts(PriceSource::Model),
        ["spot prices are a model: no quotes were given"]
    );
    assert_eq!(texts(PriceSource::Quote), Vec::<String>::new());
}
