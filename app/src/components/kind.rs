//! Names of job types as pages show them: short, and safe to look at.

use super::text::{short_type, shown};
use crate::model::insights::JobKind;

/// The last part of a type's name, and of those that it is made of: `Indexer<Book>`.
pub fn type_name(name: &str) -> String {
    let mut short = String::with_capacity(name.len());
    let mut part = String::new();
    for c in name.chars() {
        if "<>,".contains(c) {
            short.push_str(short_type(&part));
            short.push(c);
            part.clear();
        } else {
            part.push(c);
        }
    }
    short.push_str(short_type(&part));
    shown(&short).into_owned()
}

/// `InvoiceEmailJob.SendAsync`, short and safe to look at.
pub fn kind_name(kind: &JobKind) -> String {
    let job_type = type_name(&kind.job_type);
    match kind.method.as_str() {
        "" if job_type.is_empty() => "no type stored".to_owned(),
        "" => job_type,
        method => format!("{job_type}.{}", shown(method)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_shortened_with_those_that_they_are_made_of() {
        assert_eq!(type_name("Bookstore.Jobs.ImportJob"), "ImportJob");
        assert_eq!(
            type_name("Bookstore.Jobs.Indexer<Bookstore.Book>"),
            "Indexer<Book>"
        );
        assert_eq!(type_name("A.Map<B.Key, C.List<D.E>>"), "Map<Key,List<E>>");
        assert_eq!(type_name(""), "");
    }
}
