-- What the collector keeps: how far it has read, what it must know of jobs that live, and the
-- numbers. Hours, days and slots of ten minutes are counted from 1970, UTC. Buckets of histograms
-- are counted by position; their bounds are the program's and never change.

CREATE TABLE redrive.collector (
    source uuid PRIMARY KEY REFERENCES redrive.source (id),
    holder uuid,
    held_until timestamptz,
    position text NOT NULL,
    updated_at timestamptz NOT NULL
);

CREATE TABLE redrive.collector_job (
    source uuid NOT NULL REFERENCES redrive.source (id),
    job bigint NOT NULL,
    undecided boolean NOT NULL,
    memory text NOT NULL,
    PRIMARY KEY (source, job)
);

CREATE INDEX collector_job_undecided ON redrive.collector_job (source) WHERE undecided;

CREATE TABLE redrive.attempts (
    source uuid NOT NULL REFERENCES redrive.source (id),
    hour bigint NOT NULL,
    job_type text NOT NULL,
    method text NOT NULL,
    queue text NOT NULL,
    later boolean NOT NULL,
    number bigint NOT NULL,
    outcome text NOT NULL,
    attempts bigint NOT NULL,
    waited integer[] NOT NULL,
    waited_ms bigint NOT NULL,
    ran integer[] NOT NULL,
    ran_ms bigint NOT NULL,
    PRIMARY KEY (source, hour, job_type, method, queue, later, number, outcome)
);

CREATE TABLE redrive.first_attempts (
    source uuid NOT NULL REFERENCES redrive.source (id),
    slot bigint NOT NULL,
    job_type text NOT NULL,
    method text NOT NULL,
    queue text NOT NULL,
    succeeded bigint NOT NULL,
    ended bigint NOT NULL,
    PRIMARY KEY (source, slot, job_type, method, queue)
);

CREATE TABLE redrive.rounds (
    source uuid NOT NULL REFERENCES redrive.source (id),
    hour bigint NOT NULL,
    job_type text NOT NULL,
    method text NOT NULL,
    queue text NOT NULL,
    later boolean NOT NULL,
    ending text NOT NULL,
    number bigint NOT NULL,
    rounds bigint NOT NULL,
    backoff_ms bigint NOT NULL,
    PRIMARY KEY (source, hour, job_type, method, queue, later, ending, number)
);

CREATE TABLE redrive.recovery (
    source uuid NOT NULL REFERENCES redrive.source (id),
    hour bigint NOT NULL,
    job_type text NOT NULL,
    method text NOT NULL,
    exception text NOT NULL,
    recovered bigint NOT NULL,
    gave_up bigint NOT NULL,
    retries_recovered bigint NOT NULL,
    retries_gave_up bigint NOT NULL,
    PRIMARY KEY (source, hour, job_type, method, exception)
);

CREATE TABLE redrive.delays (
    source uuid NOT NULL REFERENCES redrive.source (id),
    day bigint NOT NULL,
    job_type text NOT NULL,
    method text NOT NULL,
    retries bigint NOT NULL,
    retry bigint NOT NULL,
    delays bigint NOT NULL,
    sum_ms bigint NOT NULL,
    min_ms bigint,
    max_ms bigint,
    PRIMARY KEY (source, day, job_type, method, retries, retry)
);

-- What is so at this moment. Texts that a gauge does not have are empty.
CREATE TABLE redrive.gauges (
    source uuid NOT NULL REFERENCES redrive.source (id),
    gauge text NOT NULL,
    job_type text NOT NULL,
    method text NOT NULL,
    label text NOT NULL,
    value bigint NOT NULL,
    PRIMARY KEY (source, gauge, job_type, method, label)
);
