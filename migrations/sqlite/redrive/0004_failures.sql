-- The collector's index of jobs that are failed, or wait for a retry, at this moment. Lists of such
-- jobs go by these tables, and are checked against the jobs themselves.

-- What such jobs have in common. The id is made of the other columns, so that rows can name their
-- group without a look-up.
CREATE TABLE redrive_failure_groups (
  source TEXT NOT NULL,
  id INTEGER NOT NULL,
  -- failed or retrying
  list TEXT NOT NULL,
  job_type TEXT NOT NULL,
  method TEXT,
  queue TEXT,
  exception TEXT,
  -- 100 stands for more, too.
  attempts INTEGER NOT NULL,
  PRIMARY KEY (source, id)
) WITHOUT ROWID;

CREATE TABLE redrive_failures (
  source TEXT NOT NULL,
  job INTEGER NOT NULL,
  list TEXT NOT NULL,
  -- When the job's current state began, and its row; 0 where there is none.
  changed_at INTEGER NOT NULL,
  state_id INTEGER NOT NULL,
  group_id INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  -- The server of the last attempt, as a hash of its id.
  server INTEGER,
  PRIMARY KEY (source, job)
) WITHOUT ROWID;
CREATE INDEX redrive_failures_changed ON redrive_failures (source, list, changed_at, job);
CREATE INDEX redrive_failures_group ON redrive_failures (source, group_id, changed_at, job);
CREATE INDEX redrive_failures_server ON redrive_failures (source, list, server, changed_at, job);
