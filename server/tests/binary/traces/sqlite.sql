-- 500 failed jobs, 3500001 to 3500500; the state rows of job n are 10 n + 1 to 10 n + 3.
-- 639292176000000000 is 2026-11-02 12:00 UTC in ticks.
WITH RECURSIVE n (g) AS (SELECT 1 UNION ALL SELECT g + 1 FROM n WHERE g < 500)
INSERT INTO Job (Id, StateId, StateName, InvocationData, Arguments, CreatedAt, ExpireAt)
  SELECT 3500000 + g, 0, 'Failed',
    '{"Type":"Bookstore.Jobs.TraceJob, Bookstore.Jobs","Method":"RunAsync","ParameterTypes":"[]","Arguments":"[]"}',
    '[]', 639292176000000000, 0
  FROM n;
WITH RECURSIVE n (g) AS (SELECT 1 UNION ALL SELECT g + 1 FROM n WHERE g < 500), r (nth, name, data) AS (VALUES
    (1, 'Enqueued', '{"EnqueuedAt":"2026-11-02T12:00:01.0000000Z","Queue":"default"}'),
    (2, 'Processing', '{"StartedAt":"2026-11-02T12:00:02.0000000Z","ServerId":"app-1:10:aaaa","WorkerId":"w-1"}'),
    (3, 'Failed', '{"FailedAt":"2026-11-02T12:00:03.0000000Z","ExceptionType":"System.TimeoutException","ExceptionMessage":"Supplier did not answer","ExceptionDetails":"System.TimeoutException: Supplier did not answer"}'))
INSERT INTO State (Id, JobId, Name, Reason, CreatedAt, Data, ExpireAt)
  SELECT 35000000 + g * 10 + nth, 3500000 + g, name, NULL, 639292176000000000 + nth * 10000000, data, 0 FROM n, r;
-- traces
UPDATE State SET Data = json_set(Data, '$.ExceptionDetails', (
    WITH RECURSIVE i (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < 7700)
    SELECT group_concat('   at ' || lower(hex(randomblob(16))), char(10)) FROM i WHERE State.Id > 0))
  WHERE Name = 'Failed';
