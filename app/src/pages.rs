//! The pages: each takes a plain model and makes HTML of it. A handler fills the model.

pub mod document;
