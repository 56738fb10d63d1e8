// Below a sub-path, behind a proxy that passes the path on: nothing of ours points to the root.

import { createServer, request as ask, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from '@playwright/test';
import { gate, type Gate } from '../support/gate';
import { database, redrive, stop, written, type Redrive } from '../support/setup';
import { expect, hydrated, test } from '../support/test';

const BASE = '/ops/redrive';

/** A failed job with attempts in two rounds. */
const JOB = 400001;

let server: Redrive;
let way: Gate;
let proxy: Server;
let origin: string;
const strays: string[] = [];

test.beforeAll(async ({}, info) => {
  const name = `subpath-${info.project.name}`;
  way = await gate(database(name, written('spent')));
  server = await redrive(['serve', '--base-path', BASE, '--database', way.url]);
  const upstream = new URL(server.url);
  proxy = createServer((incoming, outgoing) => {
    if (incoming.url !== BASE && !incoming.url!.startsWith(`${BASE}/`)) strays.push(incoming.url!);
    const { method, headers, url: path } = incoming;
    const forward = ask({ host: upstream.hostname, port: upstream.port, method, headers, path }, (answer: IncomingMessage) => {
      outgoing.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(outgoing);
    });
    // A stream ends with the page that it was for.
    outgoing.on('close', () => forward.destroy());
    forward.on('error', () => outgoing.destroy());
    incoming.pipe(forward);
  });
  await new Promise<void>((ready) => proxy.listen(0, '127.0.0.1', ready));
  origin = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
});

test.afterAll(async () => {
  proxy.close();
  await stop(server);
  way.close();
});

/** Every URL that the page names; each of them lies below the sub-path. */
async function named(page: Page): Promise<URL[]> {
  const at = page.url();
  const urls = await page.evaluate(() =>
    [...document.querySelectorAll('*')].flatMap((element) =>
      ['href', 'src', 'action', 'formaction', 'data-js', 'data-wasm']
        .map((name) => element.getAttribute(name))
        .filter((value): value is string => value !== null && !value.startsWith('#')),
    ),
  );
  return urls.map((found) => {
    const target = new URL(found, at);
    expect(target.origin, `${found} on ${at}`).toBe(origin);
    expect(target.pathname.startsWith(`${BASE}/`), `${found} on ${at}`).toBe(true);
    return target;
  });
}

/** The page has its style sheet, and nothing asked for the proxy's root. */
async function whole(page: Page): Promise<void> {
  await named(page);
  const sheet = await page.locator('link[rel="stylesheet"]').getAttribute('href');
  expect((await page.request.get(new URL(sheet!, page.url()).href)).status()).toBe(200);
  expect(await page.evaluate(() => document.styleSheets[0].cssRules.length)).toBeGreaterThan(0);
  expect(strays.filter((path) => path !== '/favicon.ico')).toEqual([]);
}

test('every reachable page, file and redirect lies below the sub-path', async ({ page }) => {
  const queue = [`${BASE}/`];
  const seen = new Set(queue);
  while (queue.length > 0 && seen.size < 200) {
    const path = queue.shift()!;
    if (new URL(path, origin).pathname.endsWith('.csv')) {
      // A browser would save it.
      expect((await page.request.get(origin + path)).status(), path).toBe(200);
      continue;
    }
    const response = await page.goto(origin + path);
    expect(response!.status(), path).toBeLessThan(400);
    for (const target of await named(page)) {
      // Of each page, and each state's list, one address with further parameters and one without.
      const { pathname, searchParams: query } = target;
      const state = query.get('state');
      const further = query.size > (state ? 1 : 0) ? '?' : '';
      const kind = [pathname, state, further].filter(Boolean).join(' ');
      if (pathname.includes('/s/') && !seen.has(kind)) {
        seen.add(kind);
        queue.push(pathname + target.search);
      }
    }
  }
  for (const name of [`jobs/${JOB}`, 'attempts', 'policy', 'claims', 'servers', 'audit']) {
    const paths = [...seen].map((kind) => kind.split(' ')[0]);
    expect(paths).toContain(`${BASE}/s/main/${name}`);
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

test('the database away for one page: the page keeps its style and its ways on', async ({ page }) => {
  await page.goto(`${origin}${BASE}/s/main/jobs/${JOB}`);
  await expect(page.locator('tr[data-attempt]')).toHaveCount(4);
  way.shut();
  try {
    const away = await page.goto(`${origin}${BASE}/s/main/jobs/${JOB}`);
    expect(away!.status()).toBe(503);
    await whole(page);
  } finally {
    way.open();
  }
  // The page asks again by itself.
  await expect(page.locator('tr[data-attempt]')).toHaveCount(4, { timeout: 20_000 });
});

test('a refused action and one of another site stay below the sub-path', async ({ page, request }) => {
  const moved = await request.post(`${origin}${BASE}/api/delete`, {
    form: { source: 'main', job: JOB, state: 'Failed', state_id: 4, reason: 'nothing' },
    maxRedirects: 0,
  });
  expect(moved.status()).toBe(303);
  expect(moved.headers().location).toMatch(new RegExp(`^${BASE}/s/main/jobs/${JOB}\\?done=`));
  await page.goto(new URL(moved.headers().location, origin).href);
  await expect(page.locator('[role="status"][data-outcome="moved"]')).toBeVisible();
  await whole(page);

  const foreign = await request.post(`${origin}${BASE}/api/delete`, { headers: { origin: 'https://evil.example' }, form: {} });
  expect(foreign.status()).toBe(403);
  for (const [, found] of (await foreign.text()).matchAll(/ (?:href|src|action)="([^"#]+)/g)) {
    expect(found.startsWith(`${BASE}/`), found).toBe(true);
  }
});

test('a requeue from the page comes back below the sub-path', async ({ page }, info) => {
  await page.goto(`${origin}${BASE}/s/main/jobs/${JOB}`);
  if (info.project.name === 'js') await hydrated(page);
  const form = page.locator('form.act-f[action$="/api/requeue"]');
  await page.locator('details.act-d').filter({ has: form }).locator('summary').click();
  await form.locator('button[type="submit"]').click();
  await expect(page.locator('[role="status"][data-outcome="done"]')).toContainText(`Requeued job ${JOB}`);
  expect(page.url().startsWith(`${origin}${BASE}/s/main/jobs/${JOB}?done=`)).toBe(true);
  await whole(page);
});
