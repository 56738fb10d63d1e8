//! The binary that `cargo bench` built, on a free loopback port; and the median.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The median in milliseconds.
pub fn median(mut spans: Vec<Duration>) -> f64 {
    spans.sort();
    spans[spans.len() / 2].as_secs_f64() * 1000.0
}

/// A running program, and a connection to it.
pub struct Server {
    child: Child,
    connection: TcpStream,
    address: String,
    /// From its start to its first answer.
    pub started_in: Duration,
}

impl Server {
    /// Starts one with these arguments beside its address, and asks for a first page.
    pub fn start(arguments: &[&str], page: &str) -> Self {
        let began = Instant::now();
        let mut child = Command::new(env!("CARGO_BIN_EXE_redrive"))
            .args(["serve", "--bind", "127.0.0.1:0"])
            .args(arguments)
            .env("RUST_LOG", "error")
            .stdout(Stdio::piped())
            .spawn()
            .expect("redrive");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("its output");
        BufReader::new(stdout)
            .read_line(&mut line)
            .expect("its first line");
        let address = line
            .split("http://")
            .nth(1)
            .and_then(|rest| rest.split('/').next())
            .expect("its address")
            .to_owned();
        let connection = TcpStream::connect(&address).expect("a connection");
        connection.set_nodelay(true).expect("no delay");
        let mut server = Self {
            child,
            connection,
            address,
            started_in: Duration::ZERO,
        };
        server.get(page, "");
        server.started_in = began.elapsed();
        server
    }

    /// Bytes of the body over the wire, and the body.
    pub fn get(&mut self, path: &str, coding: &str) -> (usize, String) {
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {}\r\nAccept-Encoding: {coding}\r\n\r\n",
            self.address
        );
        self.connection.write_all(request.as_bytes()).expect("sent");
        let mut reader = BufReader::new(&self.connection);
        let (mut length, mut chunked, mut status) = (0, false, String::new());
        reader.read_line(&mut status).expect("a status");
        assert!(status.contains(" 200 "), "{path}: {status}");
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).expect("a header");
            let line = line.trim().to_ascii_lowercase();
            if let Some(value) = line.strip_prefix("content-length: ") {
                length = value.parse().expect("a length");
            }
            chunked |= line == "transfer-encoding: chunked";
            if line.is_empty() {
                break;
            }
        }
        let mut body = Vec::new();
        if chunked {
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).expect("a chunk");
                let size = usize::from_str_radix(line.trim(), 16).expect("its size");
                let mut chunk = vec![0; size + 2];
                reader.read_exact(&mut chunk).expect("its bytes");
                if size == 0 {
                    break;
                }
                body.extend_from_slice(&chunk[..size]);
            }
        } else {
            body.resize(length, 0);
            reader.read_exact(&mut body).expect("the body");
        }
        (body.len(), String::from_utf8_lossy(&body).into_owned())
    }

    /// Memory in use.
    pub fn resident_mib(&self) -> f64 {
        let path = format!("/proc/{}/statm", self.child.id());
        let pages: f64 = std::fs::read_to_string(path)
            .ok()
            .and_then(|text| text.split(' ').nth(1)?.parse().ok())
            .unwrap_or_default();
        pages * 4096.0 / 1_048_576.0
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
