//! Reading a script: words to steps, with the line and the word that could not be understood.

use plimsoll_base::resources::ResourceName;
use plimsoll_base::time::Span;
use plimsoll_model::catalogue::CapacityType;
use plimsoll_model::{BudgetNodes, DisruptionLimit};
use thiserror::Error;

/// A script that could not be understood.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: `{text}`: expected {expected}")]
pub struct ScriptError {
    /// The line, from 1.
    pub line: usize,
    /// The line's text.
    pub text: String,
    /// The words that would have been understood.
    pub expected: &'static str,
}

/// A scenario.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// In one line.
    pub title: String,
    /// The world at the start.
    pub given: Vec<Given>,
    /// Steps, in order.
    pub steps: Vec<Step>,
    /// Bounds that hold throughout.
    pub never: Vec<(u64, Quantity)>,
}

/// Something about the world at the start.
#[derive(Clone, Debug, PartialEq)]
pub enum Given {
    /// An instance type: name, milli-cores, mebibytes, dollars per hour, zones, terms.
    Type(String, i64, i64, f64, Vec<String>, Vec<CapacityType>),
    /// A reservation: id, instances left in it, of which type and in which zone.
    Reservation(String, u32, String, String),
    /// A pool, and its quiet time; never when `None`.
    Pool(String, Option<Span>),
    /// A static pool, and how many nodes it keeps.
    StaticPool(String, u32),
    /// A deployment: name, replicas, milli-cores, mebibytes.
    Deployment(String, u32, i64, i64),
    /// A deployment whose replicas follow its load: name, load per replica, fewest, most.
    Follows(String, u64, u32, u32),
    /// A disruption budget for the pods of a deployment.
    DisruptionBudget(String, DisruptionLimit),
    /// A budget of every pool: nodes, and from which schedule on for how long; always when `None`.
    Budget(BudgetNodes, Option<(String, Span)>),
    /// Every instance takes this long to boot.
    Boot(Span),
    /// Nothing keeps replicas or markets apart: the cheapest packing alone decides.
    GuardsOff,
}

/// One step.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Time passes until so long after the start.
    At(Span),
    /// A deployment gets another number of replicas.
    Scale(String, u32),
    /// A disruption budget appears or changes.
    DisruptionBudget(String, DisruptionLimit),
    /// A static pool keeps another number of nodes.
    Keep(String, u32),
    /// A pool has at most so many nodes from now on.
    LimitNodes(String, u32),
    /// A pool's template gets another label.
    Relabel(String, String, String),
    /// A deployment's load in all.
    Load(String, u64),
    /// The cloud has so many more of a type on these terms; `None` for any number.
    Stock(String, CapacityType, Option<u32>),
    /// The cloud takes back the node that joined first of those there are.
    Interrupt,
    /// The engine crashes and another takes over.
    Crash,
    /// Something becomes true within a time.
    Within(Condition, Span),
    /// Something is true and stays so for a time.
    For(Condition, Span),
}

/// A number of something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// How many.
    pub count: u64,
    /// Of what.
    pub of: Quantity,
}

/// A quantity that conditions count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Nodes.
    Nodes,
    /// Nodes of a type.
    NodesOf(String),
    /// Nodes out of reservations.
    ReservedNodes,
    /// NodeClaims.
    Claims,
    /// Instances that are paid for.
    Instances,
    /// Instances bought so far.
    Launches,
    /// Launches that the cloud has refused so far.
    Refusals,
    /// Pods bound to a node.
    Running,
    /// Pods without a node.
    Waiting,
    /// Evictions so far.
    Evictions,
    /// Decisions asked for so far.
    Decisions,
}

/// Reads a script.
pub fn read(text: &str) -> Result<Script, ScriptError> {
    let mut script = Script::default();
    for (at, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or("").trim();
        if line.is_empty() {
            continue;
        }
        read_line(line, &mut script).map_err(|expected| ScriptError {
            line: at + 1,
            text: line.to_owned(),
            expected,
        })?;
    }
    Ok(script)
}

fn read_line(line: &str, script: &mut Script) -> Result<(), &'static str> {
    if let Some(title) = line.strip_prefix("title:") {
        title.trim().clone_into(&mut script.title);
        return Ok(());
    }
    let line = line.replace(',', " ");
    let words: Vec<&str> = line.split_whitespace().collect();
    match words.as_slice() {
        ["given" | "and", rest @ ..] => script.given.push(given(rest)?),
        ["at", time, rest @ ..] => {
            script.steps.push(Step::At(span(time)?));
            if !rest.is_empty() {
                script.steps.push(step(rest)?);
            }
        }
        ["expect", rest @ ..] => script.steps.push(expectation(rest)?),
        ["never", "more", "than", count, rest @ ..] => {
            script.never.push((number(count)?, quantity(rest)?));
        }
        _ => return Err("title:, given, and, at, expect or never"),
    }
    Ok(())
}

