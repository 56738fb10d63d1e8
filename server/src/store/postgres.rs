//! The store on `PostgreSQL`, in the layout of `Hangfire.PostgreSql`.
