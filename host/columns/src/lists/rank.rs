//! Columns of ranking policies: the catalogue, pools with the offerings that each may buy, planned claims with those that can hold
//! each.

use crate::model::{Column, Hook, Kind, List, Read, Row, Table, Values, View};

/// The hook.
pub const RANK: Hook = Hook {
    module: "rank",
    interface: "ranker",
    sdk: "ranking",
    tables: &[
        Table {
            name: "CatalogueColumns",
            wire: "Catalog",
            prefix: "",
            doc: "Columns of the catalogue; `t_` columns have a row per instance type, `o_` columns a row per offering.",
            lists: &[TYPE, LABEL, OFFERING],
        },
        Table {
            name: "Pools",
            wire: "Pools",
            prefix: "pools.",
            doc: "Pools and the offerings each may buy.",
            lists: &[POOL, CANDIDATE],
        },
        Table {
            name: "Claims",
            wire: "Claims",
            prefix: "claims.",
            doc: "Planned claims and the offerings that can hold each.",
            lists: &[CLAIM, HOLDER],
        },
    ],
};

const TYPE: List = List {
    of: "type",
    columns: &[
        Column::new("t-name", Values::Text, "Name, for instance `m7g.2xlarge`")
            .row("name")
            .reads(&[
                Read::value("instance_type")
                    .doc("Name of the instance type, for instance `m7g.2xlarge`"),
                Read::of("type_key", Kind::Key).doc(
                    "Number of the instance type: equal for equal types, and quicker to compare than names",
                ),
            ]),
        Column::new(
            "t-family",
            Values::Text,
            "Family of the instance type, for instance `m7g`",
        )
        .row("family")
        .key("family")
        .or("name.split_once('.').map_or(name, |(family, _)| family)")
        .reads(&[
            Read::value("family"),
            Read::of("family_key", Kind::Key).doc(
                "Number of the family: equal for equal families, and quicker to compare than names",
            ),
        ]),
        Column::new(
            "t-arch",
            Values::Code("Architecture", "$ as u8"),
            "[`Architecture`] of the processor",
        )
        .row("architecture")
        .key("arch")
        .code("architecture(fields)?", "0")
        .reads(&[Read::of(
            "architecture",
            Kind::Code("Architecture", "Architecture::of($)"),
        )
        .doc("Processor architecture")]),
        Column::new(
            "t-cpu-milli",
            Values::U32,
            "Processor time, milli-CPU of capacity",
        )
        .row("cpu_milli")
        .key("cpu-milli")
        .or("2_000")
        .reads(&[Read::value("cpu_milli")]),
        Column::new("t-mem-mib", Values::U32, "Memory, MiB of capacity")
            .row("memory_mib")
            .key("mem-mib")
            .or("8_192")
            .reads(&[Read::value("memory_mib")]),
        Column::new("t-pods", Values::U32, "Most pods a node of this type takes")
            .row("pods")
            .key("pods")
            .or("29")
            .reads(&[Read::value("pods")]),
        Column::new("t-gpus", Values::U32, "Accelerators")
            .row("gpus")
            .key("gpus")
            .or("0")
            .reads(&[Read::value("gpus")]),
        Column::new(
            "t-gpu-kind",
            Values::Text,
            "Kind of accelerator; empty where there is none",
        )
        .row("gpu_kind")
        .key("gpu-kind")
        .or("\"\"")
        .reads(&[Read::value("gpu_kind")]),
        Column::new(
            "t-label-ends",
            Values::Ends("label"),
            "End of each type's labels in the two columns that follow",
        ),
    ],
    ext: "t_ext",
    signals: &[],
    row: Some(Row {
        name: "InstanceTypeRow",
        doc: "One instance type, as it enters the catalogue.",
        derives: "",
        besides: &[(
            "labels",
            "&'a [(&'a str, &'a str)]",
            "Its labels: key and value",
        )],
    }),
    view: Some(View {
        name: "Offering",
        read: "self.tables.catalog.$[self.type_row()]",
        texts: "self.tables.texts",
    }),
    shuffled: false,
    in_suites: true,
};

const LABEL: List = List {
    of: "label",
    columns: &[
        Column::new(
            "t-label-key",
            Values::Symbol,
            "Label keys, all types joined",
        ),
        Column::new(
            "t-label-value",
            Values::Symbol,
            "Label values, all types joined",
        ),
    ],
    ext: "",
    signals: &[],
    row: None,
    view: None,
    shuffled: false,
    in_suites: false,
};

