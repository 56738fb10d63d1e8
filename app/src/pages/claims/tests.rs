mod fixture;
mod messages;
mod page;
mod settle;
