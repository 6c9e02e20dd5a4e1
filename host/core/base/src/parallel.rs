//! Work on several processors: the same answers in the same order, however many there are.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Answers of `work` on each item, in the order of the items.
pub fn map<Item: Sync, Answer: Send>(
    items: &[Item],
    work: impl Fn(&Item) -> Answer + Sync,
) -> Vec<Answer> {
    if items.len() < 2 {
        return items.iter().map(work).collect();
    }
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    map_on(processors, items, work)
}

/// The same on so many processors at most.
fn map_on<Item: Sync, Answer: Send>(
    processors: usize,
    items: &[Item],
    work: impl Fn(&Item) -> Answer + Sync,
) -> Vec<Answer> {
    let next = AtomicUsize::new(0);
    let share = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else {
                return done;
            };
            done.push((at, work(item)));
        }
    };
    let mut done = thread::scope(|scope| {
        let others = (1..processors.min(items.len())).map(|_| scope.spawn(share));
        let others: Vec<_> = others.collect();
        let mut done = share();
        for other in others {
            match other.join() {
                Ok(more) => done.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done
    });
    done.sort_unstable_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, answer)| answer).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_in_the_order_of_the_items_on_any_number_of_processors() {
        let items: Vec<usize> = (0..100).collect();
        let squares: Vec<usize> = items.iter().map(|item| item * item).collect();
        for processors in 0..9 {
            let found = map_on(processors, &items, |item| {
                // Later items are done sooner.
                let turns = (100 - item) * 50;
                (0..turns).fold(0, |sum: usize, turn| std::hint::black_box(sum ^ turn));
                item * item
            });
            assert_eq!(found, squares);
        }
    }
}
