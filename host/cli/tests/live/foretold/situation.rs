//! Random situations of a cluster: pools, policies and pods of one team each, which share nothing with other teams but the cluster.

use plimsoll_guests::{HOSTILE, HOSTILE_BUDGET, HOSTILE_CONSOLIDATION};
use plimsoll_lab::{example_pool, pending_pod};
use plimsoll_oracles::generate::Draw;
use serde_json::{Value, json};

use super::super::policies::policy;
use super::super::workloads::{budget, deployment};

/// Label of all that belongs to one team, and key of the taint of its nodes.
pub(super) const TEAM: &str = "example.com/team";
/// Requests of a pod.
const SIZES: [(&str, &str); 5] = [
    ("400m", "512Mi"),
    ("1200m", "1Gi"),
    ("1800m", "3Gi"),
    ("3", "2Gi"),
    ("5", "8Gi"),
];
/// More than any instance type of the lab has.
const GIANT: (&str, &str) = ("5000", "1Gi");
/// A ConfigMap that does not exist.
const GONE: &str = "never-made";

/// Modules that policies of any situation name, by ConfigMap.
pub(super) fn modules() -> Vec<(&'static str, &'static [u8])> {
    let shipped =
        |module: Option<&'static plimsoll_policies::Shipped>| module.expect("it is shipped").bytes;
    vec![
        (
            "list-price",
            shipped(plimsoll_policies::ranking("list-price")),
        ),
        (
            "most-pods",
            shipped(plimsoll_policies::ranking("most-pods")),
        ),
        (
            "savings-threshold",
            shipped(plimsoll_policies::consolidation("savings-threshold")),
        ),
        ("bad-rank", HOSTILE),
        ("bad-consolidate", HOSTILE_CONSOLIDATION),
        ("bad-budget", HOSTILE_BUDGET),
    ]
}

/// One team of a cluster, and what happens to it.
pub(super) struct Situation {
    /// Name of the team, with which all its objects begin.
    pub(super) team: String,
    /// Objects of the beginning.
    pub(super) first: Vec<Value>,
    /// Objects that are made or changed once all pods run.
    pub(super) then: Vec<Value>,
    /// Pods that are made just before the program is killed.
    pub(super) late: Vec<Value>,
    /// Objects that are made or changed while the program does not run.
    pub(super) last: Vec<Value>,
}

/// Limits to what happens in the situations of one cluster.
#[derive(Clone, Copy)]
pub(super) struct World {
    /// `true` if nodes may become empty. While one is, no savings are looked for in the whole cluster.
    pub(super) empties: bool,
    /// `true` if pods may come while the program does not run.
    pub(super) pods: bool,
    /// `true` if the definitions let everything through.
    pub(super) loose: bool,
}

impl World {
    /// The world of a number: each eight in a row differ.
    pub(super) fn numbered(number: usize) -> Self {
        Self {
            empties: number & 1 == 1,
            pods: number & 2 == 0,
            loose: number & 4 == 0,
        }
    }
}

/// Draws the situation of a number.
pub(super) fn situation(seed: u64, number: usize, world: World) -> Situation {
    let draw = Draw::new(seed, "situation", number);
    let mut maker = Maker {
        team: format!("t{number}"),
        draw,
        world,
    };
    let pools: Vec<Value> = (0..=maker.draw.below(2)).map(|at| maker.pool(at)).collect();
    let (workloads, guards) = maker.workloads();
    let mut then = maker.policies();
    then.extend(maker.changed(&pools));
    let late = if maker.draw.percent(25) {
        maker.pods("late", 1)
    } else {
        Vec::new()
    };
    let mut last: Vec<Value> = workloads.iter().filter_map(|it| maker.scaled(it)).collect();
    if world.pods && maker.draw.percent(80) {
        let count = 1 + maker.draw.below(4);
        last.extend(maker.pods("new", count));
    }
    Situation {
        team: maker.team,
        first: [pools, guards, workloads].concat(),
        then,
        late,
        last,
    }
}

struct Maker {
    team: String,
    draw: Draw,
    world: World,
}

impl Maker {
    fn name(&self, rest: &str) -> String {
        format!("{}-{rest}", self.team)
    }

