-- Builds the rows of a case: a job, and state rows with the usual keys of their state.
CREATE SCHEMA casekit;
CREATE FUNCTION casekit.iso(t timestamptz) RETURNS text LANGUAGE sql STABLE AS
$$ SELECT to_char(t AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US') || '0Z' $$;
CREATE FUNCTION casekit.job(p_id bigint, p_state text, p_stateid bigint, p_created timestamptz, p_type text)
RETURNS void LANGUAGE sql AS $$
  INSERT INTO hangfire.job(id, stateid, statename, invocationdata, arguments, createdat, expireat) VALUES (p_id, p_stateid, p_state,
    jsonb_build_object('Type', 'Bookstore.Jobs.' || p_type || ', Bookstore.Jobs', 'Method', 'RunAsync', 'ParameterTypes', '[]', 'Arguments', '[]'),
    '[]', p_created, CASE WHEN p_state IN ('Succeeded', 'Deleted') THEN timestamptz '2099-01-01 00:00Z' END) $$;
CREATE FUNCTION casekit.s(p_id bigint, p_job bigint, p_name text, p_at timestamptz, p_reason text DEFAULT NULL, p_extra jsonb DEFAULT '{}')
RETURNS void LANGUAGE sql AS $$
  INSERT INTO hangfire.state(id, jobid, name, reason, createdat, data) VALUES (p_id, p_job, p_name, p_reason, p_at,
    CASE p_name
      WHEN 'Enqueued'   THEN jsonb_build_object('EnqueuedAt', casekit.iso(p_at), 'Queue', 'default')
      WHEN 'Processing' THEN jsonb_build_object('StartedAt', casekit.iso(p_at), 'ServerId', 'app-1:10:aaaa', 'WorkerId', 'w-1')
      WHEN 'Failed'     THEN jsonb_build_object('FailedAt', casekit.iso(p_at), 'ExceptionType', 'System.TimeoutException',
        'ExceptionMessage', 'Supplier did not answer', 'ExceptionDetails', 'System.TimeoutException: Supplier did not answer')
      WHEN 'Succeeded'  THEN jsonb_build_object('SucceededAt', casekit.iso(p_at))
      ELSE '{}'::jsonb END || p_extra) $$;
