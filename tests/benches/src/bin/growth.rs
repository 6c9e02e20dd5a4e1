//! Growth of planning time with the batch: Karpenter's benchmark mix at 10,000 to 100,000 pods, as a table and as a chart.
//!
//! The chart compares with n log n through the first point. Usage: `growth [FILE.svg] [PODS]...`.

#![expect(clippy::print_stdout, reason = "the table is what it is for")]

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use plimsoll_benches::timed;
use plimsoll_oracles::generate::benchmark_mix;
use plotters::prelude::*;

/// Runs per size; the least counts.
const RUNS: usize = 3;

/// Pods and seconds of processors.
type Point = (f64, f64);

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let file = PathBuf::from(arguments.next().unwrap_or_else(|| "growth.svg".to_owned()));
    let mut sizes = arguments
        .map(|text| {
            text.parse()
                .with_context(|| format!("{text:?} is no number of pods"))
        })
        .collect::<Result<Vec<usize>>>()?;
    if sizes.is_empty() {
        sizes = vec![10_000, 20_000, 50_000, 100_000];
    }
    println!(
        "{:>8}{:>8}{:>10}{:>12}{:>12}{:>10}",
        "pods", "nodes", "seconds", "processor s", "n log n s", "placed"
    );
    let mut points: Vec<Point> = Vec::new();
    for pods in sizes {
        let snapshot = benchmark_mix(pods, 400, 1);
        let mut runs: Vec<_> = (0..RUNS).map(|_| timed(&snapshot)).collect();
        runs.sort_by_key(|run| run.processor);
        let best = &runs[0];
        points.push((pods as f64, best.processor.as_secs_f64()));
        println!(
            "{pods:>8}{:>8}{:>10.3}{:>12.3}{:>12.3}{:>10}",
            best.plan.claims.len(),
            best.wall.as_secs_f64(),
            best.processor.as_secs_f64(),
            expected(points[0], pods as f64),
            best.plan.placements.len(),
        );
    }
    draw(&file, &points).with_context(|| file.display().to_string())?;
    println!("chart: {}", file.display());
    Ok(())
}

/// Seconds that n log n through a first point gives for so many pods.
fn expected(first: Point, pods: f64) -> f64 {
    first.1 * pods * pods.ln() / (first.0 * first.0.ln())
}

fn draw(file: &Path, points: &[Point]) -> Result<()> {
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        return Ok(());
    };
    let top = points
        .iter()
        .map(|point| point.1.max(expected(*first, point.0)));
    let top = top.fold(0.0, f64::max);
    let area = SVGBackend::new(file, (720, 440)).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .margin(16)
        .x_label_area_size(40)
        .y_label_area_size(56)
        .build_cartesian_2d(0.0..last.0 * 1.05, 0.0..top * 1.1)?;
    chart
        .configure_mesh()
        .x_desc("pods")
        .y_desc("seconds of processors")
        .draw()?;
    let curve = (1..=100).map(|at| last.0 * f64::from(at) / 100.0);
    let curve = curve.filter(|pods| *pods > 2.0);
    let curve: Vec<Point> = curve.map(|pods| (pods, expected(*first, pods))).collect();
    let dots = points
        .iter()
        .map(|point| Circle::new(*point, 4, BLUE.filled()));
    chart.draw_series([PathElement::new(curve, BLACK.mix(0.4))])?;
    chart.draw_series([PathElement::new(points.to_vec(), BLUE)])?;
    chart.draw_series(dots)?;
    area.present()
        .map_err(|error| anyhow!("not written: {error}"))
}
