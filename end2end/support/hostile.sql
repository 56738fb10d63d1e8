-- One failed job with script, control characters and direction overrides in every text column, and
-- rows as unlucky databases have them: no state, a state row that is gone, no data, no type.
INSERT INTO hangfire.schema (version) VALUES (23);
\set x '<img src=x onerror=window.__p=1></script><svg onload=window.__p=2>'
INSERT INTO hangfire.job (id, stateid, statename, invocationdata, arguments, createdat) VALUES
  (3200001, 32000003, 'Failed',
   jsonb_build_object('Type', 'Bookstore.Jobs.X"><img src=x onerror=window.__p=3>, Bookstore.Jobs', 'Method', 'Run</title><script>window.__p=4</script>', 'ParameterTypes', '["System.String","System.String"]', 'Arguments', '[]', 'Queue', 'q-1'),
   jsonb_build_array(to_jsonb(:'x'::text)::text, '"javascript:window.__p=5"'), now() - interval '9 min'),
  (1400001, NULL, NULL, '{"Type":"Bookstore.Jobs.HalfJob, Bookstore.Jobs","Method":"RunAsync","ParameterTypes":"[]","Arguments":"[]"}', '[]', now() - interval '10 min'),
  (1400002, 14999999, 'Failed', '{"Type":"Bookstore.Jobs.TrimmedJob, Bookstore.Jobs","Method":"RunAsync","ParameterTypes":"[]","Arguments":"[]"}', '[]', now() - interval '10 min'),
  (1400004, 14000043, 'Failed', '{"Type":"Bookstore.Jobs.NoDataJob, Bookstore.Jobs","Method":"RunAsync","ParameterTypes":"[]","Arguments":"[]"}', '[]', now() - interval '10 min'),
  (1400005, 14000053, 'Failed', '{}', '[]', now() - interval '10 min');
INSERT INTO hangfire.state (id, jobid, name, reason, createdat, data) VALUES
  (32000001, 3200001, 'Enqueued', :'x', now() - interval '9 min', jsonb_build_object('Queue', :'x'::text)),
  (32000002, 3200001, 'Processing', NULL, now() - interval '8 min', jsonb_build_object('ServerId', :'x'::text, 'WorkerId', :'x'::text)),
  (32000003, 3200001, 'Failed', 'Retry ' || :'x', now() - interval '7 min', jsonb_build_object('ExceptionType', :'x'::text, 'ExceptionMessage', 'pay to ' || U&'\202E' || 'moc.elpmaxe@ada' || ' now ' || E'\x1b[31mred' || :'x', 'ExceptionDetails', :'x' || E'\r\n   at ' || :'x')),
  (14000021, 1400002, 'Enqueued', NULL, now() - interval '3 min', '{}'), (14000022, 1400002, 'Processing', NULL, now() - interval '2 min', '{}'),
  (14000041, 1400004, 'Enqueued', NULL, now() - interval '3 min', '{}'), (14000042, 1400004, 'Processing', NULL, now() - interval '2 min', '{}'), (14000043, 1400004, 'Failed', NULL, now() - interval '1 min', NULL),
  (14000053, 1400005, 'Failed', NULL, now() - interval '1 min', '{"ExceptionType":"System.TimeoutException"}');
INSERT INTO hangfire.jobparameter (jobid, name, value) VALUES (3200001, :'x', :'x');
INSERT INTO hangfire.server (id, data, lastheartbeat) VALUES (:'x', jsonb_build_object('WorkerCount', 1, 'Queues', jsonb_build_array(:'x'::text), 'StartedAt', '2026-11-01T00:00:00.0000000Z'), now());
INSERT INTO hangfire.set (key, score, value) VALUES ('recurring-jobs', -1, :'x');
INSERT INTO hangfire.jobqueue (jobid, queue) VALUES (3200001, :'x');
SELECT setval('hangfire.job_id_seq', 3200001), setval('hangfire.state_id_seq', 32000003);
