//! A `PgBouncer` in transaction mode before a test's database.

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use sqlx::ConnectOptions as _;
use sqlx::postgres::PgConnectOptions;
use tempfile::TempDir;

use super::postgres::TestDatabase;
use crate::clock::SystemClock;
use crate::store::postgres::PostgresStore;

/// A running `PgBouncer`; stopped when dropped.
pub struct PgBouncer {
    child: Child,
    url: String,
    _folder: TempDir,
}

impl PgBouncer {
    /// Two backends that take turns, and no memory for prepared statements: `None`, said loudly,
    /// where the program is not installed.
    pub fn before(database: &TestDatabase) -> Option<Self> {
        let Some(program) = program() else {
            assert!(
                std::env::var_os("CI").is_none(),
                "pgbouncer is not installed: tests behind a pooling proxy cannot run"
            );
            eprintln!("SKIPPED: pgbouncer is not installed, nothing was tested here");
            return None;
        };
        let target: PgConnectOptions = database.url.parse().unwrap();
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let folder = TempDir::new().unwrap();
        let users = folder.path().join("users.txt");
        let user = target.get_username();
        std::fs::write(&users, format!("\"{user}\" \"\"\n")).unwrap();
        let settings = folder.path().join("pgbouncer.ini");
        std::fs::write(
            &settings,
            format!(
                "[databases]\n* = host={} port={}\n[pgbouncer]\nlisten_addr = 127.0.0.1\n\
                 listen_port = {port}\nunix_socket_dir =\nauth_type = trust\nauth_file = {}\n\
                 pool_mode = transaction\ndefault_pool_size = 2\nserver_round_robin = 1\n{}",
                target.get_host(),
                target.get_port(),
                users.display(),
                forgetful(&program),
            ),
        )
        .unwrap();
        let mut command = Command::new(&program);
        if is_root() {
            // It refuses to run as root.
            open(folder.path(), 0o755);
            open(&users, 0o644);
            open(&settings, 0o644);
            command.args(["-u", "nobody"]);
        }
        let mut child = command
            .arg(&settings)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let said = BufReader::new(child.stderr.take().unwrap());
        let mut lines = said.lines().map(Result::unwrap);
        let mut heard = Vec::new();
        loop {
            let Some(line) = lines.next() else {
                panic!("pgbouncer did not start: {heard:#?}");
            };
            let is_up = line.contains("process up");
            heard.push(line);
            if is_up {
                break;
            }
        }
        // What it says later must not fill the pipe.
        std::thread::spawn(move || lines.for_each(drop));
        let url = target.host("127.0.0.1").port(port).to_url_lossy();
        Some(Self {
            child,
            url: url.to_string(),
            _folder: folder,
        })
    }

    /// A store that reaches the database through it.
    pub fn store(&self) -> PostgresStore {
        PostgresStore::connect(&self.url, "hangfire", Arc::new(SystemClock)).unwrap()
    }
}

impl Drop for PgBouncer {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn program() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .chain(["/usr/sbin".into()])
        .map(|folder| folder.join("pgbouncer"))
        .find(|file| file.is_file())
}

/// From 1.21 on it can follow prepared statements; older ones do not know the setting.
fn forgetful(program: &PathBuf) -> &'static str {
    let output = Command::new(program).arg("--version").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut numbers = text
        .split_whitespace()
        .find(|word| word.starts_with(|first: char| first.is_ascii_digit()))
        .unwrap()
        .split('.')
        .map(|number| number.parse::<u32>().unwrap());
    if (numbers.next(), numbers.next()) >= (Some(1), Some(21)) {
        "max_prepared_statements = 0\n"
    } else {
        ""
    }
}

#[cfg(unix)]
fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata("/proc/self").is_ok_and(|me| me.uid() == 0)
}

#[cfg(unix)]
fn open(path: &std::path::Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}
