mod recorded;
mod runs;
