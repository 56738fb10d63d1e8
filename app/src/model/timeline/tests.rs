mod article;
mod cases;
mod fixtures;
mod properties;
mod rules;
mod transitions;
