//! Differences between runs: hours of nodes and their cost by type and capacity type, the largest difference in cost first.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use maud::{Markup, html};
use plimsoll_model::catalogue::CapacityType;

use crate::Contestant;
use crate::figures::{NOTHING, dollars, dollars_more, hours, hours_more};

/// Rows shown; the rest is one row.
const MOST_ROWS: usize = 16;

/// Thousandths of an hour and nano-dollars.
#[derive(Clone, Copy, Default)]
struct Bought {
    thousandths: i64,
    cost: i64,
}

impl Bought {
    fn add(&mut self, thousandths: i64, cost: i64) {
        self.thousandths = self.thousandths.saturating_add(thousandths);
        self.cost = self.cost.saturating_add(cost);
    }
}

/// A name, and what each contestant bought of it.
struct Row {
    name: String,
    terms: &'static str,
    bought: Vec<Bought>,
}

impl Row {
    /// Most nano-dollars between a contestant and the first; of one alone, what it paid.
    fn weight(&self) -> i128 {
        let costs = || self.bought.iter().map(|bought| i128::from(bought.cost));
        let first = costs().next().unwrap_or_default();
        let apart = costs().skip(1).map(|cost| (cost - first).abs());
        apart.max().unwrap_or(first)
    }
}

/// The table; nothing when no node was bought.
pub(crate) fn table(contestants: &[Contestant]) -> Markup {
    let mut rows = rows(contestants);
    let total = sum("all", &rows, contestants.len());
    // One row more takes no more room than a row that speaks of it.
    let shown = if rows.len() == MOST_ROWS + 1 {
        rows.len()
    } else {
        MOST_ROWS
    };
    let rest = rows.split_off(rows.len().min(shown));
    let others = sum(&format!("{} others", rest.len()), &rest, contestants.len());
    html! {
        @if rows.is_empty() {
            p { "No node was launched." }
        } @else {
            div.wide {
                table.differences.many[contestants.len() > 3] {
                    thead { tr {
                        th scope="col" { "instance type" }
                        th scope="col" { "capacity type" }
                        @for (place, contestant) in contestants.iter().enumerate() {
                            th scope="col" { (contestant.name) }
                            @if place > 0 { th.more { "difference" } }
                        }
                    } }
                    tbody {
                        @for row in &rows { (line(row)) }
                        @if !rest.is_empty() { (line(&others)) }
                    }
                    tfoot { (line(&total)) }
                }
            }
        }
    }
}

fn line(row: &Row) -> Markup {
    let first = row.bought.first().copied().unwrap_or_default();
    html! {
        tr {
            th scope="row" { (row.name) }
            td.terms { (row.terms) }
            @for (place, bought) in row.bought.iter().enumerate() {
                td {
                    @if bought.thousandths == 0 && bought.cost == 0 {
                        (NOTHING)
                    } @else {
                        (hours(bought.thousandths))
                        div.cost { (dollars(bought.cost)) }
                    }
                }
                @if place > 0 {
                    td.more {
                        (hours_more(first.thousandths, bought.thousandths).unwrap_or_default())
                        div { (dollars_more(first.cost, bought.cost).unwrap_or_default()) }
                    }
                }
            }
        }
    }
}

fn rows(contestants: &[Contestant]) -> Vec<Row> {
    let mut table: BTreeMap<(&str, CapacityType), Vec<Bought>> = BTreeMap::new();
    for (place, contestant) in contestants.iter().enumerate() {
        for line in &contestant.card.node_hours {
            let key = (line.instance_type.as_str(), line.capacity_type);
            let bought = table.entry(key);
            let bought = bought.or_insert_with(|| vec![Bought::default(); contestants.len()]);
            bought[place].add(line.thousandths, line.cost);
        }
    }
    let rows = table.into_iter().map(|((name, terms), bought)| Row {
        name: name.to_owned(),
        terms: terms.as_str(),
        bought,
    });
    let mut rows: Vec<Row> = rows.collect();
    rows.sort_by_key(|row| Reverse(row.weight()));
    rows
}

fn sum(name: &str, rows: &[Row], contestants: usize) -> Row {
    let mut bought = vec![Bought::default(); contestants];
    for row in rows {
        for (sum, more) in bought.iter_mut().zip(&row.bought) {
            sum.add(more.thousandths, more.cost);
        }
    }
    Row {
        name: name.to_owned(),
        terms: "",
        bought,
    }
}
