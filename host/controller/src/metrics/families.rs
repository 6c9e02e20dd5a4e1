//! All families that a process serves, with type, labels and meaning. Names, types, labels and buckets are Karpenter's where it has
//! one for the same; ours begin with `plimsoll_`.
//!
//! Families of nodes carry further labels: one for each well-known label of nodes ([`super::nodes`]).

use super::family::{Family, FamilyKind};

/// Seconds, as Karpenter's durations are sorted.
const DURATIONS: &[f64] = &[
    0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9,
    1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 15.0, 20.0,
    25.0, 30.0, 40.0, 50.0, 60.0, 120.0, 150.0, 300.0, 450.0, 600.0,
];
/// The same up to a minute, as controller-runtime has them.
const RECONCILES: &[f64] = DURATIONS.split_at(40).0;
/// Seconds of calls, as Prometheus sorts them by default.
const CALLS: &[f64] = &[
    0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
];
/// Seconds of terminations, doubling.
const TERMINATIONS: &[f64] = &[
    1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0,
];
const HOUR: f64 = 3600.0;
const DAY: f64 = 24.0 * HOUR;
/// Ages of nodes, in seconds.
const LIFETIMES: &[f64] = &[
    0.25 * HOUR,
    0.5 * HOUR,
    0.75 * HOUR,
    HOUR,
    2.0 * HOUR,
    4.0 * HOUR,
    6.0 * HOUR,
    8.0 * HOUR,
    10.0 * HOUR,
    12.0 * HOUR,
    16.0 * HOUR,
    20.0 * HOUR,
    DAY,
    2.0 * DAY,
    3.0 * DAY,
    5.0 * DAY,
    10.0 * DAY,
    15.0 * DAY,
    20.0 * DAY,
    25.0 * DAY,
    30.0 * DAY,
];

macro_rules! kind {
    (counter) => {
        FamilyKind::Counter
    };
    (gauge) => {
        FamilyKind::Gauge
    };
    (summary) => {
        FamilyKind::Summary
    };
    (histogram($bounds:ident)) => {
        FamilyKind::Histogram($bounds)
    };
}

macro_rules! families {
    ($($id:ident = $kind:ident $(($bounds:ident))? $name:literal [$($label:literal),*] $help:literal;)*) => {
        $(pub(crate) const $id: Family = Family {
            name: $name,
            kind: kind!($kind $(($bounds))?),
            labels: &[$($label),*],
            help: $help,
        };)*

        /// Every family, in the order of the table.
        #[cfg(test)]
        pub(crate) const ALL: &[Family] = &[$($id),*];
    };
}

