//! What commands say on standard output.

use std::io::{self, ErrorKind, Write};

/// Prints a text as it is. A reader that has seen enough (`| head`) is no error.
///
/// # Errors
/// Where it cannot be written for another reason: a full disk, for example.
pub fn say(text: &str) -> io::Result<()> {
    say_to(&mut io::stdout().lock(), text)
}

fn say_to(out: &mut impl Write, text: &str) -> io::Result<()> {
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fails(ErrorKind);

    impl Write for Fails {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_reader_that_has_seen_enough_is_no_error() {
        assert!(say_to(&mut Fails(ErrorKind::BrokenPipe), "x").is_ok());
        assert!(say_to(&mut Fails(ErrorKind::StorageFull), "x").is_err());
        let mut out = Vec::new();
        say_to(&mut out, "x\n").unwrap();
        assert_eq!(out, b"x\n");
    }
}
