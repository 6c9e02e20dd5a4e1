//! Columns of budget policies: pools, with a row for each disruption reason.

use crate::model::{Column, Hook, Kind, List, Read, Row, Table, Values, View};

/// The hook.
pub const ALLOW: Hook = Hook {
    module: "allow",
    interface: "budgeter",
    sdk: "budget",
    tables: &[Table {
        name: "BudgetRows",
        wire: "Pools",
        prefix: "pools.",
        doc: "Columns of pools and reasons.",
        lists: &[POOL],
    }],
};

const POOL: List = List {
    of: "pool",
    columns: &[
        Column::new("name", Values::Text, "Name of the NodePool").reads(&[Read::value("name")]),
        Column::new(
            "reason",
            Values::Code("DisruptionReason", "$.code()"),
            "[`DisruptionReason`] that nodes would go for",
        )
        .reads(&[
            Read::of("disruption", Kind::Code("Disruption", "Disruption::of($)"))
                .doc("Why nodes would be taken"),
        ]),
        Column::new(
            "nodes",
            Values::U32,
            "Nodes that count: managed, initialized, not ended",
        )
        .needed("how many there are")
        .reads(&[Read::value("nodes")]),
        Column::new(
            "not-ready",
            Values::U32,
            "Those of its nodes that are not ready",
        )
        .or("0")
        .reads(&[Read::value("not_ready")]),
        Column::new(
            "disrupting",
            Values::U32,
            "Those of its nodes that are ready and deleting",
        )
        .or("0")
        .reads(&[Read::value("disrupting")]),
        Column::new(
            "ceiling",
            Values::U32,
            "Nodes that the NodePool's own budgets let be down at once for this reason; `u32::MAX` for no limit",
        )
        .or("nodes.div_ceil(10)")
        .reads(&[Read::value("declared")]),
        Column::new(
            "pending-pods",
            Values::U32,
            "Pods that wait for a node of the pool",
        )
        .or("0")
        .reads(&[Read::value("pending_pods")]),
        Column::new(
            "recent-evictions",
            Values::U32,
            "Evictions from its nodes in the last hour",
        )
        .or("0")
        .reads(&[Read::value("recent_evictions")]),
        Column::new(
            "recent-failures",
            Values::U32,
            "Launches for it that failed in the last hour",
        )
        .or("0")
        .reads(&[Read::value("recent_failures")]),
    ],
    ext: "ext",
    signals: &[],
    row: Some(Row {
        name: "BudgetRow",
        doc: "One pool and reason, as they enter a question.",
        derives: "",
        besides: &[],
    }),
    view: Some(View {
        name: "Pool",
        read: "self.columns.pools.$[self.row]",
        texts: "self.columns.texts",
    }),
    shuffled: true,
    in_suites: true,
};
