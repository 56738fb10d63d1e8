// The database goes away while pages are open, and comes back: pages say so and recover.

import { gate, type Gate } from '../support/gate';
import { database, recorded, redrive, stop, type Redrive } from '../support/setup';
import { expect, test } from '../support/test';

let server: Redrive;
let way: Gate;

test.beforeAll(async ({}, info) => {
  way = await gate(database(`away-${info.project.name}`, recorded('article')));
  server = await redrive(['serve', '--database', way.url]);
});

test.afterAll(async () => {
  await stop(server);
  way.close();
});

test('pages say that the database is away, keep trying, and recover', async ({ page, request }) => {
  await page.goto(`${server.url}/s/main/jobs/1`);
  await expect(page.locator('tr[data-attempt]')).toHaveCount(3);

  way.shut();
  const away = await page.goto(`${server.url}/s/main/jobs/1`);
  expect(away!.status()).toBe(503);
  await expect(page.locator('main')).toContainText('does not answer');
  expect(away!.headers().refresh).toBe('5');
  const json = await request.get(`${server.url}/s/main/jobs/1`, { headers: { accept: 'application/json' } });
  expect(json.status()).toBe(503);
  expect((await json.json()).error).toBe('database_away');
  expect((await request.get(`${server.url}/healthz`)).status()).toBe(200);

  const form = { source: 'main', job: 2, state: 'Failed', state_id: 14, reason: '' };
  const action = await request.post(`${server.url}/api/requeue`, { headers: { accept: 'application/json' }, form });
  expect(action.status()).toBe(503);
  expect((await action.json()).error).toBe('database_away');
  const told = await request.post(`${server.url}/api/requeue`, { form });
  expect(told.status()).toBe(503);
  expect(await told.text()).toContain('Nothing was changed');
  expect(told.headers().refresh).toBeUndefined();

  way.open();
  await expect(page.locator('tr[data-attempt]')).toHaveCount(3, { timeout: 20_000 });
  await expect.poll(async () => (await request.get(`${server.url}/readyz`)).status(), { timeout: 20_000 }).toBe(200);
});
