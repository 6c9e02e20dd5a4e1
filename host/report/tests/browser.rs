//! The page in a real browser: it draws, and the browser has nothing to complain about.
//!
//! Where no Chromium is installed the tests are skipped; everything else about a page is tested without one.

use std::path::Path;
use std::process::{Command, Output};

use plimsoll_oracles::skip::not_run;
use tempfile::TempDir;

use crate::cards;

const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];

/// A browser without a window; none where none is installed.
fn browser(test: &str) -> Option<&'static str> {
    let runs = |name: &&str| Command::new(name).arg("--version").output().is_ok();
    let found = BROWSERS.into_iter().find(runs);
    if found.is_none() {
        not_run(test, "no Chromium is installed");
    }
    found
}

/// Opens a page, with its own folder for the browser's files.
fn open(browser: &str, folder: &Path, page: &str, arguments: &[&str]) -> Output {
    let file = folder.join("page.html");
    std::fs::write(&file, page).expect("the folder is ours");
    Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--enable-logging=stderr",
            "--v=0",
        ])
        .arg(format!(
            "--user-data-dir={}",
            folder.join("profile").display()
        ))
        .args(arguments)
        .arg(format!("file://{}", file.display()))
        .output()
        .expect("it ran a moment ago")
}

/// Messages on the page's console.
fn complaints(output: &Output) -> Vec<String> {
    let log = String::from_utf8_lossy(&output.stderr);
    let lines = log.lines().filter(|line| line.contains("CONSOLE"));
    lines.map(str::to_owned).collect()
}

/// The browser, a folder for its files, and the page; nothing where there is no browser.
fn prepared(test: &str) -> Option<(&'static str, TempDir, String)> {
    let browser = browser(test)?;
    let folder = tempfile::tempdir().expect("a folder");
    Some((browser, folder, plimsoll_report::html(&cards::report())))
}

#[test]
fn a_browser_draws_every_chart_and_complains_of_nothing() {
    let Some((browser, folder, page)) =
        prepared("a_browser_draws_every_chart_and_complains_of_nothing")
    else {
        return;
    };
    let picture = folder.path().join("page.png");
    let shot = format!("--screenshot={}", picture.display());
    let arguments = ["--dump-dom", "--window-size=1200,2400", shot.as_str()];
    let output = open(browser, folder.path(), &page, &arguments);
    assert_eq!(complaints(&output), [""; 0]);

    let document = String::from_utf8(output.stdout).unwrap();
    let charts: Vec<&str> = document.split("<svg class=\"chart\"").skip(1).collect();
    assert_eq!(
        charts.len(),
        7,
        "cost, nodes of three, waiting, cpu and memory"
    );
    for chart in charts {
        let chart = chart.split("</svg>").next().unwrap();
        let shapes = chart.matches("<polyline class=\"line ").count()
            + chart.matches("<polygon class=\"area-").count();
        assert!(shapes >= 3, "{shapes} shapes in {chart}");
        assert!(chart.matches("<text ").count() >= 6, "{chart}");
    }
}

#[test]
fn a_page_takes_its_picture_in_light_and_in_dark() {
    let Some((browser, folder, page)) = prepared("a_page_takes_its_picture_in_light_and_in_dark")
    else {
        return;
    };
    let picture = |scheme: u8| {
        let file = folder.path().join("page.png");
        let shot = format!("--screenshot={}", file.display());
        let scheme = format!("--blink-settings=preferredColorScheme={scheme}");
        let arguments = ["--window-size=1200,2400", shot.as_str(), scheme.as_str()];
        open(browser, folder.path(), &page, &arguments);
        std::fs::read(file).unwrap()
    };
    let (dark, light) = (picture(0), picture(1));
    assert_ne!(dark, light);
    // An empty page of this size packs into a few thousand bytes.
    assert!(dark.len().min(light.len()) > 50_000);
}

#[test]
fn a_complaint_would_be_heard() {
    let Some((browser, folder, page)) = prepared("a_complaint_would_be_heard") else {
        return;
    };
    let page = page.replace("<main>", "<main><img src=\"file:///nowhere.png\">");
    let output = open(browser, folder.path(), &page, &["--dump-dom"]);
    assert_eq!(complaints(&output).len(), 1);
}
