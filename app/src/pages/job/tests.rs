mod bounds;
mod cases;
mod claims;
mod fixture;
mod recorded;
