//! One connection, and how statements are sent over it.

use futures::future::BoxFuture;
use futures::stream::BoxStream;
use sqlx::error::BoxDynError;
use sqlx::postgres::{
    PgArguments, PgConnection, PgQueryResult, PgRow, PgStatement, PgTypeInfo, Postgres,
};
use sqlx::{Connection as _, Either, Error, Execute, Executor, Row as _, SqlStr};
use tokio::time::Instant;

type Boxed<'e, T> = BoxFuture<'e, Result<T, Error>>;
type Rows<'e> = BoxStream<'e, Result<Either<PgQueryResult, PgRow>, Error>>;

/// A message that begins a transaction: its statements, and the question which backend this is.
macro_rules! begin {
    ($($statement:literal),+ $(,)?) => {
        concat!($($statement, "; ",)+ "SELECT pg_backend_pid()")
    };
}
pub(super) use begin;

/// A connection. It sends all its statements named, so that they are parsed and planned once, or
/// all of them unnamed; the driver would use a name it knows even where it is told not to.
#[derive(Debug)]
pub struct Conn {
    raw: PgConnection,
    /// Whether statements are named.
    pub named: bool,
    /// The server's process that holds our names, once it is known.
    backend: Option<i32>,
    /// When it was opened.
    pub opened: Instant,
    /// When it was last used.
    pub used: Instant,
}

impl Conn {
    pub(super) fn new(raw: PgConnection, named: bool) -> Self {
        let now = Instant::now();
        Self {
            raw,
            named,
            backend: None,
            opened: now,
            used: now,
        }
    }

    /// Begins a transaction with a message made by [`begin!`]; whether the server's process is the
    /// one that it was. Behind a pooling proxy it may be another, where a name of ours is unknown
    /// or, worse, means somebody else's statement.
    pub(super) async fn begin(&mut self, message: &'static str) -> Result<bool, Error> {
        let row = sqlx::raw_sql(message).fetch_one(&mut self.raw).await?;
        let backend: i32 = row.try_get(0)?;
        Ok(*self.backend.get_or_insert(backend) == backend)
    }

    /// Ends the transaction by a statement without parameters.
    pub(super) async fn end(&mut self, statement: &'static str) -> Result<(), Error> {
        sqlx::raw_sql(statement)
            .execute(&mut self.raw)
            .await
            .map(drop)
    }

    /// Takes leave of the server. A connection that is broken is closed all the same.
    pub(super) async fn close(self) {
        drop(self.raw.close().await);
    }
}

/// A statement that is sent as its connection sends them.
struct Sent<E> {
    statement: E,
    named: bool,
}

impl<'q, E: Execute<'q, Postgres>> Execute<'q, Postgres> for Sent<E> {
    fn sql(self) -> SqlStr {
        self.statement.sql()
    }

    fn statement(&self) -> Option<&PgStatement> {
        self.statement.statement()
    }

    fn take_arguments(&mut self) -> Result<Option<PgArguments>, BoxDynError> {
        self.statement.take_arguments()
    }

    fn persistent(&self) -> bool {
        self.named
    }
}

impl<'c> Executor<'c> for &'c mut Conn {
    type Database = Postgres;

    fn fetch_many<'e, 'q: 'e, E>(self, statement: E) -> Rows<'e>
    where
        'c: 'e,
        E: 'q + Execute<'q, Postgres>,
    {
        let named = self.named;
        self.raw.fetch_many(Sent { statement, named })
    }

    fn fetch_optional<'e, 'q: 'e, E>(self, statement: E) -> Boxed<'e, Option<PgRow>>
    where
        'c: 'e,
        E: 'q + Execute<'q, Postgres>,
    {
        let named = self.named;
        self.raw.fetch_optional(Sent { statement, named })
    }

    fn prepare_with<'e>(self, sql: SqlStr, parameters: &'e [PgTypeInfo]) -> Boxed<'e, PgStatement>
    where
        'c: 'e,
    {
        self.raw.prepare_with(sql, parameters)
    }
}
