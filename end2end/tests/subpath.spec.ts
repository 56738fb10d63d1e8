// Below a sub-path, behind a proxy that passes the path on: nothing of ours points to the root.

import { createServer, request as ask, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { database, recorded, redrive, stop, type Redrive } from '../support/setup';
import { expect, test } from '../support/test';

const BASE = '/ops/redrive';

let server: Redrive;
let proxy: Server;
let origin: string;
const strays: string[] = [];

test.beforeAll(async ({}, info) => {
  const name = `subpath-${info.project.name}`;
  server = await redrive(['serve', '--base-path', BASE, '--database', database(name, recorded('article'))]);
  const upstream = new URL(server.url);
  proxy = createServer((incoming, outgoing) => {
    if (incoming.url !== BASE && !incoming.url!.startsWith(`${BASE}/`)) strays.push(incoming.url!);
    const { method, headers, url: path } = incoming;
    const forward = ask({ host: upstream.hostname, port: upstream.port, method, headers, path }, (answer: IncomingMessage) => {
      outgoing.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(forward);
  });
  await new Promise<void>((ready) => proxy.listen(0, '127.0.0.1', ready));
  origin = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
});

test.afterAll(async () => {
  proxy.close();
  await stop(server);
});

test('every reachable page, file and redirect lies below the sub-path', async ({ page }) => {
  const queue = [`${BASE}/`];
  const seen = new Set(queue);
  while (queue.length > 0 && seen.size < 200) {
    const path = queue.shift()!;
    const response = await page.goto(origin + path);
    expect(response!.status(), path).toBeLessThan(400);
    const urls = await page.evaluate(() =>
      [...document.querySelectorAll('*')].flatMap((element) =>
        ['href', 'src', 'action', 'formaction', 'data-js', 'data-wasm']
          .map((name) => element.getAttribute(name))
          .filter((value): value is string => value !== null && !value.startsWith('#')),
      ),
    );
    for (const found of urls) {
      const target = new URL(found, origin + path);
      expect(target.origin, `${found} on ${path}`).toBe(origin);
      expect(target.pathname.startsWith(`${BASE}/`), `${found} on ${path}`).toBe(true);
      const next = target.pathname + target.search;
      if (found.includes('/s/') && !seen.has(next)) {
        seen.add(next);
        queue.push(next);
      }
    }
  }
  expect(seen.size).toBeGreaterThan(10);
  expect(strays.filter((path) => path !== '/favicon.ico')).toEqual([]);
});

test('what lies outside is not served, and nonsense inside leads back', async ({ page, request }) => {
  expect((await request.get(`${new URL(server.url).origin}/s/main`)).status()).toBe(404);
  expect((await request.get(`${new URL(server.url).origin}/ops/redriveX`)).status()).toBe(404);
  const bare = await page.goto(origin + BASE);
  expect(bare!.status()).toBe(200);
  const nonsense = await page.goto(`${origin}${BASE}/nonsense`);
  expect(nonsense!.status()).toBe(404);
  await page.locator('main a').first().click();
  await expect(page).toHaveURL(`${origin}${BASE}/s/main`);
});

test('a submitted form comes back below the sub-path', async ({ request }) => {
  const answer = await request.post(`${origin}${BASE}/api/delete`, {
    form: { source: 'main', job: 2, state: 'Failed', state_id: 4, reason: 'nothing' },
    maxRedirects: 0,
  });
  expect(answer.status()).toBe(303);
  expect(answer.headers().location).toMatch(/^\/ops\/redrive\/s\/main\//);
});
