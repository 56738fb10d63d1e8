//! The store on `SQLite`, in the layout of `Hangfire.Storage.SQLite`.
