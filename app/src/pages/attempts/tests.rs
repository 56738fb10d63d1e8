mod cases;
mod fixture;
mod page;
