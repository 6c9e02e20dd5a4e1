//! Columns of consolidation policies: nodes, and moves with them.

use crate::model::{Column, Hook, Kind, List, Read, Row, Signal, Table, Values, View};

const CAPACITY: Values = Values::Code("Capacity", "$ as u8");
const CAPACITY_READ: Kind = Kind::Code("Capacity", "Capacity::of($)");

/// The hook.
pub const SCORE: Hook = Hook {
    module: "score",
    interface: "consolidator",
    sdk: "consolidation",
    tables: &[
        Table {
            name: "Nodes",
            wire: "Nodes",
            prefix: "nodes.",
            doc: "Columns of nodes: those that may move, and those that stay, because shares are of the whole.",
            lists: &[NODE],
        },
        Table {
            name: "Moves",
            wire: "Moves",
            prefix: "moves.",
            doc: "Columns of moves; members and replacements are CSR.",
            lists: &[MOVE, MEMBER, REPLACEMENT],
        },
    ],
};

const NODE: List = List {
    of: "node",
    columns: &[
        Column::new("name", Values::Text, "Name of the node").reads(&[Read::value("name")]),
        Column::new("pool", Values::Text, "Name of its NodePool")
            .or("\"general\"")
            .reads(&[
                Read::value("pool"),
                Read::of("pool_key", Kind::Key).doc(
                    "Number of the pool: equal for equal pools, and quicker to compare than names",
                ),
            ]),
        Column::new(
            "type-name",
            Values::Text,
            "Name of its instance type, for instance `m7g.2xlarge`",
        )
        .key("type")
        .or("\"m5.large\"")
        .reads(&[Read::value("instance_type")]),
        Column::new("zone", Values::Text, "Zone, for instance `eu-central-1a`")
            .or("\"a\"")
            .reads(&[Read::value("zone")]),
        Column::new(
            "capacity",
            CAPACITY,
            "[`Capacity`] type that it was bought as",
        )
        .code("capacity(fields)?", "0")
        .reads(&[Read::of("capacity", CAPACITY_READ).doc("How it was bought")]),
        Column::new(
            "price",
            Values::F64,
            "Worth with the node's own cost, dollars per hour: the ranking policy's price of one more like it, or its list \
             price where that policy does not speak of it; 0 where nobody knows",
        )
        .needed("dollars per hour")
        .reads(&[Read::value("price").doc("Dollars per hour, as ranked; 0 where nobody knows")]),
        Column::new("age-s", Values::U32, "Time since it was created")
            .unit("seconds")
            .or("24 * 3_600")
            .reads(&[Read::of("age", Kind::Duration)]),
        Column::new(
            "since-move-s",
            Values::U32,
            "Time since a pod last came to it or left it, daemons apart",
        )
        .unit("seconds")
        .or("3_600")
        .reads(&[Read::of("since_pod_change", Kind::Duration)]),
        Column::new(
            "cpu-used",
            Values::F32,
            "Share of its allocatable processor time that its pods request, 0 to 1; more where it is overcommitted",
        )
        .or("0.5")
        .reads(&[Read::value("cpu_used")]),
        Column::new(
            "mem-used",
            Values::F32,
            "Share of its allocatable memory that its pods request, 0 to 1; more where it is overcommitted",
        )
        .or("0.5")
        .reads(&[Read::value("memory_used")]),
        Column::new("pods", Values::U32, "Pods, daemons included")
            .or("3")
            .reads(&[Read::value("pods")]),
        Column::new("pods-daemon", Values::U32, "Daemons among its pods")
            .or("1")
            .reads(&[Read::value("daemons")]),
        Column::new(
            "pods-no-evict",
            Values::U32,
            "Pods that must not be evicted now; the host proposes no move of their node",
        )
        .or("0")
        .reads(&[Read::value("pods_to_keep")]),
        Column::new(
            "pods-last-replica",
            Values::U32,
            "Pods whose workload has no other replica that is ready",
        )
        .or("0")
        .reads(&[Read::value("last_replicas")]),
        Column::new(
            "youngest-pod-s",
            Values::U32,
            "Time since the youngest pod that is no daemon started, or since the node was created where there is none",
        )
        .unit("seconds")
        .or("3_600")
        .reads(&[Read::of("youngest_pod", Kind::Duration)]),
        Column::new(
            "evictions-day",
            Values::U32,
            "Evictions within a day of the workload, among those with a pod here, that had most of them",
        )
        .or("0")
        .reads(&[Read::value("evictions_day")]),
        Column::new(
            "eviction-cost",
            Values::F64,
            "Cost of evicting the pods that would have to go elsewhere: 1 for an ordinary pod, 0 to 10 each",
        )
        .or("2.0")
        .reads(&[Read::value("eviction_cost")]),
    ],
    ext: "ext",
    signals: &[
        Signal {
            name: "job-age-s",
            values: Values::U32,
            doc: "Time since the oldest pod of a Job that runs there started: work that an eviction throws away",
            unit: "seconds",
            zero: "where none runs",
            read: Read::of("job_age", Kind::Duration),
        },
        Signal {
            name: "rebalance-age-s",
            values: Values::U32,
            doc: "Time since the cloud first recommended to rebalance the node's spot instance, whose risk of interruption is elevated; a second at least",
            unit: "seconds",
            zero: "where it has not",
            read: Read::of("rebalance_age", Kind::Duration),
        },
    ],
    row: Some(Row {
        name: "NodeRow",
        doc: "One node, as it enters a question.",
        derives: "",
        besides: &[],
    }),
    view: Some(View {
        name: "Node",
        read: "self.columns.nodes.$[self.row]",
        texts: "self.columns.texts",
    }),
    shuffled: true,
    in_suites: true,
};

