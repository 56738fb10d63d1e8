//! Charts: drawn on the server as SVG. What is drawn where is pure and apart from the view.
//!
//! A chart is an image with a label that tells its finding. Where its parts lead to jobs, a second,
//! invisible drawing lies on it that only pointers find: the same links stand in the table beside
//! it for everybody.

pub mod ages;
pub mod bands;
pub mod bars;
pub mod distribution;
pub mod lifeline;
pub mod rate;
pub mod share;
pub mod spark;
pub mod svg;
