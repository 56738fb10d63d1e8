-- The rows of Redrive's own tables that JOBS jobs leave, spread evenly over 14 days from 2026-11-15, twelve job types
-- and three queues. One attempt of ten fails, and one of ten of those gives up.
INSERT INTO redrive.source (id, hangfire_schema) VALUES ('00000000-0000-4000-8000-000000000001', 'hangfire');
INSERT INTO redrive.collector (source, position, updated_at)
SELECT id, '{"epoch":0,"watermark":1,"newest_job":JOBS,"newest_at":null,"counted_to":null,"rows":JOBS,"settled":1,"gaps":[],"horizons":[]}', now()
FROM redrive.source;

CREATE TEMP TABLE cell AS
SELECT s.id AS source, i, 498480 + i / 36 AS hour, 'Bookstore.Jobs.Job' || i % 12 AS job_type, 'RunAsync'::text AS method,
  (ARRAY['default', 'critical', 'reports'])[1 + i / 12 % 3] AS queue, n, (n + i % 10) / 10 AS failed, (n + i % 100) / 100 AS gave_up
FROM redrive.source s, generate_series(0::bigint, 336 * 36 - 1) i,
  LATERAL (SELECT (i + 1) * JOBS / (336 * 36) - i * JOBS / (336 * 36) AS n) c;

INSERT INTO redrive.attempts
SELECT source, hour, job_type, method, queue, false, number, outcome, count,
  array_fill(0, ARRAY[9]) || count::integer || array_fill(0, ARRAY[17]), count * 800,
  array_fill(0, ARRAY[7]) || count::integer || array_fill(0, ARRAY[19]), count * 150
FROM cell, LATERAL (VALUES (1, 'succeeded', n - failed), (1, 'failed', failed), (2, 'succeeded', failed - gave_up),
  (2, 'failed', gave_up), (3, 'failed', gave_up), (4, 'failed', gave_up)) x (number, outcome, count)
WHERE count > 0;

INSERT INTO redrive.first_attempts
SELECT source, hour * 6 + s, job_type, method, queue, count - (count + i % 10) / 10, count
FROM cell, generate_series(0, 5) s, LATERAL (SELECT (n + (i + s) % 6) / 6 AS count) c WHERE count > 0;

INSERT INTO redrive.rounds
SELECT source, hour, job_type, method, queue, false, ending, number, count, (number - 1) * 15000 * count
FROM cell, LATERAL (VALUES (1, 'succeeded', n - failed), (2, 'succeeded', failed - gave_up), (4, 'gave-up', gave_up)) x (number, ending, count)
WHERE count > 0;

INSERT INTO redrive.recovery
SELECT source, hour, job_type, method, 'Shop.Error' || i % 8, sum(failed - gave_up), sum(gave_up), sum(failed - gave_up), sum(3 * gave_up)
FROM cell WHERE failed > 0 GROUP BY 1, 2, 3, 4, 5;

INSERT INTO redrive.delays
SELECT source, hour / 24, job_type, method, 3, 1, sum(failed), sum(failed) * 15000, 15000, 15000
FROM cell WHERE failed > 0 GROUP BY 1, 2, 3, 4;

INSERT INTO redrive.gauges
SELECT source, 'pending-rounds', job_type, method, 'first', 3 FROM cell GROUP BY source, job_type, method;
