//! The instance that would hold most pods like those planned: the Cluster Autoscaler's expander `most-pods`.

use plimsoll_sdk::ranking::*;

reasons! { PODS = "pods like these that it would hold" }

/// Most pods first.
#[derive(Debug)]
pub struct MostPods;

impl Ranking for MostPods {
    type Settings = NoSettings;

    fn order(&self, offering: &Offering, claim: &Claim, _settings: &NoSettings) -> Score {
        let times = times(offering.cpu_milli(), claim.cpu_milli())
            .min(times(offering.memory_mib(), claim.memory_mib()));
        let pods = (times * f64::from(claim.pods())).floor();
        Score::new(-pods.min(f64::from(offering.pods())), PODS)
    }
}

export_ranking!(MostPods, only_orders);

/// How many times what is asked fits into what there is.
fn times(has: u32, asked: u32) -> f64 {
    f64::from(has) / f64::from(asked.max(1))
}

#[cfg(test)]
mod tests {
    use plimsoll_sdk::testing::Market;

    use super::*;

    #[test]
    fn what_runs_out_first_limits_the_pods() {
        let market = Market::new()
            .offering("c5.xlarge", "a", 0.17)
            .size(4_000, 8_192)
            .offering("r5.large", "a", 0.126)
            .size(2_000, 16_384)
            .offering("m5.24xlarge", "a", 4.6)
            .size(96_000, 393_216);
        let scores = market.scores(&MostPods, &NoSettings, (900, 2_048));
        // The largest is limited by the 29 pods that a test's node takes.
        assert_eq!(
            scores,
            [-4.0, -2.0, -29.0].map(|pods| Score::new(pods, PODS))
        );
    }
}