const OFFERING: List = List {
    of: "offering",
    columns: &[
        Column::new("o-type", Values::U32, "Row of the instance type").row("instance_type"),
        Column::new("o-zone", Values::Text, "Zone, for instance `eu-central-1a`")
            .row("zone")
            .key("zone")
            .or("\"a\"")
            .reads(&[
                Read::value("zone"),
                Read::of("zone_key", Kind::Key).doc(
                    "Number of the zone: equal for equal zones, and quicker to compare than names",
                ),
            ]),
        Column::new(
            "o-capacity",
            Values::Code("Capacity", "$ as u8"),
            "[`Capacity`] type that it is bought as",
        )
        .row("capacity")
        .key("capacity")
        .code("capacity(fields)?", "0")
        .reads(&[
            Read::of("capacity", Kind::Code("Capacity", "Capacity::of($)")).doc("How it is bought"),
        ]),
        Column::new(
            "o-price",
            Values::F64,
            "List price, dollars per hour, in 0 to 100,000",
        )
        .row("price")
        .key("price")
        .needed("dollars per hour")
        .reads(&[Read::value("price")]),
        Column::new(
            "o-price-age-s",
            Values::U32,
            "Seconds since the price was read at its source",
        )
        .row("price_age_s")
        .key("price-age-s")
        .or("0")
        .reads(&[Read::value("price_age_s")]),
        Column::new(
            "o-interruptions-per-day",
            Values::F32,
            "Interruptions per day seen lately in its pool of capacity",
        )
        .row("interruptions_per_day")
        .key("interruptions-per-day")
        .or("0.0")
        .reads(&[Read::value("interruptions_per_day")]),
        Column::new(
            "o-failures-1h",
            Values::U32,
            "Launches of this offering that failed for lack of capacity in the last hour",
        )
        .row("failures_1h")
        .key("failures-1h")
        .or("0")
        .reads(&[Read::value("failures_last_hour")]),
        Column::new(
            "o-reserved-left",
            Values::U32,
            "Nodes left in the reservation; 0 where there is none",
        )
        .row("reserved_left")
        .key("reserved-left")
        .or("0")
        .reads(&[Read::value("reserved_left")]),
        Column::new(
            "o-running",
            Values::U32,
            "Nodes of this offering that run already, planned ones excluded",
        )
        .row("running")
        .key("running")
        .or("0")
        .reads(&[Read::value("running")]),
    ],
    ext: "o_ext",
    signals: &[],
    row: Some(Row {
        name: "OfferingRow",
        doc: "One offering, as it enters the catalogue.",
        derives: "",
        besides: &[],
    }),
    view: Some(View {
        name: "Offering",
        read: "self.tables.catalog.$[self.row]",
        texts: "self.tables.texts",
    }),
    shuffled: true,
    in_suites: true,
};

const POOL: List = List {
    of: "pool",
    columns: &[
        Column::new("name", Values::Symbol, "Name of the NodePool").reads(&[Read::value("name")]),
        Column::new(
            "weight",
            Values::U32,
            "Weight of the NodePool, 0 to 100: higher is tried first, by the host, whatever the prices",
        )
        .or("0")
        .reads(&[Read::value("weight")]),
        Column::new("nodes", Values::U32, "Nodes the pool has")
            .or("0")
            .reads(&[Read::value("nodes")]),
        Column::new("cost", Values::F64, "Cost of those nodes, dollars per hour at list price")
            .or("0.0")
            .reads(&[Read::value("cost")]),
        Column::new("cand-ends", Values::Ends("candidate"), "End of each pool's part of `cand`"),
    ],
    ext: "p_ext",
    signals: &[],
    row: Some(Row {
        name: "PoolRow",
        doc: "One pool, as it enters a question.",
        derives: "PartialEq",
        besides: &[],
    }),
    view: Some(View {
        name: "Pool",
        read: "self.pools.$[self.row]",
        texts: "self.tables.texts",
    }),
    shuffled: true,
    in_suites: true,
};

const CANDIDATE: List = List {
    of: "candidate",
    columns: &[Column::new(
        "cand",
        Values::U32,
        "Offering rows that the pools may buy",
    )],
    ext: "cand_ext",
    signals: &[],
    row: None,
    view: None,
    shuffled: true,
    in_suites: false,
};

const CLAIM: List = List {
    of: "claim",
    columns: &[
        Column::new("pool", Values::Symbol, "Name of its NodePool").reads(&[Read::value("pool")]),
        Column::new(
            "cpu-milli",
            Values::U32,
            "Requested processor time, milli-CPU",
        )
        .or("1_000")
        .reads(&[Read::value("cpu_milli")]),
        Column::new("mem-mib", Values::U32, "Requested memory, MiB, rounded up")
            .or("1_024")
            .reads(&[Read::value("memory_mib")]),
        Column::new("pods", Values::U32, "Pods")
            .or("1")
            .reads(&[Read::value("pods")]),
        Column::new("gpus", Values::U32, "Accelerators")
            .or("0")
            .reads(&[Read::value("gpus")]),
        Column::new(
            "cand-ends",
            Values::Ends("holder"),
            "End of each claim's part of `cand`",
        ),
    ],
    ext: "ext",
    signals: &[],
    row: Some(Row {
        name: "ClaimRow",
        doc: "One planned claim, as it enters a question. Requests are the claim's totals, daemons included.",
        derives: "PartialEq, Eq",
        besides: &[],
    }),
    view: Some(View {
        name: "Claim",
        read: "self.claims.$[self.row]",
        texts: "self.tables.texts",
    }),
    shuffled: true,
    in_suites: true,
};

const HOLDER: List = List {
    of: "holder",
    columns: &[Column::new(
        "cand",
        Values::U32,
        "Offering rows that can hold the claims",
    )],
    ext: "",
    signals: &[],
    row: None,
    view: None,
    shuffled: true,
    in_suites: false,
};
