//! Workloads of known shape, as packing problems.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use plimsoll_base::bits::Bits;
use plimsoll_pack::{Class, Demand, Membership, NodeRule, Problem};

use crate::market::{MEBIBYTE, Offer, ec2, linear};

/// A problem with a name.
pub(crate) struct Workload {
    /// Name of the workload.
    pub(crate) name: String,
    /// The pods to be packed and the types to pack them on.
    pub(crate) problem: Problem,
}

/// Cpu in milli-cores and memory in MiB of the mix; each drawn evenly, independent of the other.
const MIX_CPU: [i64; 5] = [100, 250, 500, 1000, 1500];
const MIX_MEMORY: [i64; 6] = [100, 256, 512, 1024, 2048, 4096];

/// Every workload; the trace only where its file's folder is given.
pub(crate) fn all(data: Option<&Path>) -> Result<Vec<Workload>> {
    let both = ec2(1)?;
    let market: Vec<Offer> = both.iter().filter(|offer| !offer.is_arm).cloned().collect();
    let mut workloads = Vec::new();
    for pods in [500, 2_000, 20_000] {
        workloads.push(plain(format!("mix {pods}"), &market, &mix(pods)));
    }
    workloads.push(plain("two shapes".to_owned(), &market, &two_shapes()));
    if let Some(data) = data {
        workloads.push(plain("trace, cpu pods".to_owned(), &market, &trace(data)?));
        workloads.push(plain("trace, arm64 too".to_owned(), &both, &trace(data)?));
    }
    for pods in [500, 2_000] {
        let heavy = memory_heavy(pods);
        workloads.push(plain(format!("memory-heavy {pods}"), &market, &heavy));
    }
    workloads.push(architectures(&both));
    let zonal: Vec<Offer> = ec2(3)?.into_iter().filter(|offer| !offer.is_arm).collect();
    workloads.push(zones(&zonal));
    for pods in [10_000, 100_000] {
        workloads.push(benchmark_mix(pods));
    }
    Ok(workloads)
}

/// Shapes as cpu and MiB, with how many pods of each.
pub(crate) type Shapes = BTreeMap<[i64; 2], u32>;

/// Draws shapes of the mix.
pub(crate) fn mix(pods: u32) -> Shapes {
    let mut draw = Draw::new(7);
    let mut shapes = Shapes::new();
    for _ in 0..pods {
        let shape = [*draw.one_of(&MIX_CPU), *draw.one_of(&MIX_MEMORY)];
        *shapes.entry(shape).or_default() += 1;
    }
    shapes
}

pub(crate) fn memory_heavy(pods: u32) -> Shapes {
    let mut draw = Draw::new(11);
    let mut shapes = Shapes::new();
    for _ in 0..pods {
        let cpu = *draw.one_of(&[100, 250, 500, 1000, 2000]);
        let memory = *draw.one_of(&[4096, 6144, 8192, 12_288, 16_384, 24_576]);
        *shapes.entry([cpu, memory]).or_default() += 1;
    }
    shapes
}

pub(crate) fn two_shapes() -> Shapes {
    BTreeMap::from([([900, 3100], 500), ([3500, 28 * 1024], 500)])
}

/// Pods of the published trace that ask for no GPU.
pub(crate) fn trace(data: &Path) -> Result<Shapes> {
    let path = data.join("traces/openb_pod_list_default.csv");
    let text =
        std::fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
    let mut shapes = Shapes::new();
    for (number, line) in text.lines().enumerate().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let field = |at: usize| -> Result<i64> {
            let text = fields.get(at).context("a column is missing")?;
            text.parse()
                .with_context(|| format!("line {}: {text:?}", number + 1))
        };
        if field(3)? == 0 {
            *shapes.entry([field(1)?, field(2)?]).or_default() += 1;
        }
    }
    Ok(shapes)
}

/// One class that may use everything.
fn plain(name: String, market: &[Offer], shapes: &Shapes) -> Workload {
    let mut problem = of_market(market);
    let class = add_class(&mut problem, market, |_| true, Vec::new());
    for (shape, &count) in shapes {
        add_demand(&mut problem, class, *shape, count);
    }
    Workload { name, problem }
}

