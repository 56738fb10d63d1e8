//! The program itself, started as an operator would, on scratch databases of both kinds.

#[cfg(test)]
mod collecting;
#[cfg(test)]
mod killed;
#[cfg(test)]
mod running;
#[cfg(test)]
mod scratch;
#[cfg(test)]
mod traces;
