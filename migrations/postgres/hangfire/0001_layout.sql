-- The tables of Hangfire.PostgreSql, schema version 23, as a real job server expects them. Runs
-- only in an empty schema, which is the search path's first; Redrive never alters these tables
-- afterwards. Names of keys and indexes are Hangfire's, since its own later migrations use them.

CREATE TABLE schema (
    version integer PRIMARY KEY
);

CREATE TABLE job (
    id bigserial PRIMARY KEY,
    stateid bigint,
    statename text,
    invocationdata jsonb NOT NULL,
    arguments jsonb NOT NULL,
    createdat timestamptz NOT NULL,
    expireat timestamptz,
    updatecount integer NOT NULL DEFAULT 0
);
CREATE INDEX ix_hangfire_job_statename ON job (statename);
CREATE INDEX ix_hangfire_job_statename_is_not_null ON job (statename) INCLUDE (id)
    WHERE statename IS NOT NULL;
CREATE INDEX ix_hangfire_job_expireat ON job (expireat);

CREATE TABLE state (
    id bigserial PRIMARY KEY,
    jobid bigint NOT NULL REFERENCES job (id) ON UPDATE CASCADE ON DELETE CASCADE,
    name text NOT NULL,
    reason text,
    createdat timestamptz NOT NULL,
    data jsonb,
    updatecount integer NOT NULL DEFAULT 0
);
CREATE INDEX ix_hangfire_state_jobid ON state (jobid);

CREATE TABLE jobparameter (
    id bigserial PRIMARY KEY,
    jobid bigint NOT NULL REFERENCES job (id) ON UPDATE CASCADE ON DELETE CASCADE,
    name text NOT NULL,
    value text,
    updatecount integer NOT NULL DEFAULT 0
);
CREATE INDEX ix_hangfire_jobparameter_jobidandname ON jobparameter (jobid, name);

CREATE TABLE jobqueue (
    id bigserial PRIMARY KEY,
    jobid bigint NOT NULL,
    queue text NOT NULL,
    fetchedat timestamptz,
    updatecount integer NOT NULL DEFAULT 0
);
CREATE INDEX ix_hangfire_jobqueue_fetchedat_queue_jobid
    ON jobqueue (fetchedat NULLS FIRST, queue, jobid);
CREATE INDEX ix_hangfire_jobqueue_jobidandqueue ON jobqueue (jobid, queue);
CREATE INDEX ix_hangfire_jobqueue_queueandfetchedat ON jobqueue (queue, fetchedat);

CREATE TABLE server (
    id text PRIMARY KEY,
    data jsonb,
    lastheartbeat timestamptz NOT NULL,
    updatecount integer NOT NULL DEFAULT 0
);

CREATE TABLE set (
    id bigserial PRIMARY KEY,
    key text NOT NULL,
    score double precision NOT NULL,
    value text NOT NULL,
    expireat timestamptz,
    updatecount integer NOT NULL DEFAULT 0,
    UNIQUE (key, value)
);
CREATE INDEX ix_hangfire_set_expireat ON set (expireat);
CREATE INDEX ix_hangfire_set_key_score ON set (key, score);

CREATE TABLE hash (
    id bigserial PRIMARY KEY,
    key text NOT NULL,
    field text NOT NULL,
    value text,
    expireat timestamptz,
    updatecount integer NOT NULL DEFAULT 0,
    UNIQUE (key, field)
);
CREATE INDEX ix_hangfire_hash_expireat ON hash (expireat);

CREATE TABLE list (
    id bigserial PRIMARY KEY,
    key text NOT NULL,
    value text,
    expireat timestamptz,
    updatecount integer NOT NULL DEFAULT 0
);
CREATE INDEX ix_hangfire_list_expireat ON list (expireat);

CREATE TABLE counter (
    id bigserial PRIMARY KEY,
    key text NOT NULL,
    value bigint NOT NULL,
    expireat timestamptz
);
CREATE INDEX ix_hangfire_counter_expireat ON counter (expireat);
CREATE INDEX ix_hangfire_counter_key ON counter (key);

CREATE TABLE aggregatedcounter (
    id bigserial PRIMARY KEY,
    key text NOT NULL UNIQUE,
    value bigint NOT NULL,
    expireat timestamptz
);

CREATE TABLE lock (
    resource text NOT NULL UNIQUE,
    updatecount integer NOT NULL DEFAULT 0,
    acquired timestamptz
);
ALTER TABLE lock REPLICA IDENTITY USING INDEX lock_resource_key;

INSERT INTO schema (version) VALUES (23);
