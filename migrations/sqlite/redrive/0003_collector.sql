-- What the collector keeps: how far it has read, what it must know of jobs that live, and the
-- numbers. Hours, days and slots of ten minutes are counted from 1970, UTC. Buckets of histograms
-- are a JSON array, counted by position; their bounds are the program's and never change.

CREATE TABLE redrive_collector (
  source TEXT NOT NULL PRIMARY KEY,
  holder TEXT,
  held_until INTEGER,
  position TEXT NOT NULL,
  updated_at INTEGER NOT NULL
);

CREATE TABLE redrive_collector_job (
  source TEXT NOT NULL,
  job INTEGER NOT NULL,
  undecided INTEGER NOT NULL,
  memory TEXT NOT NULL,
  PRIMARY KEY (source, job)
);
CREATE INDEX redrive_collector_job_undecided ON redrive_collector_job (source) WHERE undecided;

CREATE TABLE redrive_attempts (
  source TEXT NOT NULL,
  hour INTEGER NOT NULL,
  job_type TEXT NOT NULL,
  method TEXT NOT NULL,
  queue TEXT NOT NULL,
  later INTEGER NOT NULL,
  number INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  waited TEXT NOT NULL,
  waited_ms INTEGER NOT NULL,
  ran TEXT NOT NULL,
  ran_ms INTEGER NOT NULL,
  PRIMARY KEY (source, hour, job_type, method, queue, later, number, outcome)
) WITHOUT ROWID;

CREATE TABLE redrive_first_attempts (
  source TEXT NOT NULL,
  slot INTEGER NOT NULL,
  job_type TEXT NOT NULL,
  method TEXT NOT NULL,
  queue TEXT NOT NULL,
  succeeded INTEGER NOT NULL,
  ended INTEGER NOT NULL,
  PRIMARY KEY (source, slot, job_type, method, queue)
) WITHOUT ROWID;

CREATE TABLE redrive_rounds (
  source TEXT NOT NULL,
  hour INTEGER NOT NULL,
  job_type TEXT NOT NULL,
  method TEXT NOT NULL,
  queue TEXT NOT NULL,
  later INTEGER NOT NULL,
  ending TEXT NOT NULL,
  number INTEGER NOT NULL,
  rounds INTEGER NOT NULL,
  backoff_ms INTEGER NOT NULL,
  PRIMARY KEY (source, hour, job_type, method, queue, later, ending, number)
) WITHOUT ROWID;

CREATE TABLE redrive_recovery (
  source TEXT NOT NULL,
  hour INTEGER NOT NULL,
  job_type TEXT NOT NULL,
  method TEXT NOT NULL,
  exception TEXT NOT NULL,
  recovered INTEGER NOT NULL,
  gave_up INTEGER NOT NULL,
  retries_recovered INTEGER NOT NULL,
  retries_gave_up INTEGER NOT NULL,
  PRIMARY KEY (source, hour, job_type, method, exception)
) WITHOUT ROWID;

CREATE TABLE redrive_delays (
  source TEXT NOT NULL,
  day INTEGER NOT NULL,
  job_type TEXT NOT NULL,
  method TEXT NOT NULL,
  retries INTEGER NOT NULL,
  retry INTEGER NOT NULL,
  delays INTEGER NOT NULL,
  sum_ms INTEGER NOT NULL,
  min_ms INTEGER,
  max_ms INTEGER,
  PRIMARY KEY (source, day, job_type, method, retries, retry)
) WITHOUT ROWID;

-- What is so at this moment. Texts that a gauge does not have are empty.
CREATE TABLE redrive_gauges (
  source TEXT NOT NULL,
  gauge TEXT NOT NULL,
  job_type TEXT NOT NULL,
  method TEXT NOT NULL,
  label TEXT NOT NULL,
  value INTEGER NOT NULL,
  PRIMARY KEY (source, gauge, job_type, method, label)
) WITHOUT ROWID;
