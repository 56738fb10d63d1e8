mod cases;
mod fixture;
mod recorded;
