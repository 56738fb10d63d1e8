-- Redrive's own tables. They live beside Hangfire's, in the same database, so that an action and
-- its audit row commit together. The schema "redrive" and its table of applied migrations are made
-- by the runner.

-- Each Hangfire schema of this database that Redrive watches. Every own row carries its id, since
-- the name a source is shown under may change.
CREATE TABLE redrive.source (
    id uuid PRIMARY KEY,
    hangfire_schema text NOT NULL UNIQUE,
    registered_at timestamptz NOT NULL DEFAULT now()
);

-- What operators did: one row per action, whatever its outcome. Nothing is ever updated here.
CREATE TABLE redrive.audit (
    id uuid PRIMARY KEY,
    source uuid NOT NULL REFERENCES redrive.source (id),
    at timestamptz NOT NULL DEFAULT now(),
    actor text NOT NULL,
    authenticated boolean NOT NULL,
    action text NOT NULL,
    job bigint NOT NULL,
    seen_state text NOT NULL,
    seen_state_id bigint NOT NULL,
    before_state text,
    before_state_id bigint,
    after_state text,
    after_state_id bigint,
    reason text,
    outcome text NOT NULL,
    note text NOT NULL
);

CREATE INDEX audit_source_id ON redrive.audit (source, id DESC);
CREATE INDEX audit_source_job_id ON redrive.audit (source, job, id DESC);
