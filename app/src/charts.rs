//! Charts: drawn on the server as SVG. What is drawn where is pure and apart from the view.

pub mod ages;
pub mod lifeline;
