// Whose requests may act: forms that outlive a restart and a proxy that ends TLS, but no other site.

import type { Page } from '@playwright/test';
import { database, databaseOf, query, recorded, redrive, stop, type Redrive } from '../support/setup';
import { expect, hydrated, test } from '../support/test';

let server: Redrive;
let name: string;
let target: string;

test.beforeAll(async ({}, info) => {
  name = `origin-${info.project.name}`;
  target = database(name, recorded('transitions'));
  server = await redrive(['serve', '--database', target]);
});

test.afterAll(async () => stop(server));

/** The hidden fields of the form that the page of a job has. */
async function fields(page: Page, job: number): Promise<Record<string, string>> {
  await page.goto(`${server.url}/s/main/jobs/${job}`);
  const all = await page
    .locator('form.act-f[action$="/api/requeue"] input[type="hidden"]')
    .evaluateAll((inputs) => inputs.map((i) => [(i as HTMLInputElement).name, (i as HTMLInputElement).value]));
  return Object.fromEntries(all);
}

/** Everything that an action could change. */
const everything = () =>
  ['job', 'state', 'jobqueue', 'jobparameter', 'set', 'counter', 'list', 'hash']
    .map((table) => `SELECT '${table}', count(*), md5(string_agg(t::text, '' ORDER BY t::text)) FROM hangfire.${table} t`)
    .join(' UNION ALL ')
    .concat(' ORDER BY 1');

const audited = async (page: Page) => {
  await page.goto(`${server.url}/s/main/audit`);
  return page.locator('tr[data-audit]').count();
};

test('refused attempts change nothing, neither jobs nor audit', async ({ page, request }) => {
  const form = { ...(await fields(page, 1)), reason: 'not mine' };
  expect(form).toMatchObject({ source: 'main', job: '1', state: 'Failed' });
  const before = query(databaseOf(name), everything());
  const rows = await audited(page);
  for (const headers of [
    { origin: 'https://evil.example' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'null' },
  ] as Record<string, string>[]) {
    for (const slug of ['requeue', 'enqueue-now', 'delete', 'undo-delete']) {
      const answer = await request.post(`${server.url}/api/${slug}`, { headers, form, maxRedirects: 0 });
      expect(answer.status(), `${slug} ${JSON.stringify(headers)}`).toBe(403);
      expect(await answer.text()).toMatch(/another site.*proxy.*Host/s);
    }
  }
  const asQuery = new URLSearchParams(form).toString();
  for (const slug of ['requeue', 'enqueue-now', 'delete', 'undo-delete']) {
    for (const method of ['GET', 'HEAD']) {
      const answer = await request.fetch(`${server.url}/api/${slug}?${asQuery}`, { method, maxRedirects: 0 });
      expect(answer.status(), `${method} ${slug}`).toBe(405);
    }
  }
  expect(query(databaseOf(name), everything())).toEqual(before);
  expect(await audited(page)).toBe(rows);
});

test('behind a proxy that ends TLS, the form acts', async ({ page, request }) => {
  const form = { ...(await fields(page, 3)), reason: 'through the proxy' };
  const answer = await request.post(`${server.url}/api/requeue`, {
    headers: {
      host: 'ops.example.com',
      origin: 'https://ops.example.com',
      'x-forwarded-proto': 'https',
      accept: 'application/json',
    },
    form,
  });
  expect(answer.status()).toBe(200);
  expect(await answer.json()).toMatchObject({ outcome: 'done', job: 3, state: 'Enqueued' });
});

test('a page that was open over a restart still acts', async ({ page }, info) => {
  await page.goto(`${server.url}/s/main/jobs/2`);
  if (info.project.name === 'js') await hydrated(page);
  const address = new URL(server.url).host;
  await stop(server);
  server = await redrive(['serve', '--database', target], {}, address);
  const form = page.locator('form.act-f[action$="/api/requeue"]');
  await page.locator('details.act-d').filter({ has: form }).locator('summary').click();
  await form.locator('[name="reason"]').fill('after the restart');
  await form.locator('button[type="submit"]').click();
  await expect(page.locator('[role="status"][data-outcome="done"]')).toContainText('Requeued job 2');
  expect(query(databaseOf(name), 'SELECT statename FROM hangfire.job WHERE id = 2')).toEqual(['Enqueued']);
});
