//! A market to ask about: as many pools, types and zones as wanted, with prices that all differ.

use std::sync::Arc;

use plimsoll_core::rank::{
    Architecture, Capacity, ClaimRow, Claims, Context, InstanceTypeRow, OfferingRow, OrderQuestion,
    PoolRow, Pools, PriceQuestion, TablesBuilder,
};

/// Every pool may buy every offering; spot in every third zone.
pub(crate) fn question(pools: usize, types: usize, zones: usize) -> PriceQuestion {
    let mut builder = TablesBuilder::default();
    let labels: Vec<(String, String)> = (0..16)
        .map(|row| (format!("example.com/label-{row}"), format!("v{row}")))
        .collect();
    let labels: Vec<(&str, &str)> = labels
        .iter()
        .map(|(key, value)| (key.as_str(), value.as_str()))
        .collect();
    let mut offerings = Vec::new();
    for row in 0..types {
        let (name, family) = (format!("f{}.{row}", row % 90), format!("f{}", row % 90));
        let instance_type = builder.instance_type(&InstanceTypeRow {
            name: &name,
            family: &family,
            architecture: Architecture::Amd64,
            cpu_milli: 2_000,
            memory_mib: 8_192,
            pods: 29,
            gpus: 0,
            gpu_kind: "",
            labels: &labels,
        });
        for zone in 0..zones {
            let number = u32::try_from(row * zones + zone)
                .expect("a market for tests is small and in order");
            let offering = OfferingRow {
                instance_type,
                zone: ["a", "b", "c"][zone % 3],
                capacity: if zone % 3 == 2 {
                    Capacity::Spot
                } else {
                    Capacity::OnDemand
                },
                price: 0.01 + f64::from(number) * 0.001,
                price_age_s: 60,
                interruptions_per_day: f32::from(
                    u8::try_from(number % 5).expect("a market for tests is small and in order"),
                ) * 0.5,
                failures_1h: number % 3,
                reserved_left: 0,
                running: number % 4,
            };
            offerings.push(
                builder
                    .offering(&offering)
                    .expect("a market for tests is small and in order"),
            );
        }
    }
    let mut asked = Pools::default();
    for pool in 0..pools {
        let name = builder.symbol(&format!("pool-{pool}"));
        asked.push(
            PoolRow {
                name,
                weight: 0,
                nodes: 0,
                cost: 0.0,
            },
            &offerings,
        );
    }
    let context = Context {
        generation: 1,
        now_unix_s: 1_800_000_000,
        seed: 7,
    };
    PriceQuestion {
        context,
        tables: Arc::new(builder.finish()),
        pools: asked,
    }
}

/// A question about the order of that many offerings for each of that many claims.
#[allow(dead_code, reason = "not every test asks for an order")]
pub(crate) fn claims(claims: usize, offerings: usize) -> OrderQuestion {
    let PriceQuestion {
        context, tables, ..
    } = question(1, 800, 3);
    let rows = tables.catalogue.o_type.len();
    let mut asked = Claims::default();
    for claim in 0..claims {
        let rows = (0..offerings).map(|place| {
            u32::try_from((claim + place * 37) % rows)
                .expect("a market for tests is small and in order")
        });
        let row = ClaimRow {
            pool: 0,
            cpu_milli: 1_500,
            mem_mib: 6_000,
            pods: 7,
            gpus: 0,
        };
        asked.push(row, &rows.collect::<Vec<_>>());
    }
    OrderQuestion {
        context,
        tables,
        claims: asked,
    }
}
