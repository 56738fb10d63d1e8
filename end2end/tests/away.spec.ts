// The database goes away while pages are open, and comes back: pages say so and recover.

import { connect, createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { database, recorded, redrive, stop, type Redrive } from '../support/setup';
import { expect, test } from '../support/test';

let server: Redrive;
let gate: Server;
let open = true;
const held = new Set<Socket>();

test.beforeAll(async ({}, info) => {
  const target = new URL(database(`away-${info.project.name}`, recorded('article')));
  const { port, hostname } = target;
  gate = createServer((client) => {
    if (!open) return void client.destroy();
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) {
      held.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => held.delete(socket));
    }
    client.pipe(upstream).pipe(client);
  });
  await new Promise<void>((ready) => gate.listen(0, '127.0.0.1', ready));
  target.port = String((gate.address() as AddressInfo).port);
  server = await redrive(['serve', '--database', target.href]);
});

test.afterAll(async () => {
  await stop(server);
  gate.close();
});

test('pages say that the database is away, keep trying, and recover', async ({ page, request }) => {
  await page.goto(`${server.url}/s/main/jobs/1`);
  await expect(page.locator('tr[data-attempt]')).toHaveCount(3);

  open = false;
  for (const socket of held) socket.destroy();
  const away = await page.goto(`${server.url}/s/main/jobs/1`);
  expect(away!.status()).toBe(503);
  await expect(page.locator('main')).toContainText('does not answer');
  await expect(page.locator('meta[http-equiv="refresh"]')).toBeAttached();
  const json = await request.get(`${server.url}/s/main/jobs/1`, { headers: { accept: 'application/json' } });
  expect(json.status()).toBe(503);
  expect((await json.json()).error).toBe('database_away');
  expect((await request.get(`${server.url}/healthz`)).status()).toBe(200);

  open = true;
  await expect(page.locator('tr[data-attempt]')).toHaveCount(3, { timeout: 20_000 });
  await expect.poll(async () => (await request.get(`${server.url}/readyz`)).status(), { timeout: 20_000 }).toBe(200);
});