fn given(words: &[&str]) -> Result<Given, &'static str> {
    match words {
        [
            "type",
            name,
            cpu,
            "cpu",
            memory,
            "GiB",
            price,
            "in",
            rest @ ..,
        ] => {
            let price = price.trim_start_matches('$');
            let price = price.parse().map_err(|_| "a price such as $0.10")?;
            let (terms, zones): (Vec<&str>, Vec<&str>) = rest
                .iter()
                .partition(|word| CapacityType::parse(word).is_some());
            let mut terms: Vec<CapacityType> =
                terms.into_iter().filter_map(CapacityType::parse).collect();
            if terms.is_empty() {
                terms.push(CapacityType::OnDemand);
            }
            let zones = zones.into_iter().map(str::to_owned).collect();
            let cpu = whole(cpu)? * 1000;
            Ok(Given::Type(
                (*name).to_owned(),
                cpu,
                whole(memory)? * 1024,
                price,
                zones,
                terms,
            ))
        }
        ["reservation", id, "of", left, name, "in", zone] => {
            let text = |word: &&str| (*word).to_owned();
            Ok(Given::Reservation(
                text(id),
                count(left)?,
                text(name),
                text(zone),
            ))
        }
        ["pool", name, "keeps", replicas, "nodes"] => {
            Ok(Given::StaticPool((*name).to_owned(), count(replicas)?))
        }
        ["pool", name, "consolidate", "never"] => Ok(Given::Pool((*name).to_owned(), None)),
        ["pool", name, "consolidate", "after", quiet] => {
            Ok(Given::Pool((*name).to_owned(), Some(span(quiet)?)))
        }
        ["deployment", name, replicas, "replicas", "of", cpu, memory] => {
            let amount = |name: &ResourceName, text: &str| {
                name.parse_amount(text)
                    .map_err(|_| "a quantity such as 500m or 512Mi")
            };
            let replicas = count(replicas)?;
            let cpu = amount(&ResourceName::Cpu, cpu)?;
            let memory = amount(&ResourceName::Memory, memory)? >> 20;
            Ok(Given::Deployment((*name).to_owned(), replicas, cpu, memory))
        }
        [name, "follows", "load", target, "each", least, "to", most] => Ok(Given::Follows(
            (*name).to_owned(),
            number(target)?,
            count(least)?,
            count(most)?,
        )),
        ["pdb", name, limit @ ..] => Ok(Given::DisruptionBudget(
            (*name).to_owned(),
            disruption_limit(limit)?,
        )),
        ["budget", nodes, "nodes"] => Ok(Given::Budget(budget_nodes(nodes)?, None)),
        [
            "budget",
            nodes,
            "nodes",
            "from",
            schedule @ ..,
            "for",
            length,
        ] => Ok(Given::Budget(
            budget_nodes(nodes)?,
            Some((schedule.join(" "), span(length)?)),
        )),
        ["boot", time] => Ok(Given::Boot(span(time)?)),
        ["guards", "off"] => Ok(Given::GuardsOff),
        _ => Err(
            "type, reservation, pool, deployment, a rule of load, pdb, budget, boot, or guards off",
        ),
    }
}

fn step(words: &[&str]) -> Result<Step, &'static str> {
    match words {
        ["scale", name, "to", replicas] => Ok(Step::Scale((*name).to_owned(), count(replicas)?)),
        ["stock", "of", name, terms, left] => {
            let terms = CapacityType::parse(terms).ok_or("on-demand or spot")?;
            let left = match *left {
                "none" => Some(0),
                "any" => None,
                left => Some(count(left)?),
            };
            Ok(Step::Stock((*name).to_owned(), terms, left))
        }
        ["interrupt", "the", "oldest", "node"] => Ok(Step::Interrupt),
        ["load", name, load] => Ok(Step::Load((*name).to_owned(), number(load)?)),
        ["pdb", name, limit @ ..] => Ok(Step::DisruptionBudget(
            (*name).to_owned(),
            disruption_limit(limit)?,
        )),
        ["pool", name, "gets", "label", key, value] => Ok(Step::Relabel(
            (*name).to_owned(),
            (*key).to_owned(),
            (*value).to_owned(),
        )),
        ["pool", name, "keeps", replicas, "nodes"] => {
            Ok(Step::Keep((*name).to_owned(), count(replicas)?))
        }
        ["pool", name, "has", "at", "most", most, "nodes"] => {
            Ok(Step::LimitNodes((*name).to_owned(), count(most)?))
        }
        ["crash"] => Ok(Step::Crash),
        _ => Err(
            "scale, load, stock, pdb, a pool's label, number or limit, interrupt the oldest node, or crash",
        ),
    }
}

