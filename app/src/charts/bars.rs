//! Counts over time as stacked bars, with a second row on its own scale where one is needed.

mod layout;
mod view;

pub use view::bars;

use super::svg::Lead;
use crate::model::state::Instant;

/// What is drawn.
#[derive(Debug, Clone)]
pub struct Bars<'a> {
    /// The parts of each bar, from the bottom up.
    pub parts: &'a [Part],
    /// The part that stands below on a scale of its own.
    pub below: Option<Part>,
    /// The bars in the order of time, 48 at most.
    pub bars: &'a [Bar],
    /// When the last bar ends.
    pub end: Instant,
    /// Every so many bars the time is written below.
    pub ticks: usize,
    /// Whether each bar carries its number.
    pub numbered: bool,
    /// What is drawn and what is found, for those who do not see it: `Retries due per five
    /// minutes. 58 of 213 …`.
    pub label: String,
    /// The head of the table's first column: `From`.
    pub step: &'static str,
}

/// A part of each bar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its colour, as a class.
    pub class: &'static str,
    /// What it is.
    pub words: &'static str,
}

/// One bar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bar {
    /// When it begins.
    pub from: Instant,
    /// The counts of its parts, and then the one below.
    pub counts: Vec<i64>,
    /// Where the jobs of all its parts are found, but for the one below, as far as a list can tell.
    pub whole: Option<Lead>,
    /// The same of each part, and then of the one below.
    pub leads: Vec<Option<Lead>>,
}
