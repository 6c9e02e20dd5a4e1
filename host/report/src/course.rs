//! The course of a run as points of a chart: seconds since the start, and averages of neighbours where there are too many.

use plimsoll_base::time::Span;

/// Seconds since the start, and a value.
pub(crate) type Point = (f64, f64);

/// At most `most` points from averages over buckets of one width, from the start to `until`.
///
/// A point stands in the middle of what it is the average of; the first and the last also reach the edges, so that areas
/// are closed. Values below nothing count as nothing.
pub(crate) fn points(values: &[i64], width: Span, until: Span, most: usize) -> Vec<Point> {
    let together = values.len().div_ceil(most.max(1)).max(1);
    let end = seconds(until);
    let step = seconds(width) * together as f64;
    let mut points = Vec::with_capacity(most + 2);
    for (place, neighbours) in values.chunks(together).enumerate() {
        let sum: i128 = neighbours.iter().map(|value| i128::from(*value)).sum();
        let mean = sum as f64 / neighbours.len() as f64;
        let from = step * place as f64;
        let to = from + seconds(width) * neighbours.len() as f64;
        let middle = f64::midpoint(from, to.min(end).max(from));
        points.push((middle.min(end), mean.max(0.0)));
    }
    if let (Some((_, first)), Some((_, last))) = (points.first().copied(), points.last().copied()) {
        points.insert(0, (0.0, first));
        points.push((end, last));
    }
    points
}

/// A span in seconds.
pub(crate) fn seconds(span: Span) -> f64 {
    span.millis() as f64 / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_averaged_when_there_are_too_many() {
        let (width, until) = (Span::from_secs(10), Span::from_secs(45));
        let drawn = points(&[2, 4, 6, 8, 9], width, until, 3);
        assert_eq!(
            drawn,
            [
                (0.0, 3.0),
                (10.0, 3.0),
                (30.0, 7.0),
                (42.5, 9.0),
                (45.0, 9.0)
            ]
        );
    }

    #[test]
    fn nothing_recorded_is_nothing_drawn() {
        assert_eq!(points(&[], Span::ZERO, Span::ZERO, 3), []);
    }
}