const MOVE: List = List {
    of: "move",
    columns: &[
        Column::new("kind", Values::Code("MoveKind", "$ as u8"), "[`MoveKind`]").reads(&[
            Read::of("kind", Kind::Code("MoveKind", "MoveKind::of($)")).doc("Effect of the move"),
        ]),
        Column::new(
            "member-ends",
            Values::Ends("member"),
            "End of each move's part of `member`",
        ),
        Column::new(
            "repl-ends",
            Values::Ends("replacement"),
            "End of each move's part of the `repl_` columns",
        ),
        Column::new("pods-moved", Values::U32, "Pods that are evicted")
            .reads(&[Read::value("pods_moved")]),
    ],
    ext: "ext",
    signals: &[],
    row: Some(Row {
        name: "MoveRow",
        doc: "One move, as it enters a question.",
        derives: "",
        besides: &[
            (
                "members",
                "&'a [u32]",
                "Rows of the nodes that go, at least one",
            ),
            (
                "replacements",
                "&'a [Replacement<'a>]",
                "The machines that it buys",
            ),
        ],
    }),
    view: Some(View {
        name: "Move",
        read: "self.columns.moves.$[self.row]",
        texts: "self.columns.texts",
    }),
    shuffled: true,
    in_suites: false,
};

const MEMBER: List = List {
    of: "member",
    columns: &[Column::new(
        "member",
        Values::U32,
        "Rows of the nodes that go",
    )],
    ext: "",
    signals: &[],
    row: None,
    view: None,
    shuffled: true,
    in_suites: false,
};

const REPLACEMENT: List = List {
    of: "replacement",
    columns: &[
        Column::new(
            "repl-type",
            Values::Text,
            "Name of the instance type, for instance `m7g.2xlarge`",
        )
        .row("type_name")
        .key("type")
        .or("\"m5.large\"")
        .reads(&[Read::value("instance_type")]),
        Column::new("repl-zone", Values::Text, "Zone, for instance `eu-central-1a`")
            .row("zone")
            .key("zone")
            .or("\"a\"")
            .reads(&[Read::value("zone")]),
        Column::new(
            "repl-capacity",
            CAPACITY,
            "[`Capacity`] type that it is bought as",
        )
        .row("capacity")
        .key("capacity")
        .code("capacity(fields)?", "0")
        .reads(&[Read::of("capacity", CAPACITY_READ).doc("How it is bought")]),
        Column::new(
            "repl-price",
            Values::F64,
            "Price by the ranking policy, or list price without one, with the node's own cost, dollars per hour",
        )
        .row("price")
        .key("price")
        .needed("dollars per hour")
        .reads(&[Read::value("price").doc("Dollars per hour, as ranked")]),
    ],
    ext: "",
    signals: &[],
    row: Some(Row {
        name: "Replacement",
        doc: "One machine that a move buys.",
        derives: "",
        besides: &[],
    }),
    view: Some(View {
        name: "Replacement",
        read: "self.columns.moves.$[self.row]",
        texts: "self.columns.texts",
    }),
    shuffled: true,
    in_suites: true,
};
