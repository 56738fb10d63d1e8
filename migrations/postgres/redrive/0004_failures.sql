-- The collector's index of jobs that are failed, or wait for a retry, at this moment. Hangfire has
-- no index by state and time, and none on what a failure was; lists of such jobs go by these tables,
-- and are checked against the jobs themselves. Times are integer microseconds since 1970, UTC.

-- What such jobs have in common. The id is made of the other columns, so that rows can name their
-- group without a look-up.
CREATE TABLE redrive.failure_groups (
    source uuid NOT NULL REFERENCES redrive.source (id),
    id bigint NOT NULL,
    -- failed or retrying
    list text NOT NULL,
    job_type text NOT NULL,
    method text,
    queue text,
    exception text,
    -- 100 stands for more, too.
    attempts integer NOT NULL,
    PRIMARY KEY (source, id)
);

CREATE TABLE redrive.failures (
    source uuid NOT NULL,
    job bigint NOT NULL,
    list text NOT NULL,
    -- When the job's current state began, and its row; 0 where there is none.
    changed_at bigint NOT NULL,
    state_id bigint NOT NULL,
    group_id bigint NOT NULL,
    attempts bigint NOT NULL,
    -- The server of the last attempt, as a hash of its id.
    server bigint,
    PRIMARY KEY (source, job)
);

CREATE INDEX failures_changed ON redrive.failures (source, list, changed_at, job);
CREATE INDEX failures_group ON redrive.failures (source, group_id, changed_at, job);
CREATE INDEX failures_server ON redrive.failures (source, list, server, changed_at, job);
