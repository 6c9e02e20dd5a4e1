//! What is wrong with a suite is told with file, case, field, value and expectation.
use super::*;
