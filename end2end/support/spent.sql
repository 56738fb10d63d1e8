-- A job whose two retries are used up, and which an operator then requeued in vain: four attempts in
-- two rounds, waits of 200, 300, 250 and 500 ms, backoffs of 10 and 20 s.
INSERT INTO hangfire.schema (version) VALUES (23);
CREATE FUNCTION pg_temp.iso(t timestamptz) RETURNS text LANGUAGE sql AS
$$ SELECT to_char(t AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US') || '0Z' $$;
CREATE FUNCTION pg_temp.row(id bigint, name text, at timestamptz, reason text DEFAULT NULL, more jsonb DEFAULT '{}') RETURNS void LANGUAGE sql AS $$
  INSERT INTO hangfire.state (id, jobid, name, reason, createdat, data) VALUES (id, 400001, name,
    COALESCE(reason, CASE WHEN name = 'Failed' THEN 'An exception occurred during performance of the job.' END), at,
    CASE name
      WHEN 'Enqueued' THEN jsonb_build_object('EnqueuedAt', pg_temp.iso(at), 'Queue', 'default')
      WHEN 'Processing' THEN jsonb_build_object('StartedAt', pg_temp.iso(at), 'ServerId', 'app-1:10:aaaa', 'WorkerId', 'w-1')
      WHEN 'Failed' THEN jsonb_build_object('FailedAt', pg_temp.iso(at), 'ExceptionType', 'System.TimeoutException',
        'ExceptionMessage', 'Supplier did not answer', 'ExceptionDetails', E'System.TimeoutException: Supplier did not answer\n   at Bookstore.Jobs.PayoutJob.RunAsync()')
      ELSE jsonb_build_object('ScheduledAt', pg_temp.iso(at)) END || more) $$;
INSERT INTO hangfire.job (id, stateid, statename, invocationdata, arguments, createdat) VALUES
  (400001, 4000014, 'Failed', '{"Type":"Bookstore.Jobs.PayoutJob, Bookstore.Jobs","Method":"RunAsync","ParameterTypes":"[]","Arguments":"[]"}', '[]', '2026-11-02 08:00Z');
SELECT pg_temp.row(4000001, 'Enqueued', '2026-11-02 08:00:00.000Z');
SELECT pg_temp.row(4000002, 'Processing', '2026-11-02 08:00:00.200Z');
SELECT pg_temp.row(4000003, 'Failed', '2026-11-02 08:00:01.200Z');
SELECT pg_temp.row(4000004, 'Scheduled', '2026-11-02 08:00:01.200Z', 'Retry attempt 1 of 2: Supplier did not answer', '{"EnqueueAt":"2026-11-02T08:00:11.2000000Z"}');
SELECT pg_temp.row(4000005, 'Enqueued', '2026-11-02 08:00:14.000Z', 'Triggered by DelayedJobScheduler');
SELECT pg_temp.row(4000006, 'Processing', '2026-11-02 08:00:14.300Z');
SELECT pg_temp.row(4000007, 'Failed', '2026-11-02 08:00:15.100Z');
SELECT pg_temp.row(4000008, 'Scheduled', '2026-11-02 08:00:15.100Z', 'Retry attempt 2 of 2: Supplier did not answer', '{"EnqueueAt":"2026-11-02T08:00:35.1000000Z"}');
SELECT pg_temp.row(4000009, 'Enqueued', '2026-11-02 08:00:44.000Z', 'Triggered by DelayedJobScheduler');
SELECT pg_temp.row(4000010, 'Processing', '2026-11-02 08:00:44.250Z');
SELECT pg_temp.row(4000011, 'Failed', '2026-11-02 08:00:45.250Z');
SELECT pg_temp.row(4000012, 'Enqueued', '2026-11-02 11:15:00.000Z', 'Triggered via Dashboard UI');
SELECT pg_temp.row(4000013, 'Processing', '2026-11-02 11:15:00.500Z');
SELECT pg_temp.row(4000014, 'Failed', '2026-11-02 11:15:00.900Z');
INSERT INTO hangfire.jobparameter (jobid, name, value) VALUES (400001, 'RetryCount', '2');
SELECT setval('hangfire.job_id_seq', 400001), setval('hangfire.state_id_seq', 4000014);
