//! A script's table: figures of both, bars, and differences with their explanations.

use std::fmt::Write as _;

use super::compare::{Difference, differences};
use super::explained::Explanation;
use super::load;
use super::observed::{Figures, Observed};
use super::script::Script;

/// Seconds from pods to the first call of CreateFleet, in the middle of all scripts, that ours has to stay below.
const SOON: f64 = 1.5;
/// Most values of a difference that are printed.
const MOST_VALUES: usize = 6;

/// A script's outcome.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    /// Differences that nothing explains.
    pub unexplained: Vec<Difference>,
    /// Places in the table of the explanations that were needed.
    pub needed: Vec<usize>,
    /// Differences that are explained.
    pub explained: usize,
    /// Bars that were missed, in words.
    pub missed: Vec<String>,
}

/// Holds two runs of a script side by side.
pub fn verdict(
    script: &str,
    (theirs, ours): (&Observed, &Observed),
    explanations: &[Explanation],
) -> Verdict {
    let mut verdict = Verdict {
        missed: missed(&theirs.figures, &ours.figures),
        ..Verdict::default()
    };
    for difference in differences(&theirs.rows, &ours.rows) {
        let covers = |own: &Explanation| own.covers(script, &difference);
        match explanations.iter().position(covers) {
            Some(at) => {
                verdict.explained += 1;
                verdict.needed.push(at);
            }
            None => verdict.unexplained.push(difference),
        }
    }
    verdict
}

fn missed(theirs: &Figures, ours: &Figures) -> Vec<String> {
    let mut missed = Vec::new();
    if ours.doubles > 0 {
        missed.push("instances that no claim named".to_owned());
    }
    if ours.price > theirs.price + 1e-9 {
        missed.push("a higher price than Karpenter's".to_owned());
    }
    match (&theirs.load, &ours.load) {
        (Some(theirs), Some(ours)) => missed.extend(load::missed(theirs, ours)),
        // A thousand nodes are more than one call can ask for.
        _ if ours.calls != ours.attempts => {
            missed.push("more calls of CreateFleet than one for each request and try".to_owned());
        }
        _ => {}
    }
    missed
}

/// The table of a script.
pub fn report(script: &Script, (theirs, ours): (&Figures, &Figures), verdict: &Verdict) -> String {
    let mut out = format!("\n{}, {}\n", script.name, script.title);
    let mut line = |what: &str, theirs: String, ours: String| {
        let _ = writeln!(out, "{what:<44}{theirs:>12}{ours:>12}");
    };
    line("", "karpenter".to_owned(), "plimsoll".to_owned());
    let count = |what, pick: fn(&Figures) -> usize| (what, pick);
    for (what, pick) in [
        count("instances launched", |own| own.launched),
        count("doubles", |own| own.doubles),
        count("calls of CreateFleet", |own| own.calls),
        count("different requests", |own| own.requests),
        count("tries of them", |own| own.attempts),
    ] {
        line(what, pick(theirs).to_string(), pick(ours).to_string());
    }
    let price = |own: &Figures| format!("{:.4}", own.price);
    line("price, $/h", price(theirs), price(ours));
    let seconds = |own: &Figures| own.seconds.map_or("-".to_owned(), |it| format!("{it:.2}"));
    line("pods to CreateFleet, s", seconds(theirs), seconds(ours));
    let took = |own: &Figures| format!("{:.1}", own.took);
    line("pods to the end, s", took(theirs), took(ours));
    if let (Some(theirs), Some(ours)) = (&theirs.load, &ours.load) {
        for (what, theirs, ours) in load::lines(theirs, ours) {
            line(&what, theirs, ours);
        }
    }
    let (explained, rest) = (verdict.explained, verdict.unexplained.len());
    let _ = writeln!(out, "differences: {explained} explained, {rest} not");
    for difference in &verdict.unexplained {
        let (theirs, ours) = (values(&difference.theirs), values(&difference.ours));
        let _ = writeln!(
            out,
            "  {}\n    theirs: {theirs}\n    ours:   {ours}",
            difference.key
        );
    }
    for bar in &verdict.missed {
        let _ = writeln!(out, "MISSED: {bar}");
    }
    out
}

/// The last line about time: from the first pods of a script to its first call of CreateFleet, in the middle of all scripts.
pub fn summary(played: &[(Figures, Figures)]) -> String {
    let shown = |middle: Option<f64>| middle.map_or("-".to_owned(), |it| format!("{it:.2}"));
    let what = format!("pods to CreateFleet, s, p50 of {}", played.len());
    let theirs = shown(middle(played.iter().map(|own| &own.0)));
    let ours = shown(middle(played.iter().map(|own| &own.1)));
    format!("{what:<44}{theirs:>12}{ours:>12}\n")
}

