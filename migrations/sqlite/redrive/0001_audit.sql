-- Redrive's own tables, beside Hangfire's in the same file, so that an action and its audit row
-- commit together. Times are integer microseconds since 1970, UTC. Not STRICT: SQLite libraries
-- before 3.37, as a job server may have, refuse a whole file that holds a strict table.

-- The Hangfire tables of this file, under a name that no configuration can change.
CREATE TABLE redrive_source (
  id TEXT NOT NULL PRIMARY KEY,
  hangfire_schema TEXT NOT NULL UNIQUE,
  registered_at INTEGER NOT NULL
);

-- What operators did, and what became of it.
CREATE TABLE redrive_audit (
  id TEXT NOT NULL PRIMARY KEY,
  source TEXT NOT NULL,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  authenticated INTEGER NOT NULL,
  action TEXT NOT NULL,
  job INTEGER NOT NULL,
  seen_state TEXT NOT NULL,
  seen_state_id INTEGER NOT NULL,
  before_state TEXT,
  before_state_id INTEGER,
  after_state TEXT,
  after_state_id INTEGER,
  reason TEXT,
  outcome TEXT NOT NULL,
  note TEXT NOT NULL
);
CREATE INDEX redrive_audit_source ON redrive_audit (source, id);
CREATE INDEX redrive_audit_job ON redrive_audit (source, job, id);
