//! Connecting: what a database URL may say, and what of it may be shown.

use std::str::FromStr;

use app::ports::error::StoreError;
use sqlx::ConnectOptions as _;
use sqlx::postgres::PgConnectOptions;

use super::pool::Pool;
use crate::store::read_times::ReadTimes;

/// The parameters of a URL that the driver knows. It would log the values of others, and a
/// misspelt password is still a password.
const KNOWN: [&str; 18] = [
    "sslmode",
    "ssl-mode",
    "sslrootcert",
    "ssl-root-cert",
    "ssl-ca",
    "sslcert",
    "ssl-cert",
    "sslkey",
    "ssl-key",
    "statement-cache-capacity",
    "host",
    "hostaddr",
    "port",
    "dbname",
    "user",
    "password",
    "application_name",
    "options",
];

/// Reads a URL; parameters that the driver does not know are left out.
fn options(url: &str) -> Option<PgConnectOptions> {
    let (base, query) = url.split_once('?').unwrap_or((url, ""));
    let known: Vec<&str> = query
        .split('&')
        .filter(|pair| {
            let key = pair.split('=').next().unwrap_or_default();
            KNOWN.contains(&key) || key.starts_with("options[")
        })
        .collect();
    PgConnectOptions::from_str(&format!("{base}?{}", known.join("&"))).ok()
}

/// A pool that connects when first asked, so that a database that is away at the start is an
/// error on a page and not the end of the process. Its reads are counted in `times`.
///
/// # Errors
/// [`StoreError::Unreadable`] where the URL is not one of `PostgreSQL`. The message never holds
/// the password.
pub fn pool(url: &str, times: ReadTimes) -> Result<Pool, StoreError> {
    let options = options(url)
        .ok_or_else(|| {
            StoreError::Unreadable(
                "the database URL cannot be read: it should look like \
                 postgres://user:password@host:5432/database"
                    .to_owned(),
            )
        })?
        .application_name("redrive")
        // PgBouncer refuses a connection that asks for a setting it does not know.
        .extra_float_digits(None)
        .disable_statement_logging();
    // As with the driver: no cache, no names.
    let named = !url.contains("statement-cache-capacity=0");
    Ok(Pool::new(options, named, times))
}

/// A database URL as it may be shown and logged: user, host, port and database, never the
/// password or a parameter.
pub fn display(url: &str) -> String {
    options(url).map_or_else(
        || "a database".to_owned(),
        |options| display_options(&options),
    )
}

/// Host and port, or the socket's path.
pub(super) fn place(options: &PgConnectOptions) -> String {
    match options.get_socket() {
        Some(socket) => socket.display().to_string(),
        None => format!("{}:{}", options.get_host(), options.get_port()),
    }
}

/// The same of options that were read before.
pub(super) fn display_options(options: &PgConnectOptions) -> String {
    let place = place(options);
    let user = options.get_username();
    let database = options.get_database().unwrap_or(user);
    format!("postgres://{user}@{place}/{database}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_never_shown() {
        for (url, shown) in [
            (
                "postgres://ada:s3cret@db.example:5432/shop",
                "postgres://ada@db.example:5432/shop",
            ),
            (
                "postgres://ada:s3cret%40@db.example/shop?sslmode=require",
                "postgres://ada@db.example:5432/shop",
            ),
            (
                "postgres:///shop?host=db.example&port=6432&user=ada%40corp&password=s3cret",
                "postgres://ada@corp@db.example:6432/shop",
            ),
            (
                "postgres://ada@db.example:5432/shop?Password=s3cret&options[x]=s3cret",
                "postgres://ada@db.example:5432/shop",
            ),
            ("Host=db;Password=s3cret", "a database"),
        ] {
            assert_eq!(display(url), shown);
        }
    }

    #[tokio::test]
    async fn a_url_that_cannot_be_read_is_refused_without_showing_it() {
        for url in ["postgres://ada:s3cret@db:no-port/shop", "s3cret"] {
            let Err(error) = pool(url, ReadTimes::default()) else {
                panic!("must be refused: {url}");
            };
            assert!(!error.to_string().contains("s3cret"), "{error}");
        }
    }
}