/// 2,000 pods of the mix: a third on amd64 only, a third on arm64 only, the rest on either.
fn architectures(market: &[Offer]) -> Workload {
    let mut problem = of_market(market);
    let classes = [
        add_class(&mut problem, market, |offer| !offer.is_arm, Vec::new()),
        add_class(&mut problem, market, |offer| offer.is_arm, Vec::new()),
        add_class(&mut problem, market, |_| true, Vec::new()),
    ];
    spread(&mut problem, &classes, 2_000);
    let name = "two architectures 2000".to_owned();
    Workload { name, problem }
}

/// 2,000 pods of the mix, a third pinned to each zone.
fn zones(market: &[Offer]) -> Workload {
    let mut problem = of_market(market);
    let classes = [0, 1, 2]
        .map(|zone| add_class(&mut problem, market, |offer| offer.zone == zone, Vec::new()));
    spread(&mut problem, &classes, 2_000);
    let name = "three zones 2000".to_owned();
    Workload { name, problem }
}

/// The pods of Karpenter's benchmark that are left for the packer: a fifth each generic, pinned to zones by spread, spread over
/// hosts, pinned to one zone by affinity, and apart from each other on hosts; 7 labels; 400 types in 3 zones.
fn benchmark_mix(pods: u32) -> Workload {
    const LABELS: usize = 7;
    let market = linear(400, 3);
    let mut problem = of_market(&market);
    problem.rules = vec![NodeRule { limit: 1 }; LABELS + 1];
    let fifth = pods / 5;
    let anywhere = |_: &Offer| true;
    let generic = add_class(&mut problem, &market, anywhere, Vec::new());
    spread(&mut problem, &[generic], fifth);
    let zonal = [0, 1, 2].map(|zone| {
        add_class(
            &mut problem,
            &market,
            |offer| offer.zone == zone,
            Vec::new(),
        )
    });
    spread(&mut problem, &zonal, 2 * fifth);
    let mut hosts = Vec::new();
    for own in 0..LABELS {
        for selected in 0..LABELS {
            let memberships = host_spread(own, selected);
            hosts.push(add_class(&mut problem, &market, anywhere, memberships));
        }
    }
    spread(&mut problem, &hosts, fifth);
    let apart = host_spread(LABELS, LABELS);
    let apart = add_class(&mut problem, &market, anywhere, apart);
    spread(&mut problem, &[apart], fifth);
    let name = format!("benchmark mix {pods}");
    Workload { name, problem }
}

/// A pod that has one label and spreads over hosts by another.
fn host_spread(own: usize, selected: usize) -> Vec<Membership> {
    let membership = |rule, owner, counted| Membership {
        rule,
        owner,
        counted,
    };
    let mut memberships = if own == selected {
        vec![membership(own, true, 1)]
    } else {
        vec![membership(own, false, 1), membership(selected, true, 0)]
    };
    memberships.sort_unstable();
    memberships
}

fn of_market(market: &[Offer]) -> Problem {
    Problem {
        axes: crate::market::AXES,
        kinds: market.iter().map(|offer| offer.kind.clone()).collect(),
        ..Problem::default()
    }
}

fn add_class(
    problem: &mut Problem,
    market: &[Offer],
    may_use: impl Fn(&Offer) -> bool,
    memberships: Vec<Membership>,
) -> usize {
    let mut kinds = Bits::none(market.len());
    for (row, offer) in market.iter().enumerate() {
        if may_use(offer) {
            kinds.insert(row);
        }
    }
    problem.classes.push(Class { kinds, memberships });
    problem.classes.len() - 1
}

fn add_demand(problem: &mut Problem, class: usize, shape: [i64; 2], count: u32) {
    problem.demands.push(Demand {
        class,
        request: [shape[0], shape[1] * MEBIBYTE, 1].into(),
        count,
    });
}

/// Draws pods of the mix for classes in turn.
fn spread(problem: &mut Problem, classes: &[usize], pods: u32) {
    let mut draw = Draw::new(3 + classes.len() as u64);
    let mut shapes: BTreeMap<(usize, [i64; 2]), u32> = BTreeMap::new();
    for class in classes.iter().cycle().take(pods as usize) {
        let shape = [*draw.one_of(&MIX_CPU), *draw.one_of(&MIX_MEMORY)];
        *shapes.entry((*class, shape)).or_default() += 1;
    }
    for ((class, shape), count) in shapes {
        add_demand(problem, class, shape, count);
    }
}

/// A small generator, the same on every machine.
struct Draw(u64);

impl Draw {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5_4A32_D192_ED03)
    }

    fn one_of<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        let at = (self.0 >> 11) % choices.len() as u64;
        &choices[usize::try_from(at).unwrap_or(0)]
    }
}