families! {
    // Claims.
    CLAIMS_CREATED = counter "karpenter_nodeclaims_created_total" ["reason", "nodepool", "min_values_relaxed"]
        "NodeClaims that were made, by reason: provisioned, or that of the disruption that they replace nodes for.";
    CLAIMS_TERMINATED = counter "karpenter_nodeclaims_terminated_total" ["nodepool", "capacity_type", "zone"]
        "NodeClaims that were let go.";
    CLAIMS_DISRUPTED = counter "karpenter_nodeclaims_disrupted_total" ["reason", "nodepool", "capacity_type"]
        "NodeClaims that were asked to go, by reason.";
    CLAIM_TERMINATION = histogram(TERMINATIONS) "karpenter_nodeclaims_termination_duration_seconds" ["nodepool"]
        "Time from when a NodeClaim was asked to go until it was let go.";
    INSTANCE_TERMINATION = histogram(TERMINATIONS) "karpenter_nodeclaims_instance_termination_duration_seconds" ["nodepool"]
        "Time from when an instance was asked to end until its NodeClaim was let go; 0 where it was gone by then.";

    // Nodes.
    NODES_CREATED = counter "karpenter_nodes_created_total" ["nodepool", "zone"]
        "Nodes that have joined.";
    NODES_TERMINATED = counter "karpenter_nodes_terminated_total" ["nodepool", "zone"]
        "Nodes that were let go.";
    NODES_DRAINED = counter "karpenter_nodes_drained_total" ["nodepool"]
        "Nodes whose drain is over.";
    NODE_TERMINATION = summary "karpenter_nodes_termination_duration_seconds" ["nodepool"]
        "Time from when a node was asked to go until it was let go.";
    NODE_LIFETIME = histogram(LIFETIMES) "karpenter_nodes_lifetime_duration_seconds" ["nodepool"]
        "Age of nodes when they were let go.";
    NODE_AGE = gauge "karpenter_nodes_current_lifetime_seconds" ["node_name", "phase", "managed"]
        "Age of a node.";
    NODE_ALLOCATABLE = gauge "karpenter_nodes_allocatable" ["node_name", "phase", "managed", "resource_type"]
        "Resources of a node for pods.";
    NODE_POD_REQUESTS = gauge "karpenter_nodes_total_pod_requests" ["node_name", "phase", "managed", "resource_type"]
        "Requests of all pods on a node, daemons among them.";
    NODE_DAEMON_REQUESTS = gauge "karpenter_nodes_total_daemon_requests" ["node_name", "phase", "managed", "resource_type"]
        "Requests of the daemons on a node.";
    NODE_OVERHEAD = gauge "karpenter_nodes_system_overhead" ["node_name", "phase", "managed", "resource_type"]
        "Capacity of a node that is not for pods.";

    // Interruptions.
    INTERRUPTION_RECEIVED = counter "karpenter_interruption_received_messages_total" ["message_type"]
        "Messages of the interruption queue that were read, by kind.";
    INTERRUPTION_DELETED = counter "karpenter_interruption_deleted_messages_total" []
        "Messages of the interruption queue that were deleted, since nothing was left to be done.";
    INTERRUPTION_DELAY = histogram(DURATIONS) "karpenter_interruption_message_queue_duration_seconds" []
        "Time from the event that a message tells of until it was read.";
    INSTANCE_UNHEALTHY = counter "karpenter_interruption_instance_status_unhealthy_total" ["category"]
        "Instances of ours whose checks fail, or for which work is scheduled.";
    INTERRUPTION_UNUSABLE = gauge "plimsoll_interruption_queue_unusable" []
        "1 while the interruption queue cannot be asked.";

    // Pods.
    POD_STATE = gauge "karpenter_pods_state" [
        "name", "namespace", "owner", "node", "scheduled", "nodepool", "zone", "arch", "capacity_type", "instance_type", "phase",
        "ready", "managed"
    ] "1 for each pod, with where it is and how it stands.";
    POD_STARTUP = summary "karpenter_pods_startup_duration_seconds" []
        "Time from the creation of a pod until it ran.";
    POD_UNSTARTED = gauge "karpenter_pods_unstarted_time_seconds" ["name", "namespace"]
        "Time since the creation of a pod that does not run yet.";
    POD_BOUND = histogram(DURATIONS) "karpenter_pods_bound_duration_seconds" []
        "Time from the creation of a pod until it was bound.";
    POD_UNBOUND = gauge "karpenter_pods_unbound_time_seconds" ["name", "namespace"]
        "Time since the creation of a pod that is not bound.";
    POD_PLANNED_BOUND = histogram(DURATIONS) "karpenter_pods_provisioning_bound_duration_seconds" []
        "Time from the first plan that had a place for a pod until it was bound.";
    POD_PLANNED_STARTUP = histogram(DURATIONS) "karpenter_pods_provisioning_startup_duration_seconds" []
        "Time from the first plan that had a place for a pod until it ran.";
    POD_PLANNED_UNBOUND = gauge "karpenter_pods_provisioning_unbound_time_seconds" ["name", "namespace"]
        "Time since the first plan that had a place for a pod that is not bound.";
    POD_PLANNED_UNSTARTED = gauge "karpenter_pods_provisioning_unstarted_time_seconds" ["name", "namespace"]
        "Time since the first plan that had a place for a pod that does not run yet.";
    POD_UNDECIDED = gauge "karpenter_pods_provisioning_scheduling_undecided_time_seconds" ["name", "namespace"]
        "Time for which a waiting pod has been seen and no plan has spoken of it.";
    POD_DECISION = histogram(DURATIONS) "karpenter_pods_scheduling_decision_duration_seconds" []
        "Time from when a waiting pod was seen until a plan spoke of it.";
    EVICTION_REQUESTS = counter "karpenter_pods_eviction_requests_total" ["code"]
        "Answers of evictions, by HTTP status.";
    PODS_DRAINED = counter "karpenter_pods_drained_total" ["reason"]
        "Pods that were evicted or deleted in drains, by the reason of the disruption.";

    // Voluntary disruption.
    DECISIONS = counter "karpenter_voluntary_disruption_decisions_total" ["decision", "reason", "consolidation_type"]
        "Disruption commands that were begun.";
    DECISIONS_BY_POOL = counter "karpenter_voluntary_disruption_decisions_by_nodepool_total" [
        "decision", "reason", "consolidation_type", "nodepool"
    ] "Disruption commands that were begun, for each NodePool of their nodes.";
    EVALUATION = histogram(DURATIONS) "karpenter_voluntary_disruption_decision_evaluation_duration_seconds" ["reason", "consolidation_type"]
        "Time that a decision on disruption took. One that looks for savings counts as underutilized, any other that looks at all nodes as empty, one that looks at a command again as that.";
    ELIGIBLE_NODES = gauge "karpenter_voluntary_disruption_eligible_nodes" ["reason"]
        "Nodes that are empty, drifted, or consolidatable and not empty.";
    CONSOLIDATION_TIMEOUTS = counter "karpenter_voluntary_disruption_consolidation_timeouts_total" ["consolidation_type"]
        "Searches for savings that were cut short: none, since they end by themselves.";
    FAILED_VALIDATIONS = counter "karpenter_voluntary_disruption_failed_validations_total" ["consolidation_type"]
        "Disruption commands that no longer held when they were looked at again.";
    QUEUE_FAILURES = counter "karpenter_voluntary_disruption_queue_failures_total" ["decision", "reason", "consolidation_type"]
        "Replacements that had not come when their disruption command was taken back.";

    // Pools.
    POOL_ALLOWED = gauge "karpenter_nodepools_allowed_disruptions" ["nodepool", "reason"]
        "Nodes of a NodePool that its budgets let be down at once.";
    POOL_CONSUMING = gauge "karpenter_nodepools_nodes_consuming_budgets" ["nodepool", "reason"]
        "Nodes of a NodePool that are deleting or not ready.";
    POOL_LIMIT = gauge "karpenter_nodepools_limit" ["resource_type", "nodepool"]
        "Limits of a NodePool.";
    POOL_USAGE = gauge "karpenter_nodepools_usage" ["resource_type", "nodepool"]
        "Capacity of a NodePool's nodes.";
    POOL_COST = gauge "karpenter_nodepools_cost_total" ["nodepool"]
        "List price of a NodePool's nodes, in dollars per hour.";

    // Scheduler.
    SCHEDULING = histogram(DURATIONS) "karpenter_scheduler_scheduling_duration_seconds" ["controller"]
        "Time that a plan for waiting pods, or a decision on disruption, took.";
    QUEUE_DEPTH = gauge "karpenter_scheduler_queue_depth" ["controller", "scheduling_id"]
        "Waiting pods of a plan that is being made.";
    UNFINISHED_WORK = gauge "karpenter_scheduler_unfinished_work_seconds" ["controller", "scheduling_id"]
        "Time for which a decision has been made that is not done.";
    IGNORED_PODS = gauge "karpenter_scheduler_ignored_pods_count" []
        "Waiting pods that cannot be understood, and are left out of plans.";
    UNSCHEDULABLE_PODS = gauge "karpenter_scheduler_unschedulable_pods_count" ["controller"]
        "Pods that the last plan left without a place.";

    // Cluster.
    NODE_COUNT = gauge "karpenter_cluster_state_node_count" []
        "Nodes in memory.";
    SYNCED = gauge "karpenter_cluster_state_synced" []
        "1 while what is seen of the cluster is what is there.";
    UNSYNCED = gauge "karpenter_cluster_state_unsynced_time_seconds" []
        "Time for which what is seen has been stale.";
    UTILIZATION = gauge "karpenter_cluster_utilization_percent" ["resource_type"]
        "Requests of all pods on nodes as a share of what nodes have for pods.";

    // Cloud provider.
    CLOUD_CALLS = histogram(CALLS) "karpenter_cloudprovider_duration_seconds" ["controller", "method", "provider"]
        "Time that calls to the cloud took.";
    CLOUD_ERRORS = counter "karpenter_cloudprovider_errors_total" ["controller", "method", "provider", "error"]
        "Calls to the cloud that were not done.";
    OFFERING_AVAILABLE = gauge "karpenter_cloudprovider_instance_type_offering_available" ["instance_type", "capacity_type", "zone"]
        "1 where an offering can be had, as far as is known.";
    OFFERING_PRICE = gauge "karpenter_cloudprovider_instance_type_offering_price_estimate" ["instance_type", "capacity_type", "zone"]
        "Price of an offering, in dollars per hour.";
    TYPE_CPU = gauge "karpenter_cloudprovider_instance_type_cpu_cores" ["instance_type"]
        "Cores of an instance type.";
    TYPE_MEMORY = gauge "karpenter_cloudprovider_instance_type_memory_bytes" ["instance_type"]
        "Memory of an instance type, in bytes.";
    LAUNCH_FAILURES = counter "karpenter_cloudprovider_instance_launch_failures_total" ["zone", "zone_id", "capacity_type", "reason"]
        "Ways to buy that gave no instance, by the provider's code of the error.";
    TERMINATION_FAILURES = counter "karpenter_cloudprovider_instance_termination_failures_total" ["zone", "zone_id"]
        "Instances that were asked to end and did not.";

    // Process and libraries.
    BUILD_INFO = gauge "karpenter_build_info" ["version", "goversion", "goarch", "commit"]
        "1, with the version of the program.";
    LEADER = gauge "leader_election_master_status" ["name"]
        "1 while this process leads.";
    RECONCILE_TOTAL = counter "controller_runtime_reconcile_total" ["controller", "result"]
        "Objects taken in, decisions made and orders carried out, by Karpenter's controller that does the same.";
    RECONCILE_ERRORS = counter "controller_runtime_reconcile_errors_total" ["controller"]
        "Those of them that failed.";
    RECONCILE_TIME = histogram(RECONCILES) "controller_runtime_reconcile_time_seconds" ["controller"]
        "Time that they took.";
    RECONCILE_PANICS = counter "controller_runtime_reconcile_panics_total" ["controller"]
        "Decisions that failed because the planner panicked.";
    WORKQUEUE_DEPTH = gauge "workqueue_depth" ["name", "controller", "priority"]
        "Orders that wait for their turn.";

    // Ours.
    ORDERS = counter "plimsoll_orders_total" ["purpose", "outcome"]
        "Orders that have ended, by purpose and outcome.";
    EVENTS = counter "plimsoll_events_published_total" ["outcome"]
        "Events, by what became of them.";
    UNREADABLE = gauge "plimsoll_unreadable_objects" ["kind"]
        "Objects that cannot be read, by kind.";
    WATCH_FAILING = gauge "plimsoll_watch_failing" ["kind"]
        "1 while the watch of a kind does not go on.";
    WATCH_SILENT = gauge "plimsoll_watch_silent_seconds" ["kind"]
        "Time since the watch of a kind said something last.";
    WATCH_STALE = gauge "plimsoll_watch_stale" ["kind"]
        "1 while what is seen of a kind may be older than the cluster.";
    PACKING_COST = gauge "plimsoll_packing_cost_dollars_per_hour" []
        "List price of what a plan buys, the last that was measured.";
    PACKING_BOUND = gauge "plimsoll_packing_bound_dollars_per_hour" []
        "List price below which no new nodes for the pods of that plan can be, of what pools may buy while guards hold.";
    PACKING_UNGUARDED_BOUND = gauge "plimsoll_packing_unguarded_bound_dollars_per_hour" []
        "The same of all that pools may buy.";
    PACKING_GAP = gauge "plimsoll_packing_gap_ratio" []
        "Share by which that plan is above its bound while guards hold.";
    LAUNCHED = counter "plimsoll_launched_instances_total" ["nodepool", "choice"]
        "Instances that launches gave, by whether it was the first way to buy that was asked for.";
    LAUNCH_DOLLARS = counter "plimsoll_launched_dollars_per_hour_total" ["nodepool", "of"]
        "List prices of instances that launches gave, as planned and as obtained.";
    FIDELITY = counter "plimsoll_plan_fidelity_pods_total" ["pods", "bound"]
        "Pods that were bound and had been promised a place, by why they needed one and where they were bound: as_planned, sooner, elsewhere.";
    LEDGER_COMMANDS = counter "plimsoll_ledger_commands_total" ["reason"]
        "Disruption commands that have come to their end.";
    LEDGER_SAVING = gauge "plimsoll_ledger_saving_dollars_per_hour" ["reason", "kind"]
        "Saving of those commands at list prices, in all: predicted when they began, realised at their end, or in the hour after for those that are made to save.";
    POLICY_CALLS = counter "plimsoll_policy_calls_total" ["policy", "hook"]
        "Questions that were put to a policy.";
    POLICY_FAULTS = counter "plimsoll_policy_faults_total" ["policy", "hook", "fault"]
        "Questions that a policy did not answer, by fault.";
    POLICY_DURATION = histogram(CALLS) "plimsoll_policy_call_duration_seconds" ["policy", "hook"]
        "Time that a policy took to answer.";
    SHADOW_DECISIONS = counter "plimsoll_policy_shadow_decisions_total" ["policy", "hook", "outcome"]
        "Decisions about which a policy in shadow was asked: same or differs, from the active one; skipped, since it was behind; or timed-out, since a call ran out of time.";
    SHADOW_FAULTS = counter "plimsoll_policy_shadow_faults_total" ["policy", "hook"]
        "Calls of a policy in shadow that failed.";
    SHADOW_REGRET = gauge "plimsoll_policy_shadow_regret_dollars_per_hour" ["policy", "hook"]
        "Cost of the choices of a policy in shadow above that of the active ones, at list prices, for hook consolidate at the prices that decide, all decisions together; below zero where they cost less.";
}

