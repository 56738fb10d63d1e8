mod bounds;
mod cases;
mod fixture;
mod recorded;