/// The bar of a run of all scripts that was missed, in words.
pub fn missed_in_all(played: &[(Figures, Figures)]) -> Option<String> {
    let ours = middle(played.iter().map(|own| &own.1));
    if ours.is_some_and(|ours| ours < SOON) {
        return None;
    }
    let ours = ours.map_or("not known".to_owned(), |ours| format!("{ours:.3}"));
    Some(format!(
        "pods to CreateFleet, s, p50 is {ours}; expected less than {SOON}"
    ))
}

/// The time in the middle of those that are known, the earlier of two.
fn middle<'f>(played: impl Iterator<Item = &'f Figures>) -> Option<f64> {
    let mut all: Vec<f64> = played.filter_map(|own| own.seconds).collect();
    all.sort_by(f64::total_cmp);
    all.get(all.len().saturating_sub(1) / 2).copied()
}

fn values(all: &std::collections::BTreeSet<String>) -> String {
    let mut texts: Vec<&str> = all.iter().take(MOST_VALUES).map(String::as_str).collect();
    let more = format!("and {} more", all.len().saturating_sub(MOST_VALUES));
    if all.len() > MOST_VALUES {
        texts.push(&more);
    }
    if texts.is_empty() {
        "-".to_owned()
    } else {
        texts.join(" | ")
    }
}

#[cfg(test)]
mod tests {
    use super::super::explained::Explanation;
    use super::super::normal::Rows;
    use super::*;

    fn observed(value: &str, figures: Figures) -> Observed {
        let mut rows = Rows::default();
        rows.put("Node", "labels.a", value.to_owned());
        rows.put("Node", "labels.b", value.to_owned());
        Observed { rows, figures }
    }

    #[test]
    fn a_difference_needs_its_explanation_in_this_script() {
        let (theirs, ours) = (
            observed("1", Figures::default()),
            observed("2", Figures::default()),
        );
        let explain = |pattern: &str, script: &str| Explanation {
            pattern: pattern.to_owned(),
            scripts: vec![script.to_owned()],
        };
        let table = [explain("Node labels.b", "zone"), explain("*.a", "plain")];
        let told = verdict("plain", (&theirs, &ours), &table);
        assert_eq!((told.explained, &*told.needed), (1, &[1][..]));
        let keys: Vec<&str> = told
            .unexplained
            .iter()
            .map(|own| own.key.as_str())
            .collect();
        assert_eq!(keys, ["Node labels.b"]);
        assert_eq!(told.missed, [""; 0]);
    }

    #[test]
    fn the_middle_of_all_scripts_is_told_of_each_controller() {
        let figures = |seconds: Option<f64>| Figures {
            seconds,
            ..Figures::default()
        };
        let played = [(2.5, Some(1.5)), (1.0, None), (9.0, Some(0.5))];
        let played = played.map(|(theirs, ours)| (figures(Some(theirs)), figures(ours)));
        let line = summary(&played);
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(words[words.len() - 3..], ["3", "2.50", "0.50"]);
        assert!(summary(&[]).ends_with("-\n"));
    }

    #[test]
    fn a_run_of_all_scripts_fails_where_ours_is_late_in_the_middle() {
        let played = |seconds: &[f64]| -> Vec<(Figures, Figures)> {
            let figures = |seconds| Figures {
                seconds: Some(seconds),
                ..Figures::default()
            };
            let both = seconds.iter().map(|own| (figures(9.0), figures(*own)));
            both.collect()
        };
        assert_eq!(missed_in_all(&played(&[0.5, 1.499, 9.0])), None);
        let words = "pods to CreateFleet, s, p50 is 1.500; expected less than 1.5";
        let late = missed_in_all(&played(&[0.5, 1.5, 9.0]));
        assert_eq!(late.as_deref(), Some(words));
        assert!(missed_in_all(&[]).is_some(), "nothing was measured");
    }

    #[test]
    fn bars_are_ours_to_keep() {
        let good = Figures {
            calls: 2,
            attempts: 2,
            price: 1.0,
            ..Figures::default()
        };
        let bad = Figures {
            doubles: 1,
            calls: 3,
            price: 1.5,
            ..good.clone()
        };
        assert_eq!(missed(&bad, &good), [""; 0]);
        assert_eq!(missed(&good, &good), [""; 0]);
        assert_eq!(missed(&good, &bad).len(), 3);
        let large = |own: &Figures, running: f64| Figures {
            load: Some(load::Load {
                running,
                ..load::Load::default()
            }),
            ..own.clone()
        };
        let several = Figures { calls: 3, ..good };
        assert_eq!(missed(&large(&bad, 9.0), &large(&several, 9.0)), [""; 0]);
        assert_eq!(missed(&large(&bad, 8.0), &large(&several, 9.0)).len(), 1);
        assert_eq!(missed(&large(&several, 9.0), &large(&bad, 9.5)).len(), 3);
    }
}
