//! Prometheus' own tool, where it is there: it reads the format and evaluates rules.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Runs it in a folder; `None`, said loudly, where it is not there.
fn promtool(arguments: &[&str], folder: Option<&Path>, input: &str) -> Option<Output> {
    let mut command = Command::new("promtool");
    if let Some(folder) = folder {
        command.current_dir(folder);
    }
    let running = command
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut running = match running {
        Ok(running) => running,
        Err(error) => {
            assert!(
                std::env::var_os("CI").is_none(),
                "promtool is not there: {error}"
            );
            eprintln!("SKIPPED: promtool is not there (Debian: prometheus): {error}");
            return None;
        }
    };
    let mut stdin = running.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).unwrap();
    drop(stdin);
    Some(running.wait_with_output().unwrap())
}

fn is_well(output: &Output) {
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{out}{err}");
}

/// The text is in the format, and its names are as they should be.
pub(super) fn check_metrics(text: &str) {
    if let Some(output) = promtool(&["check", "metrics"], None, text) {
        is_well(&output);
    }
}

/// What the file in the folder says of rules is so.
pub(super) fn test_rules(folder: &Path, file: &str) {
    if let Some(output) = promtool(&["test", "rules", file], Some(folder), "") {
        is_well(&output);
    }
}
