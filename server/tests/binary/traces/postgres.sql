-- 500 failed jobs, 3500001 to 3500500; the state rows of job n are 10 n + 1 to 10 n + 3.
INSERT INTO hangfire.job (id, stateid, statename, invocationdata, arguments, createdat)
  SELECT 3500000 + g, 35000000 + g * 10 + 3, 'Failed',
    '{"Type": "Bookstore.Jobs.TraceJob, Bookstore.Jobs", "Method": "RunAsync", "ParameterTypes": "[]", "Arguments": "[]"}',
    '[]', timestamptz '2026-11-02 12:00Z'
  FROM generate_series(1, 500) g;
INSERT INTO hangfire.state (id, jobid, name, createdat, data)
  SELECT 35000000 + g * 10 + r.nth, 3500000 + g, r.name, timestamptz '2026-11-02 12:00Z' + r.nth * interval '1 s', r.data
  FROM generate_series(1, 500) g, (VALUES
    (1, 'Enqueued', '{"EnqueuedAt": "2026-11-02T12:00:01.0000000Z", "Queue": "default"}'::jsonb),
    (2, 'Processing', '{"StartedAt": "2026-11-02T12:00:02.0000000Z", "ServerId": "app-1:10:aaaa", "WorkerId": "w-1"}'),
    (3, 'Failed', '{"FailedAt": "2026-11-02T12:00:03.0000000Z", "ExceptionType": "System.TimeoutException", "ExceptionMessage": "Supplier did not answer", "ExceptionDetails": "System.TimeoutException: Supplier did not answer"}')
  ) AS r (nth, name, data);
-- traces
UPDATE hangfire.state SET data = data || jsonb_build_object('ExceptionDetails', (
    SELECT string_agg('   at ' || md5(jobid::text || i::text), E'\n') FROM generate_series(1, 7700) i))
  WHERE name = 'Failed';