    fn pool(&mut self, at: usize) -> Value {
        let mut pool = example_pool();
        pool["metadata"]["name"] = self.name(&format!("pool-{at}")).into();
        pool["metadata"]["labels"] = json!({TEAM: self.team});
        pool["spec"]["weight"] = (1 + self.draw.below(3)).into();
        let template = &mut pool["spec"]["template"];
        template["metadata"] = json!({"labels": {TEAM: self.team}});
        template["spec"]["taints"] =
            json!([{"key": TEAM, "value": self.team, "effect": "NoSchedule"}]);
        let requirements = template["spec"]["requirements"]
            .as_array_mut()
            .expect("a list");
        let sizes = self.draw.one_of(&[
            &["4"][..],
            &["8"],
            &["2", "4", "8"],
            &["2", "4", "8", "16", "32"],
        ]);
        requirements.push(
            json!({"key": "karpenter.kwok.sh/instance-cpu", "operator": "In", "values": sizes}),
        );
        if self.draw.percent(40) {
            let types = json!({"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot", "on-demand"]});
            requirements.push(types);
        }
        let after = self.draw.one_of(&["1s", "1s", "1s", "1s", "Never"]);
        let policy = self.draw.one_of(&[
            "WhenEmptyOrUnderutilized",
            "WhenEmptyOrUnderutilized",
            "WhenEmptyOrUnderutilized",
            "WhenEmpty",
        ]);
        let nodes = self.draw.one_of(&["100%", "100%", "1", "50%", "0"]);
        pool["spec"]["disruption"] = json!({"consolidateAfter": after, "consolidationPolicy": policy, "budgets": [{"nodes": nodes}]});
        pool
    }

    /// Deployments, and disruption budgets for some of them.
    fn workloads(&mut self) -> (Vec<Value>, Vec<Value>) {
        let (mut workloads, mut guards) = (Vec::new(), Vec::new());
        for at in 0..=self.draw.below(3) {
            let name = self.name(&format!("web-{at}"));
            let (replicas, size) = (2 + self.draw.below(4), self.draw.one_of(&SIZES[..3]));
            let mut workload = deployment(&name, replicas, size, self.placed());
            if self.draw.percent(10) {
                workload["spec"]["template"]["metadata"]["annotations"] =
                    json!({"karpenter.sh/do-not-disrupt": "true"});
            }
            if self.draw.percent(30) {
                guards.push(budget(&name, self.draw.below(2)));
            }
            workloads.push(workload);
        }
        (workloads, guards)
    }

    /// The part of a pod's spec that leads to nodes of this team.
    fn placed(&self) -> Value {
        json!({
            "nodeSelector": {TEAM: self.team},
            "tolerations": [{"key": TEAM, "operator": "Equal", "value": self.team, "effect": "NoSchedule"}],
        })
    }

    fn policies(&mut self) -> Vec<Value> {
        let hooks = [
            ("Rank", ["list-price", "most-pods", "bad-rank"]),
            (
                "Consolidate",
                ["savings-threshold", "savings-threshold", "bad-consolidate"],
            ),
            ("Budget", ["bad-budget", "bad-budget", "bad-budget"]),
        ];
        let mut policies = Vec::new();
        for (hook, modules) in hooks {
            if !self.draw.percent(35) {
                continue;
            }
            let module = self.draw.one_of(&modules);
            let mut more =
                json!({"hook": hook, "nodePoolSelector": {"matchLabels": {TEAM: self.team}}});
            let behaviour = self.draw.one_of(&["honest", "panic", "panic"]);
            if module.starts_with("bad") {
                more["settings"] = json!({"behaviour": behaviour});
            } else if module == "savings-threshold" && self.draw.percent(50) {
                more["settings"] = json!({"least_share": "0.9"});
            }
            if self.draw.percent(40) {
                more["failureMode"] = "Hold".into();
            }
            if self.draw.percent(15) {
                more["mode"] = "Shadow".into();
            }
            let module = if self.draw.percent(10) { GONE } else { module };
            policies.push(policy(&self.name(&hook.to_lowercase()), module, &more));
        }
        policies
    }

    /// One of the pools as someone changes it.
    fn changed(&mut self, pools: &[Value]) -> Option<Value> {
        if !self.draw.percent(50) {
            return None;
        }
        let mut pool = pools[self.draw.below(pools.len())].clone();
        let changes = if self.world.loose { 8 } else { 5 };
        match self.draw.below(changes) {
            0 => pool["spec"]["limits"] = json!({"cpu": "1"}),
            1 => pool["spec"]["limits"] = json!({"nodes": "0"}),
            2 => pool["spec"]["disruption"]["budgets"] = json!([{"nodes": "0"}]),
            3 => pool["metadata"]["annotations"] = json!({"plimsoll.dev/packing": "tight"}),
            4 => pool["metadata"]["annotations"] = json!({"plimsoll.dev/rank-policy": GONE}),
            5 => pool["spec"]["template"]["spec"]["nodeClassRef"]["name"] = GONE.into(),
            6 => {
                pool["spec"]["disruption"]["budgets"] =
                    json!([{"nodes": "0", "reasons": ["Unhealthy"]}]);
            }
            _ => pool["spec"]["limits"] = json!({"cpu": "-1"}),
        }
        Some(pool)
    }

    /// A workload with fewer replicas.
    fn scaled(&mut self, workload: &Value) -> Option<Value> {
        if !self.draw.percent(60) {
            return None;
        }
        let replicas = usize::try_from(workload["spec"]["replicas"].as_u64()?).ok()?;
        let least = usize::from(!self.world.empties);
        let mut scaled = workload.clone();
        scaled["spec"]["replicas"] = (least + self.draw.below(replicas - least)).into();
        Some(scaled)
    }

    fn pods(&mut self, name: &str, count: usize) -> Vec<Value> {
        (0..count)
            .map(|at| self.new_pod(&format!("{name}-{at}")))
            .collect()
    }

    fn new_pod(&mut self, name: &str) -> Value {
        let size = if self.draw.percent(10) {
            GIANT
        } else {
            self.draw.one_of(&SIZES)
        };
        let pod = pending_pod(&self.name(name), size.0, size.1);
        let mut pod = serde_json::to_value(pod).expect("a pod");
        (pod["apiVersion"], pod["kind"]) = ("v1".into(), "Pod".into());
        for (field, value) in self.placed().as_object().into_iter().flatten() {
            pod["spec"][field] = value.clone();
        }
        match self.draw.below(12) {
            0 => pod["spec"]["nodeSelector"]["example.com/nowhere"] = "true".into(),
            1 => pod["spec"]["tolerations"] = json!([]),
            2 => pod["spec"]["schedulingGates"] = json!([{"name": "example.com/later"}]),
            3 => pod["spec"]["nodeSelector"]["topology.kubernetes.io/zone"] = "test-zone-b".into(),
            _ => {}
        }
        pod
    }
}
