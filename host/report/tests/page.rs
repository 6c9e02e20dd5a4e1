//! A page says what happened, loads nothing, and takes nothing of a report for markup.

use plimsoll_base::ids::TypeName;
use plimsoll_base::time::{Span, Timestamp};
use plimsoll_base::units::PricePerHour;
use plimsoll_model::DisruptionReason;
use plimsoll_model::catalogue::CapacityType;
use plimsoll_model::command::{CommandId, Settled, WATCHED};
use plimsoll_report::{Contestant, Report, html};
use plimsoll_sim::{
    BusySpan, Fidelity, Inflated, NodeHours, RequestsAndUse, ScoreCard, Unplaced, UsageCard,
    Waiting,
};

use crate::cards;

const DOLLAR: i64 = 1_000_000_000;

/// Text that a reader sees, with plain spaces and one between any two pieces.
fn text(page: &str) -> String {
    let (_, body) = page.split_once("<body>").expect("a page has a body");
    let mut text = String::new();
    let mut inside_tag = false;
    for letter in body.chars() {
        match letter {
            '<' => inside_tag = true,
            '>' => {
                inside_tag = false;
                text.push(' ');
            }
            '\u{202f}' => text.push(' '),
            letter if !inside_tag => text.push(letter),
            _ => {}
        }
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The rows of all tables, as a reader sees them.
fn rows(page: &str) -> Vec<String> {
    let rows = page.split("<tr").skip(1);
    rows.map(|row| {
        let row = row.split("</tr>").next().unwrap_or_default();
        text(&format!("<body><tr{row}"))
    })
    .collect()
}

fn two() -> Report {
    let reference = ScoreCard {
        lasted: Span::from_secs(3600),
        cost: 4_812 * DOLLAR + DOLLAR / 5,
        bound: Some(4_774 * DOLLAR),
        nodes_mean: 41_300,
        nodes_max: 97,
        waiting: Waiting {
            p50: Span::from_secs(38),
            p99: Span::from_secs(71),
            ..Waiting::default()
        },
        evictions: 212,
        launches: 1207,
        launch_failures: 3,
        pending_pods: Fidelity {
            bound: 1000,
            as_planned: 900,
            sooner: 87,
        },
        cpu_used: 812,
        ..ScoreCard::default()
    };
    let other = ScoreCard {
        cost: 4_391 * DOLLAR + 3 * DOLLAR / 4,
        nodes_mean: 43_000,
        nodes_max: 99,
        waiting: Waiting {
            p50: Span::from_secs(38),
            p99: Span::from_secs(74),
            ..Waiting::default()
        },
        evictions: 209,
        interruptions: 5,
        launch_failures: 0,
        ..reference.clone()
    };
    Report {
        title: "Two".to_owned(),
        contestants: vec![
            Contestant {
                name: "list-price".to_owned(),
                card: reference,
            },
            Contestant {
                name: "paid-first".to_owned(),
                card: other,
            },
        ],
        ..Report::default()
    }
}

/// Some row ends so.
#[track_caller]
fn check_row(rows: &[String], end: &str) {
    let found = rows.iter().any(|row| row.ends_with(end));
    assert!(found, "{end}\nis not among\n{}", rows.join("\n"));
}

#[test]
fn use_stands_beside_requests_where_a_card_tells_of_it() {
    let mut report = two();
    assert!(!text(&html(&report)).contains("Requested against used Over"));
    assert!(!html(&report).contains("<h2>Requested against used"));
    report.contestants[0].card.usage = Some(UsageCard {
        hours: RequestsAndUse {
            cpu_requested: 14_000,
            cpu_used: 1400,
            memory_requested: 2048,
            memory_used: 1024,
        },
        inflated: vec![Inflated {
            workload: "shop/web".to_owned(),
            of_pod: RequestsAndUse {
                cpu_requested: 3500,
                cpu_used: 350,
                memory_requested: 512 << 20,
                memory_used: 256 << 20,
            },
        }],
        busy: vec![BusySpan {
            from: Timestamp::from_millis(600_000),
            to: Timestamp::from_millis(1_500_000),
            nodes: 2,
        }],
        busy_count: 1,
        busy_for: Span::from_secs(900),
    });
    let page = html(&report);
    let rows = rows(&page);
    for expected in [
        "cpu, core hours 14.0 1.4 10.0 %",
        "memory, GiB hours 2 1 50.0 %",
        "shop/web 3,500 m 350 m 512 MiB 256 MiB",
        "15 min 10 min 25 min 2",
    ] {
        assert!(
            rows.iter().any(|row| row == expected),
            "{expected}: {rows:#?}"
        );
    }
    let text = text(&page);
    assert!(text.contains("VerticalPodAutoscaler (VPA)"), "{text}");
    assert!(text.contains("busy nodes, none pending: above 80 % of cpu"));
}

fn bought(name: &str, thousandths: i64, dollars: i64) -> NodeHours {
    NodeHours {
        instance_type: TypeName::from(name),
        capacity_type: CapacityType::Spot,
        thousandths,
        cost: dollars * DOLLAR,
    }
}

#[test]
fn figures_stand_beside_those_of_the_reference() {
    let rows = rows(&html(&two()));
    for expected in [
        "cost $ 4,812.20 $ 4,391.75 −8.7 %",
        "cost / LP bound 1.008 × 0.920 ×",
        "nodes, mean / max 41.3 / 97 43.0 / 99 +4.1 %",
        "pending, p50 / p99 38 s / 1 min 11 s 38 s / 1 min 14 s p99 +3 s",
        "evictions 212 209 −3",
        "interruptions 0 5 +5",
        "launches 1,207, 3 failed 1,207",
        "cpu requested 81.2 % 81.2 %",
        "plan fidelity, pending pods 98.7 %, 8.7 % sooner 98.7 %, 8.7 % sooner",
        "unschedulable pods 0 0",
    ] {
        check_row(&rows, expected);
    }
}

fn moved(predicted: i64, realised: i64, gone: u32) -> Settled {
    let at = |seconds: i64| Timestamp::from_millis(seconds * 1000);
    Settled {
        id: CommandId::of(&[], at(predicted)),
        reason: DisruptionReason::Underutilized,
        pools: ["general".into()].into(),
        begun: at(7200),
        ended: at(7320),
        nodes: 3,
        gone: (0..gone).map(|node| format!("n{node}").into()).collect(),
        replacements: 1,
        came: vec!["general-1".into()],
        bought_since: Vec::new(),
        predicted: PricePerHour::from_nanos(predicted * DOLLAR),
        realised: PricePerHour::from_nanos(realised * DOLLAR),
        watched: WATCHED,
    }
}

#[test]
fn moves_are_listed_with_what_they_saved_the_greatest_first() {
    let mut report = two();
    assert!(!text(&html(&report)).contains("Consolidations"));
    report.contestants[0].card.ledger = vec![moved(1, 1, 3), moved(4, -2, 0)];
    let page = html(&report);
    let rows = rows(&page);
    let row = |expected: &str| rows.iter().position(|row| row.ends_with(expected));
    let (first, second) = (
        row("2 h 2 min 0 of 3 1 $ 4.00 −$ 2.00"),
        row("2 h 2 min 3 1 $ 1.00 $ 1.00"),
    );
    assert!(first.is_some() && first < second, "{}", rows.join("\n"));
    assert!(
        row("all 3 2 $ 5.00 −$ 1.00").is_some(),
        "{}",
        rows.join("\n")
    );
    assert!(row("saved per hour, predicted $ 5.00 $ 0.00 −$ 5.00").is_some());
}

#[test]
fn the_cheapest_is_named_with_what_it_saves() {
    let page = text(&html(&two()));
    assert!(page.contains("paid-first costs $ 4,391.75, 8.7 % less than list-price."));
    let mut turned = two();
    turned.contestants.reverse();
    let page = text(&html(&turned));
    assert!(
        page.contains(
            "paid-first costs least: $ 4,391.75; list-price, the next, costs 9.6 % more."
        )
    );
}

#[test]
fn a_cheap_run_that_left_pods_behind_is_not_praised() {
    let mut report = two();
    report.contestants[1].card.unplaced_count = 40;
    let page = text(&html(&report));
    assert!(page.contains("list-price leaves the fewest pods unschedulable: $ 4,812.20; paid-first, the next, costs 8.7 % less."));
    assert!(page.contains(
        "The numbers of unschedulable pods differ, so costs are not for the same work: list-price 0, paid-first 40."
    ));
    assert!(page.contains("40 more are counted and not listed."));
}

#[test]
fn a_run_in_which_policies_failed_is_not_praised_and_has_no_difference_in_cost() {
    let mut report = two();
    report.contestants[1].card.cost = 0;
    report.contestants[1].card.faults = 12;
    let (reference, failed) = (&report.contestants[0].name, &report.contestants[1].name);
    let page = html(&report);
    let text = text(&page);
    assert!(
        text.contains(&format!("{reference} costs least: $ 4,812.20.")),
        "{text}"
    );
    assert!(text.contains(&format!("faults: {failed} 12.")), "{text}");
    check_row(&rows(&page), "cost $ 4,812.20 $ 0.00");
    report.contestants[0].card.faults = 1;
    let text = self::text(&html(&report));
    assert!(text.contains("Policies failed in every run"), "{text}");
}

#[test]
fn what_nobody_computed_is_not_shown_as_a_number() {
    let mut report = two();
    report.contestants[1].card.bound = None;
    report.contestants[1].card.pending_pods = Fidelity::default();
    let rows = rows(&html(&report));
    check_row(&rows, "cost / LP bound 1.008 × –");
    check_row(&rows, "plan fidelity, pending pods 98.7 %, 8.7 % sooner –");
}

#[test]
fn types_stand_by_how_far_their_cost_is_apart() {
    let mut report = two();
    report.contestants[0].card.node_hours = vec![
        bought("same.large", 90_000, 90),
        bought("left.large", 2_000, 3),
    ];
    report.contestants[1].card.node_hours = vec![
        bought("same.large", 90_000, 90),
        bought("come.large", 12_500, 10),
    ];
    let rows = rows(&html(&report));
    let types: Vec<_> = rows.iter().filter(|row| row.contains(".large")).collect();
    assert_eq!(types.len(), 3);
    assert!(types[0].ends_with("come.large spot – 12.5 h $ 10.00 +12.5 h +$ 10.00"));
    assert!(types[1].ends_with("left.large spot 2.0 h $ 3.00 – −2.0 h −$ 3.00"));
    assert!(types[2].ends_with("same.large spot 90.0 h $ 90.00 90.0 h $ 90.00"));
    check_row(&rows, "all 92.0 h $ 93.00 102.5 h $ 100.00 +10.5 h +$ 7.00");
}

#[test]
fn pods_without_a_node_are_gathered_by_reason() {
    let mut report = two();
    let card = &mut report.contestants[0].card;
    card.unplaced = (0..9)
        .map(|at| Unplaced {
            pod: format!("shop/web-{at}"),
            reason: if at == 4 {
                "too large"
            } else {
                "limit reached"
            }
            .to_owned(),
        })
        .collect();
    card.unplaced_count = 9;
    let rows = rows(&html(&report));
    check_row(
        &rows,
        "8 limit reached shop/web-0, shop/web-1, shop/web-2, shop/web-3, shop/web-5, shop/web-6 and 2 more",
    );
    check_row(&rows, "1 too large shop/web-4");
}

#[test]
fn text_from_outside_stays_text() {
    let attack = "</style><script>alert('x')</script>\"><img src=x>&amp;";
    let mut report = two();
    report.title = attack.to_owned();
    report.subtitle = vec![attack.to_owned()];
    report.notes = vec![attack.to_owned()];
    report.contestants[0].name = attack.to_owned();
    let card = &mut report.contestants[0].card;
    card.node_hours = vec![bought(attack, 1, 1)];
    card.series
        .means
        .nodes
        .insert(TypeName::from(attack), vec![1000, 2000]);
    card.unplaced_count = 1;
    card.unplaced = vec![Unplaced {
        pod: attack.to_owned(),
        reason: attack.to_owned(),
    }];
    let page = html(&report);
    assert!(!page.contains("<script") && !page.contains("<img"));
    assert!(page.matches("&lt;script&gt;").count() >= 8, "{page}");
    assert!(page.contains("&amp;amp;"));
}

#[test]
fn equal_reports_give_equal_bytes() {
    assert_eq!(html(&cards::report()), html(&cards::report()));
}

#[test]
fn a_page_loads_nothing() {
    let page = html(&cards::report());
    for loading in [
        "http:", "https:", "//", "src=", "href=", "@import", "<script", "<link",
    ] {
        assert!(!page.contains(loading), "{loading}");
    }
    let addresses = page.matches("url(").count();
    assert_eq!(addresses, page.matches("url(#").count());
}

#[test]
fn many_contestants_stay_small() {
    let mut report = cards::report();
    report.contestants.extend(cards::report().contestants);
    let page = html(&report);
    assert!(page.len() < 500_000, "{} bytes", page.len());
}

#[test]
fn every_contestant_has_its_line_and_no_drawing_keeps_a_fixed_colour() {
    let page = html(&cards::report());
    for class in [
        "line line-0",
        "line line-1",
        "line line-2",
        "bound",
        "area-0",
        "area-7",
    ] {
        assert!(
            page.contains(&format!("class=\"{class}\" points=")),
            "{class}"
        );
    }
    let body = page.split_once("<body>").unwrap().1;
    assert!(!body.contains("=\"#") && !body.contains("points=\"\""));
}

#[test]
fn one_alone_has_nothing_to_differ_from() {
    let mut report = two();
    report.contestants.truncate(1);
    let page = html(&report);
    assert!(text(&page).contains("list-price costs $ 4,812.20 over 1 h."));
    assert!(!page.contains("<small>") && !page.contains("by difference in cost"));
}

#[test]
fn nobody_and_nothing_make_a_page_too() {
    assert!(text(&html(&Report::default())).contains("Nothing ran."));
    let empty = Report {
        contestants: vec![Contestant::default(); 10],
        ..Report::default()
    };
    assert!(text(&html(&empty)).contains("No node was launched."));
}

#[test]
fn absurd_numbers_are_drawn_too() {
    let mut report = cards::report();
    let card = &mut report.contestants[0].card;
    card.cost = i64::MIN;
    card.lasted = Span::from_millis(i64::MAX);
    card.series.start = Timestamp::from_millis(i64::MIN);
    card.series.width = Span::from_millis(i64::MAX);
    card.series.means.cost = vec![i64::MAX, i64::MIN, i64::MAX];
    card.series.means.cpu_used = vec![5000; 3];
    card.series
        .means
        .nodes
        .insert(TypeName::from("x"), vec![i64::MAX; 3]);
    card.waiting.hundredths = vec![Span::ZERO, Span::from_millis(i64::MAX)];
    let page = html(&report);
    assert!(!page.contains("NaN") && !page.contains("inf"));
}

#[test]
fn a_picture_stands_alone_with_a_line_for_each_contestant_and_the_bound() {
    let mut report = cards::report();
    report.contestants[0].name = "<b>&".to_owned();
    let picture = plimsoll_report::picture(&report);
    assert!(picture.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox="));
    assert!(picture.contains("&lt;b&gt;&amp;") && !picture.contains("<b>"));
    for class in ["line line-0", "line line-1", "line line-2", "bound"] {
        let drawn = format!("class=\"{class}\"");
        assert_eq!(
            picture.matches(&drawn).count(),
            2,
            "{class}: legend and chart"
        );
    }
    assert!(!picture.contains("href") && !picture.contains("<script"));
    assert_eq!(picture, plimsoll_report::picture(&report));
}

/// A name that does not fit beside the others goes to a further line.
#[test]
fn a_legend_of_long_names_stays_within_the_picture() {
    let mut report = two();
    let first = report.contestants[0].clone();
    let named = |at: usize| Contestant {
        name: format!("spot-diversified, lost_hours=0.{at} + gentle + maintenance-window"),
        ..first.clone()
    };
    report.contestants = (0..6).map(named).collect();
    let picture = plimsoll_report::picture(&report);
    let number = |text: &str, key: &str| {
        let value = text.split_once(key).expect("it has a place").1;
        let value = value.split('"').next().expect("a number");
        value.parse::<usize>().expect("a number")
    };
    let legend = picture.split("<text ").skip(2).take(6);
    let mut lines = Vec::new();
    for entry in legend {
        let name = entry.split(['>', '<']).nth(1).expect("a name");
        let right = number(entry, "x=\"") + 10 * name.chars().count();
        assert!(right < 2000, "{name} ends at {right}");
        lines.push(number(entry, "y=\""));
    }
    assert!(lines.is_sorted(), "{lines:?}");
    lines.dedup();
    assert_eq!(lines.len(), 6, "each name fills a line: {lines:?}");
    let chart = picture.split("<svg ").nth(2).expect("the chart");
    assert!(number(chart, "y=\"") > lines[5], "the chart is below");
}
