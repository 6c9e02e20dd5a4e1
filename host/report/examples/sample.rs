//! Writes a page from made-up score cards: `cargo run -p plimsoll-report --example sample -- page.html [contestants]`.

#[path = "../tests/cards/mod.rs"]
mod cards;

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().unwrap_or_else(|| "report.html".to_owned());
    let most = arguments.next().and_then(|count| count.parse().ok());
    let mut report = cards::report();
    report.contestants.truncate(most.unwrap_or(usize::MAX));
    std::fs::write(path, plimsoll_report::html(&report))
}
