// What the database does not give: time, tables, the right to write. Each is said in words.

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { database, databaseOf, query, recorded, redrive, sql, stop } from '../support/setup';
import { expect, test } from '../support/test';

/** A session that holds every reader of the jobs off until it is let go. */
async function lock(url: string): Promise<() => Promise<void>> {
  const session = spawn('psql', ['-qAt', '-d', url], { stdio: ['pipe', 'pipe', 'ignore'] });
  const lines = createInterface({ input: session.stdout });
  session.stdin.write("BEGIN; LOCK TABLE hangfire.job IN ACCESS EXCLUSIVE MODE; SELECT 'held';\n");
  for await (const line of lines) if (line === 'held') break;
  return async () => {
    const ended = new Promise((resolve) => session.once('exit', resolve));
    session.stdin.end('ROLLBACK;\n');
    await ended;
  };
}

test('a page that takes too long is stopped, says so, and works again', async ({ page, request }, info) => {
  const url = database(`slow-${info.project.name}`, recorded('article'));
  const server = await redrive(['serve', '--database', url]);
  try {
    await page.goto(`${server.url}/s/main/jobs/1`);
    await expect(page.locator('tr[data-attempt]')).toHaveCount(3);
    const release = await lock(url);
    try {
      const began = Date.now();
      const [job, json, alive] = await Promise.all([
        page.goto(`${server.url}/s/main/jobs/1`),
        request.get(`${server.url}/s/main/jobs/1`, { headers: { accept: 'application/json' } }),
        request.get(`${server.url}/healthz`),
      ]);
      expect(Date.now() - began).toBeLessThan(9_000);
      expect(alive.status()).toBe(200);
      expect([503, 504]).toContain(json.status());
      expect(['query_limit', 'database_away']).toContain((await json.json()).error);
      expect([503, 504]).toContain(job!.status());
      await expect(page.locator('main h1')).toHaveText(/stopped to protect the database|does not answer/);
      await expect(page.locator('main a').first()).toBeVisible();
    } finally {
      await release();
    }
    await expect
      .poll(async () => (await request.get(`${server.url}/s/main/jobs/1`)).status(), { timeout: 20_000 })
      .toBe(200);
  } finally {
    await stop(server);
  }
});

test('a schema without tables of Hangfire is named on the page', async ({ page, request }, info) => {
  const url = database(`schema-${info.project.name}`, recorded('article'));
  const server = await redrive(['serve', '--database', url, '--schema', 'nosuch']);
  try {
    const answer = await page.goto(`${server.url}/s/main/jobs?state=failed`);
    expect(answer!.status()).toBe(503);
    await expect(page.locator('main')).toContainText('nosuch');
    await expect(page.locator('tr[data-job]')).toHaveCount(0);
    const json = await request.get(`${server.url}/s/main/jobs/1`, { headers: { accept: 'application/json' } });
    expect(json.status()).toBe(503);
    expect(await json.json()).toMatchObject({ error: 'not_readable', message: expect.stringContaining('nosuch') });
    expect((await request.get(`${server.url}/healthz`)).status()).toBe(200);
  } finally {
    await stop(server);
  }
});

test('a role that may only read sees everything, and is told why it cannot act', async ({ page, request }, info) => {
  const name = `reader-${info.project.name}`;
  const role = `e2e_reader_${info.project.name}`;
  const url = new URL(database(name, recorded('article')));
  sql('postgres', `SET client_min_messages = error; DROP ROLE IF EXISTS ${role};`);
  sql(databaseOf(name), `CREATE ROLE ${role} LOGIN; GRANT USAGE ON SCHEMA hangfire TO ${role};
    GRANT SELECT ON ALL TABLES IN SCHEMA hangfire TO ${role};`);
  const form = { source: 'main', job: 2, state: 'Failed', state_id: 5, reason: 'x' };
  url.username = role;
  const server = await redrive(['serve', '--database', url.href]);
  try {
    await page.goto(`${server.url}/s/main/jobs/1`);
    await expect(page.locator('tr[data-attempt]')).toHaveCount(3);
    await page.goto(`${server.url}/s/main/jobs/2`);
    await expect(page.locator('main')).toContainText(/This source is read-only: .*(INSERT|UPDATE|may not|privilege)/);
    await expect(page.locator('header .ro')).toHaveText('read only');
    await expect(page.locator('form[method="post"]')).toHaveCount(0);
    const disabled = page.locator('main .act-no button');
    expect(await disabled.count()).toBeGreaterThan(0);
    for (const button of await disabled.all()) await expect(button).toHaveAttribute('aria-disabled', 'true');

    const before = query(databaseOf(name), 'SELECT stateid, statename FROM hangfire.job ORDER BY id');
    const answer = await request.post(`${server.url}/api/requeue`, { headers: { accept: 'application/json' }, form });
    expect(answer.status()).toBe(422);
    expect((await answer.json()).outcome).toBe('refused');
    const words = await request.post(`${server.url}/api/requeue`, { form });
    expect(words.status()).toBe(422);
    expect(await words.text()).toContain('Refused');
    expect(query(databaseOf(name), 'SELECT stateid, statename FROM hangfire.job ORDER BY id')).toEqual(before);
  } finally {
    await stop(server);
    sql(databaseOf(name), `DROP OWNED BY ${role}; DROP ROLE ${role};`);
  }
});