/// Families whose figures are set down as they change, wherever that is, in the order in which they are told.
pub(crate) const FIGURES: &[Family] = &[
    EVICTION_REQUESTS,
    UNSCHEDULABLE_PODS,
    NODE_COUNT,
    SYNCED,
    UNSYNCED,
    BUILD_INFO,
    LEADER,
    RECONCILE_PANICS,
    ORDERS,
    EVENTS,
    UNREADABLE,
    WATCH_FAILING,
    WATCH_SILENT,
    WATCH_STALE,
    PACKING_COST,
    PACKING_BOUND,
    PACKING_UNGUARDED_BOUND,
    PACKING_GAP,
    LAUNCHED,
    LAUNCH_DOLLARS,
    SHADOW_DECISIONS,
    SHADOW_FAULTS,
    SHADOW_REGRET,
];

/// Those among them of policies in shadow.
pub(crate) const OF_SHADOWS: [&Family; 3] = [&SHADOW_DECISIONS, &SHADOW_FAULTS, &SHADOW_REGRET];

/// Those of EC2 as the provider.
pub(crate) const FIGURES_OF_AWS: &[Family] = &[
    INTERRUPTION_RECEIVED,
    INTERRUPTION_DELETED,
    INTERRUPTION_DELAY,
    INTERRUPTION_UNUSABLE,
    INSTANCE_UNHEALTHY,
    LAUNCH_FAILURES,
    TERMINATION_FAILURES,
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The chart's alerts.
    const ALERTS: &str = include_str!("../../../../charts/plimsoll/templates/prometheusrule.yaml");

    #[test]
    fn alerts_of_the_chart_are_on_families_that_there_are() {
        let words = ALERTS.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        let named: BTreeSet<&str> = words.filter(|word| word.starts_with("plimsoll_")).collect();
        assert!(
            named.contains(PACKING_GAP.name) && named.len() > 5,
            "{named:?}"
        );
        for name in named {
            assert!(ALL.iter().any(|family| family.name == name), "{name}");
        }
    }

    #[test]
    fn names_are_unique_and_fit_their_types() {
        let names: BTreeSet<&str> = ALL.iter().map(|family| family.name).collect();
        assert_eq!(names.len(), ALL.len());
        for family in ALL {
            let counts = matches!(family.kind, FamilyKind::Counter);
            let is_total = family.name.ends_with("_total");
            // Karpenter's name for a gauge.
            let is_named_so = family.name == "karpenter_nodepools_cost_total";
            assert_eq!(counts, is_total && !is_named_so, "{}", family.name);
            let ascends = family.bounds().windows(2).all(|pair| pair[0] < pair[1]);
            assert!(ascends, "{}", family.name);
            let words = family.name.strip_prefix("plimsoll_");
            let ours = words.is_some();
            let prefixes = [
                "karpenter_",
                "leader_election_",
                "controller_runtime_",
                "workqueue_",
            ];
            let theirs = prefixes
                .iter()
                .any(|prefix| family.name.starts_with(prefix));
            assert!(ours != theirs, "{}", family.name);
            assert!(family.help.ends_with('.') && !family.help.contains('\n'));
        }
    }
}
