//! Score cards side by side, as one HTML file that opens without a network.
//!
//! [`html`] turns a [`Report`] into a page: a table of figures, charts, what differed in what was bought, and
//! unschedulable pods. Styles and drawings stand inside the page, there are no scripts, and a policy of the page's own
//! forbids the browser to load anything. Equal reports give equal bytes. Every text of a report is escaped; none of it
//! reaches a drawing.

mod chart;
mod course;
mod courses;
mod differences;
mod figures;
mod headline;
mod moves;
mod page;
mod picture;
mod unplaced;
mod usage;
mod verdict;
mod waterfall;

use plimsoll_sim::ScoreCard;

/// Title, contestants and notes of a page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Heading and title of the window.
    pub title: String,
    /// Facts to judge and to repeat the run by, a line each: the input and its digest, where prices are from, the seed.
    pub subtitle: Vec<String>,
    /// Who ran; the first is the one that the others are held against.
    pub contestants: Vec<Contestant>,
    /// Further notes for the reader, a paragraph each.
    pub notes: Vec<String>,
}

/// One run of a comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contestant {
    /// Name of the contestant, such as that of a policy.
    pub name: String,
    /// How it went.
    pub card: ScoreCard,
}

/// The styles of pages and pictures.
const STYLE: &str = include_str!("style.css");

/// The chart of costs as an SVG file, which opens without a network too.
pub fn picture(report: &Report) -> String {
    picture::picture(report).into_string()
}

/// The page.
pub fn html(report: &Report) -> String {
    page::page(report).into_string()
}
