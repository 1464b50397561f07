//! Answers: text and JSON of what a question found, within a budget.

pub(super) mod budget;
pub(super) mod render;
pub(super) mod reply;
