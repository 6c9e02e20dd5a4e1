//! Past moves outlive the process that made them: the next one will not take them back either.

use std::cell::RefCell;
use std::rc::Rc;

use plimsoll_base::time::Span;
use plimsoll_model::action::ConsiderRequest;
use plimsoll_model::snapshot::{PastMove, Snapshot};
use plimsoll_sim::{Considered, Planned, Planner, Run};

use super::world::{behaviour, recording};

/// Plans as the core does, and keeps the moves that it was told of last.
#[derive(Clone, Debug, Default)]
struct Told {
    moves: Rc<RefCell<Vec<PastMove>>>,
}

impl Planner for Told {
    fn plan(&mut self, snapshot: &Snapshot) -> Planned {
        plimsoll_schedule::plan(snapshot).into()
    }

    fn consider(&mut self, request: &ConsiderRequest) -> Considered {
        let moves = request.snapshot.activity.moves.clone();
        self.moves.replace(moves);
        plimsoll_disrupt::consider(&request.snapshot, &request.question).into()
    }
}

#[test]
fn the_next_process_remembers_the_moves_of_the_one_before() {
    let told = Told::default();
    let mut run = Run::new(recording(), behaviour(), told.clone());
    let start = run.now();
    run.run_until(start + Span::from_secs(38 * 60));
    // Moves that bought nothing cannot be taken back, so they need not be remembered.
    let mut before = told.moves.take();
    before.retain(|past| !past.to.is_empty());
    assert!(!before.is_empty(), "something was bought for a move");
    run.crash();
    run.run_until(start + Span::from_secs(41 * 60));
    assert_eq!(told.moves.take(), before);
}