fn disruption_limit(words: &[&str]) -> Result<DisruptionLimit, &'static str> {
    let (percent, text) = match words {
        [_, _, text] => (text.ends_with('%'), text.trim_end_matches('%')),
        _ => (false, ""),
    };
    match words {
        ["max", "unavailable", _] if percent => {
            Ok(DisruptionLimit::MaxUnavailablePercent(count(text)?))
        }
        ["max", "unavailable", _] => Ok(DisruptionLimit::MaxUnavailable(count(text)?)),
        ["min", "available", _] if percent => {
            Ok(DisruptionLimit::MinAvailablePercent(count(text)?))
        }
        ["min", "available", _] => Ok(DisruptionLimit::MinAvailable(count(text)?)),
        _ => Err("max unavailable or min available, and a number or a share"),
    }
}

fn budget_nodes(text: &str) -> Result<BudgetNodes, &'static str> {
    match text.strip_suffix('%') {
        Some(percent) => Ok(BudgetNodes::Percent(count(percent)?)),
        None => Ok(BudgetNodes::Count(count(text)?)),
    }
}

fn expectation(words: &[&str]) -> Result<Step, &'static str> {
    const FORM: &str = "a number, what of, and `within` or `for` a time";
    let [count, of @ .., how, time] = words else {
        return Err(FORM);
    };
    let condition = Condition {
        count: number(count)?,
        of: quantity(of)?,
    };
    match *how {
        "within" => Ok(Step::Within(condition, span(time)?)),
        "for" => Ok(Step::For(condition, span(time)?)),
        _ => Err(FORM),
    }
}

fn quantity(words: &[&str]) -> Result<Quantity, &'static str> {
    Ok(match words {
        ["nodes"] => Quantity::Nodes,
        ["nodes", "of", name] => Quantity::NodesOf((*name).to_owned()),
        ["reserved", "nodes"] => Quantity::ReservedNodes,
        ["claims"] => Quantity::Claims,
        ["instances"] => Quantity::Instances,
        ["launches"] => Quantity::Launches,
        ["refusals"] => Quantity::Refusals,
        ["pods", "running"] => Quantity::Running,
        ["pods", "waiting"] => Quantity::Waiting,
        ["evictions"] => Quantity::Evictions,
        ["decisions"] => Quantity::Decisions,
        _ => {
            return Err(
                "nodes, reserved nodes, claims, instances, launches, refusals, pods running or waiting, evictions, decisions",
            );
        }
    })
}

fn number(text: &str) -> Result<u64, &'static str> {
    text.parse().map_err(|_| "a number")
}

fn count(text: &str) -> Result<u32, &'static str> {
    text.parse().map_err(|_| "a number")
}

fn whole(text: &str) -> Result<i64, &'static str> {
    text.parse().map_err(|_| "a whole number")
}

/// `500ms`, `30s`, `5m`, `2h`, or several joined, as `1m30s`.
fn span(text: &str) -> Result<Span, &'static str> {
    const FORM: &str = "a time such as 500ms, 30s, 5m or 1m30s";
    let mut millis = 0_i64;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let amount: i64 = rest[..digits].parse().map_err(|_| FORM)?;
        rest = &rest[digits..];
        let (unit, length) = [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000)]
            .into_iter()
            .find(|(unit, _)| rest.starts_with(unit))
            .ok_or(FORM)?;
        millis += amount * length;
        rest = &rest[unit.len()..];
    }
    Ok(Span::from_millis(millis))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_makes_no_sense_is_named() {
        let error = read("title: x\nat 5m dance").map(|_| ()).unwrap_err();
        assert_eq!(error.line, 2);
        assert!(error.to_string().contains("at 5m dance"), "{error}");
    }

    #[test]
    fn times_may_be_joined() {
        assert_eq!(span("1m30s"), Ok(Span::from_secs(90)));
        assert_eq!(span("500ms"), Ok(Span::from_millis(500)));
        assert!(span("5 parsecs").is_err());
    }

    #[test]
    fn an_expectation_needs_a_number_a_thing_and_a_time() {
        let words = ["2", "pods", "waiting", "within", "5s"];
        let condition = Condition {
            count: 2,
            of: Quantity::Waiting,
        };
        assert_eq!(
            expectation(&words),
            Ok(Step::Within(condition, Span::from_secs(5)))
        );
        assert!(expectation(&["2", "within", "5s"]).is_err());
    }
}
