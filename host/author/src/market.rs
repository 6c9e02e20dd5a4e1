//! A market that has a bit of everything: what policies are held to their laws on, and what their fuel is measured on.
//!
//! Made by rule, without randomness, so that fuel on it is the same number everywhere.

use std::sync::Arc;

use plimsoll_hooks::rank::{
    Architecture, Capacity, ClaimRow, Claims, Context, InstanceTypeRow, OfferingRow, OrderQuestion,
    PoolRow, Pools, PriceQuestion, TablesBuilder,
};

const FAMILIES: [&str; 5] = ["c7g", "m5", "m7i", "r6i", "t3"];
const SIZES: [(&str, u32); 4] = [("large", 2), ("xlarge", 4), ("2xlarge", 8), ("4xlarge", 16)];
const ZONES: [&str; 3] = ["a", "b", "c"];
const WAYS: [Capacity; 3] = [Capacity::OnDemand, Capacity::Spot, Capacity::Reserved];

/// Two pools that may buy all of 180 offerings, and one that may buy every third.
pub fn market() -> PriceQuestion {
    let mut builder = TablesBuilder::default();
    let mut offerings = Vec::new();
    for family in FAMILIES {
        for (size, cpus) in SIZES {
            let name = format!("{family}.{size}");
            let instance_type = builder.instance_type(&InstanceTypeRow {
                name: &name,
                family,
                architecture: if family == "c7g" {
                    Architecture::Arm64
                } else {
                    Architecture::Amd64
                },
                cpu_milli: cpus * 1_000,
                memory_mib: cpus * 4_096,
                pods: 29 + cpus,
                gpus: 0,
                gpu_kind: "",
                labels: &[("example.com/family", family)],
            });
            for zone in ZONES {
                for capacity in WAYS {
                    let number = u32::try_from(offerings.len()).unwrap_or(u32::MAX);
                    let row = offering(instance_type, zone, capacity, number, cpus);
                    offerings.extend(builder.offering(&row));
                }
            }
        }
    }
    let mut pools = Pools::default();
    for (name, weight, step) in [("batch", 0, 1), ("general", 10, 1), ("small", 50, 3)] {
        let pool = PoolRow {
            name: builder.symbol(name),
            weight,
            nodes: 3,
            cost: 0.4,
        };
        let rows: Vec<u32> = offerings.iter().copied().step_by(step).collect();
        pools.push(pool, &rows);
    }
    PriceQuestion {
        context: Context {
            now_unix_s: 1_800_000_000,
            seed: 7,
            generation: 0,
        },
        tables: Arc::new(builder.finish()),
        pools,
    }
}

/// Claims of different sizes in each pool of the [`market`], each held by every seventh of the offerings that its pool may buy.
pub fn claims() -> OrderQuestion {
    let PriceQuestion {
        context,
        tables,
        pools,
    } = market();
    let mut claims = Claims::default();
    let starts = std::iter::once(0).chain(pools.cand_ends.iter().copied());
    let blocks = starts.zip(&pools.cand_ends).zip(&pools.name);
    for (number, ((start, &end), &pool)) in (0_u32..).zip(blocks) {
        for size in 1..=4 {
            let rows = pools.cand[start as usize..end as usize].iter();
            let rows = rows.copied().skip(size as usize).step_by(7);
            let row = ClaimRow {
                pool,
                cpu_milli: 700 * size + 10 * number,
                mem_mib: 900 * size,
                pods: 2 * size,
                gpus: 0,
            };
            claims.push(row, &rows.collect::<Vec<_>>());
        }
    }
    OrderQuestion {
        context,
        tables,
        claims,
    }
}

/// Prices, interruptions, failures and running nodes that differ from row to row.
fn offering(
    instance_type: u32,
    zone: &'static str,
    capacity: Capacity,
    number: u32,
    cpus: u32,
) -> OfferingRow<'static> {
    let list = f64::from(cpus) * 0.048 + f64::from(number % 7) * 0.001;
    let is_spot = capacity == Capacity::Spot;
    let is_reserved = capacity == Capacity::Reserved;
    OfferingRow {
        instance_type,
        zone,
        capacity,
        price: if is_spot { list * 0.375 } else { list },
        price_age_s: 60 * (number % 5),
        interruptions_per_day: if is_spot {
            [0.0, 0.5, 2.0, 6.0][(number % 4) as usize]
        } else {
            0.0
        },
        failures_1h: if is_spot { number % 3 } else { 0 },
        reserved_left: if is_reserved { number % 4 } else { 0 },
        running: number % 6,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_market_has_every_row_and_the_small_pool_a_third_of_them() {
        let question = market();
        assert_eq!(question.tables.catalogue.o_type.len(), 180);
        assert_eq!(question.pools.cand_ends, [180, 360, 420]);
    }
}
