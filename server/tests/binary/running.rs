//! A running `redrive`, and requests to it.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// The program serving one database on a free loopback port; ends with the value.
pub struct Running {
    child: Child,
    address: String,
}

/// What it answered.
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The body.
    pub body: String,
}

impl Running {
    /// Starts it, and waits until it says where it is.
    pub fn start(database: &str) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_redrive"))
            .args(["serve", "--bind", "127.0.0.1:0", "--operator", "ada"])
            .args(["--database", database])
            .env("RUST_LOG", "error")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let address = line
            .split("http://")
            .nth(1)
            .and_then(|rest| rest.split('/').next())
            .unwrap_or_else(|| panic!("it says where it is: {line:?}"))
            .to_owned();
        Self { child, address }
    }

    /// Where it is.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// A page.
    pub async fn get(&self, path: &str) -> Answer {
        let head = format!("GET {path} HTTP/1.1\r\nAccept: text/html\r\n");
        request(&self.address, &head, "").await.unwrap()
    }

    /// Ends it as `kill -9` does: it has no time for anything.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Its resident memory in bytes.
    pub fn resident(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.unwrap().trim().trim_end_matches(" kB");
        1024 * kib.parse::<u64>().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Both fail where it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends a form, as a program would.
///
/// # Errors
/// Where the program went away before it had answered.
pub async fn post(address: &str, path: &str, form: &str) -> std::io::Result<Answer> {
    let head = format!(
        "POST {path} HTTP/1.1\r\nAccept: application/json\r\nContent-Length: {}\r\n\
         Content-Type: application/x-www-form-urlencoded\r\n",
        form.len()
    );
    request(address, &head, form).await
}

async fn request(address: &str, head: &str, body: &str) -> std::io::Result<Answer> {
    let mut connection = TcpStream::connect(address).await?;
    let text = format!("{head}Host: {address}\r\nConnection: close\r\n\r\n{body}");
    connection.write_all(text.as_bytes()).await?;
    let mut bytes = Vec::new();
    connection.read_to_end(&mut bytes).await?;
    let cut = || std::io::Error::from(std::io::ErrorKind::UnexpectedEof);
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
    let (head, body) = bytes.split_at(end.ok_or_else(cut)? + 4);
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let body = if head.contains("transfer-encoding: chunked") {
        joined(body).ok_or_else(cut)?
    } else {
        body.to_vec()
    };
    Ok(Answer {
        status: head[9..12].parse().unwrap(),
        body: String::from_utf8(body).unwrap(),
    })
}

/// The chunks of a body; `None` where the last one is missing.
fn joined(mut chunks: &[u8]) -> Option<Vec<u8>> {
    let mut whole = Vec::new();
    loop {
        let line = chunks.windows(2).position(|two| two == b"\r\n")?;
        let size = usize::from_str_radix(std::str::from_utf8(&chunks[..line]).ok()?, 16).ok()?;
        chunks = &chunks[line + 2..];
        if size == 0 {
            return Some(whole);
        }
        whole.extend_from_slice(chunks.get(..size)?);
        chunks = chunks.get(size + 2..)?;
    }
}
