// Two processes on one database, and an orderly end.

import { database, recorded, redrive, stop, type Redrive } from '../support/setup';
import { expect, hydrated, test } from '../support/test';

const servers: Redrive[] = [];

test.beforeAll(async ({}, info) => {
  const url = database(`two-${info.project.name}`, recorded('transitions'));
  servers.push(await redrive(['serve', '--database', url]), await redrive(['serve', '--database', url]));
});

test.afterAll(async () => {
  await Promise.all(servers.splice(0).map(stop));
});

test('a form of one process is good at the other, before and after a restart', async ({ page, request }) => {
  const [first, second] = servers;
  await page.goto(`${first.url}/s/main/jobs/1`);
  const fields = await page
    .locator('form[action$="/api/requeue"]')
    .first()
    .locator('input[type="hidden"]')
    .evaluateAll((inputs) => inputs.map((i) => [(i as HTMLInputElement).name, (i as HTMLInputElement).value]));
  const form = Object.fromEntries(fields);
  const answer = await request.post(`${second.url}/api/requeue`, {
    headers: { accept: 'application/json', origin: new URL(second.url).origin },
    form: { ...form, reason: 'supplier is back' },
  });
  expect(await answer.json()).toMatchObject({ outcome: 'done', job: 1, state: 'Enqueued' });

  const again = await request.post(`${first.url}/api/requeue`, {
    headers: { accept: 'application/json' },
    form: { ...form, reason: 'supplier is back' },
  });
  expect(again.status()).toBe(409);
  expect((await again.json()).outcome).toBe('moved');
});

test('both show the same audit, oldest of the two last', async ({ page }) => {
  for (const server of servers) {
    await page.goto(`${server.url}/s/main/audit`);
    const words = await page.locator('main tbody tr').allInnerTexts();
    expect(words.length).toBe(2);
    expect(words[0]).toMatch(/moved|changed/i);
    expect(words[1]).toMatch(/done|Requeued/i);
  }
});

test('stopping does not wait for open pages', async ({ page }, info) => {
  const url = database(`stop-${info.project.name}`, recorded('article'));
  const server = await redrive(['serve', '--database', url]);
  await page.goto(`${server.url}/s/main/jobs/1`);
  if (info.project.name === 'js') await hydrated(page);
  const began = Date.now();
  await stop(server);
  expect(server.process.exitCode).toBe(0);
  expect(Date.now() - began).toBeLessThan(2_000);
});
