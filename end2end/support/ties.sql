-- 120 failed jobs whose every row has the same microsecond.
INSERT INTO hangfire.schema (version) VALUES (23);
INSERT INTO hangfire.job (id, stateid, statename, invocationdata, arguments, createdat)
SELECT 1200000 + g, 12000000 + g * 10 + 3, 'Failed',
  '{"Type":"Bookstore.Jobs.TieJob, Bookstore.Jobs","Method":"RunAsync","ParameterTypes":"[]","Arguments":"[]"}', '[]', '2026-11-02 12:00:00.123456Z'
FROM generate_series(1, 120) g;
INSERT INTO hangfire.state (id, jobid, name, createdat, data)
SELECT 12000000 + g * 10 + n, 1200000 + g, (ARRAY['Enqueued', 'Processing', 'Failed'])[n], '2026-11-02 12:00:00.123456Z', '{}'
FROM generate_series(1, 120) g, generate_series(1, 3) n;
SELECT setval('hangfire.job_id_seq', 1200120), setval('hangfire.state_id_seq', 12001203);
