//! Statistics of a published trace: request shapes with weights, arrivals by hour of the day, lifetimes by quantile.

use plimsoll_sim::Random;

/// Made by `scripts/derive_statistics.py`.
const TABLE: &str = include_str!("statistics.tsv");

/// Requests of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Whole accelerators.
    pub(crate) gpus: u64,
    /// Milli-cores.
    pub(crate) cpu_milli: u64,
    /// Mebibytes.
    pub(crate) memory_mib: u64,
    /// Tasks of this shape in the trace.
    weight: u64,
}

/// The statistics, read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Statistics {
    shapes: Vec<Shape>,
    hours: Vec<u64>,
    cpu_lifetimes: Vec<(u64, u64)>,
    gpu_lifetimes: Vec<(u64, u64)>,
}

impl Statistics {
    /// Reads the table that is built in.
    pub(crate) fn built_in() -> Self {
        let mut result = Self::default();
        for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
            let fields: Vec<&str> = line.split('\t').collect();
            let number = |at: usize| {
                fields
                    .get(at)
                    .and_then(|text| text.parse::<u64>().ok())
                    .unwrap_or_default()
            };
            match fields[0] {
                "shape" => result.shapes.push(Shape {
                    gpus: number(1),
                    cpu_milli: number(2),
                    memory_mib: number(3),
                    weight: number(4),
                }),
                "hour" => result.hours.push(number(2)),
                _ if fields[1] == "gpu" => result.gpu_lifetimes.push((number(2), number(3))),
                _ => result.cpu_lifetimes.push((number(2), number(3))),
            }
        }
        result
    }

    /// Arrivals in an hour of the day, summed over the trace's days.
    pub(crate) fn arrivals(&self, hour: u32) -> u64 {
        self.hours.get(hour as usize).copied().unwrap_or(0)
    }

    /// The shape of a task, each as likely as it is frequent.
    pub(crate) fn shape(&self, accelerators: bool, task: usize, random: Random) -> &Shape {
        let eligible = || {
            self.shapes
                .iter()
                .filter(|shape| accelerators || shape.gpus == 0)
        };
        let all: u64 = eligible().map(|shape| shape.weight).sum();
        let mut left = random.below("shape", task, all);
        for shape in eligible() {
            if left < shape.weight {
                return shape;
            }
            left -= shape.weight;
        }
        &self.shapes[0]
    }

    /// Seconds that a task runs: between two neighbouring quantiles, evenly.
    pub(crate) fn lifetime(&self, gpu: bool, task: usize, random: Random) -> u64 {
        let quantiles = if gpu {
            &self.gpu_lifetimes
        } else {
            &self.cpu_lifetimes
        };
        let most = quantiles.last().map_or(1, |(percent, _)| *percent);
        let percent = random.below("lifetime", task, most);
        let above = quantiles
            .iter()
            .position(|(at, _)| *at > percent)
            .unwrap_or(quantiles.len() - 1)
            .max(1);
        let (low, high) = (quantiles[above - 1].1, quantiles[above].1);
        (low + random.below("within", task, high - low)).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_whole() {
        let statistics = Statistics::built_in();
        assert_eq!(
            statistics
                .shapes
                .iter()
                .map(|shape| shape.weight)
                .sum::<u64>(),
            8152
        );
        assert_eq!(statistics.hours.len(), 24);
        assert_eq!(statistics.hours.iter().sum::<u64>(), 8152);
        assert_eq!(statistics.cpu_lifetimes.last(), Some(&(99, 28_364)));
    }

    #[test]
    fn tasks_without_accelerators_ask_for_none() {
        let statistics = Statistics::built_in();
        let random = Random::new(7);
        assert!((0..500).all(|task| statistics.shape(false, task, random).gpus == 0));
        assert!((0..500).any(|task| statistics.shape(true, task, random).gpus > 0));
    }
}
