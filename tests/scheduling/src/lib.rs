//! What the scheduler must do, as tests: one file per area, each test named after a fact.
