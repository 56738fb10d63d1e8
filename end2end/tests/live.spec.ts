// Open pages stay current: numbers change in their places, what is new is counted, nothing moves.

import type { Page } from '@playwright/test';
import { database, databaseOf, recorded, redrive, sql, stop, type Redrive } from '../support/setup';
import { demo, expect, hydrated, test } from '../support/test';

let server: Redrive;
let name: string;

test.beforeAll(async ({}, info) => {
  name = `live-${info.project.name}`;
  server = await redrive(['serve', '--database', database(name, recorded('article'))]);
});

test.afterAll(() => stop(server));

/** A worker fails job 1 for good, once more. */
function fail(): void {
  sql(
    databaseOf(name),
    `WITH row AS (
       INSERT INTO hangfire.state (jobid, name, createdat, data)
       VALUES (1, 'Failed', now(), '{"ExceptionType":"System.TimeoutException","ExceptionMessage":"late"}')
       RETURNING id
     )
     UPDATE hangfire.job SET stateid = row.id, statename = 'Failed', expireat = NULL FROM row WHERE job.id = 1;`,
  );
}

function succeed(): void {
  sql(
    databaseOf(name),
    `WITH row AS (
       INSERT INTO hangfire.state (jobid, name, createdat, data) VALUES (1, 'Succeeded', now(), '{}') RETURNING id
     )
     UPDATE hangfire.job SET stateid = row.id, statename = 'Succeeded' FROM row WHERE job.id = 1;`,
  );
}

/** Somebody plans one more job like job 1, for tomorrow. */
function create(): void {
  sql(
    databaseOf(name),
    `INSERT INTO hangfire.job (statename, invocationdata, arguments, createdat)
       SELECT 'Scheduled', invocationdata, arguments, now() FROM hangfire.job WHERE id = 1;
     INSERT INTO hangfire.state (jobid, name, createdat, data)
       SELECT max(id), 'Scheduled', now(), '{}' FROM hangfire.job;
     UPDATE hangfire.job SET stateid = (SELECT max(id) FROM hangfire.state)
       WHERE id = (SELECT max(id) FROM hangfire.job);
     INSERT INTO hangfire.set (key, score, value)
       SELECT 'schedule', extract(epoch FROM now()) + 86400, max(id) FROM hangfire.job;`,
  );
}

/** Remembers every stream of the page, to look at its state. */
async function remember(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const streams: EventSource[] = [];
    Object.assign(window, { streams });
    window.EventSource = class extends EventSource {
      constructor(url: string) {
        super(url);
        streams.push(this);
      }
    };
  });
}

/** How many streams are open, or opening. */
function open(page: Page): Promise<number> {
  return page.evaluate(() => {
    const { streams } = window as unknown as { streams: EventSource[] };
    return streams.filter((stream) => stream.readyState !== EventSource.CLOSED).length;
  });
}

test('a job that fails is counted everywhere, and the list stays as it is @js', async ({ page }) => {
  succeed();
  await page.goto(`${server.url}/s/main/jobs?state=failed`);
  await expect(page.locator('#live')).toHaveText(/^Live/);
  const badge = page.locator('.nav-b.failed .n');
  await expect(badge).toHaveText('2', { timeout: 20_000 });
  const rows = page.locator('tr[data-job]');
  await expect(rows).toHaveCount(2);
  const chip = page.locator('.newchip');
  await expect(chip).toBeHidden();
  const table = await page.locator('.joblist').boundingBox();

  fail();
  await expect(chip).toHaveText('+1 new', { timeout: 20_000 });
  await expect(chip).toBeVisible();
  await expect(badge).toHaveText('3', { timeout: 20_000 });
  const figure = page.locator('[data-figure="failed"]');
  await expect(figure).toHaveText('3');
  await expect(figure).toHaveAttribute('data-value', '3');
  expect(Date.parse((await figure.getAttribute('data-as-of'))!)).toBeGreaterThan(Date.now() - 60_000);
  await expect(rows).toHaveCount(2);
  expect(await page.locator('.joblist').boundingBox()).toEqual(table);

  await chip.click();
  await expect(rows).toHaveCount(3);
  await expect(page.locator('.newchip')).toBeHidden();
});

test('a job that is created is new to all jobs, one that goes on is not @js', async ({ page }) => {
  await page.goto(`${server.url}/s/main/jobs`);
  await expect(page.locator('#live')).toHaveText(/^Live/);
  const rows = page.locator('tr[data-job]');
  const before = await rows.count();
  const chip = page.locator('.newchip');
  await expect(chip).toBeHidden();

  succeed();
  create();
  await expect(chip).toHaveText('+1 new', { timeout: 20_000 });
  await expect(rows).toHaveCount(before);

  await chip.click();
  await expect(rows).toHaveCount(before + 1);
  await expect(page.locator('.newchip')).toBeHidden();
});

test('the overview counts too, and its age goes on @js', async ({ page }) => {
  succeed();
  await page.goto(`${server.url}/s/main`);
  const figure = page.locator('[data-figure="failed"]');
  await expect(figure).toHaveText('2', { timeout: 20_000 });
  const counted = page.locator('.page-h time[data-live-at="counted"]');
  const before = await counted.getAttribute('datetime');
  fail();
  await expect(figure).toHaveText('3', { timeout: 20_000 });
  await expect(page.locator('dd.bad [data-figure="failed"]')).toHaveCount(1);
  await expect(page.locator('.newchip[data-live-new]')).toHaveText('+1 new', { timeout: 20_000 });
  expect(await counted.getAttribute('datetime')).not.toBe(before);
});

test('drawings are replaced where they stand, but not the one that is read @js', async ({ page }) => {
  test.setTimeout(90_000);
  await page.goto(demo('/s/main'));
  const parts = page.locator('[data-part]');
  await expect(parts).toHaveCount(5);
  const steady = page.locator('[data-part="rate"], [data-part="spread"], [data-part="finished"]');
  const boxes = () => steady.evaluateAll((all) => all.map((part) => part.getBoundingClientRect().height));
  const before = await boxes();
  await page.locator('[data-part="finished"] summary').click();
  await parts.evaluateAll((all) => all.forEach((part) => part.setAttribute('data-old', '')));
  // Somebody reads the table: its part stays until the pointer is elsewhere.
  await page.locator('[data-part="due"]').hover();
  await expect(page.locator('[data-part][data-old]')).toHaveCount(2, { timeout: 50_000 });
  await expect(page.locator('[data-part="due"][data-old]')).toHaveCount(1);
  await page.locator('[data-part="finished"] summary').evaluate((summary: HTMLElement) => summary.blur());
  await page.mouse.move(0, 0);
  await expect(page.locator('[data-part][data-old]')).toHaveCount(0, { timeout: 50_000 });
  await expect(page.locator('[data-part="finished"] details')).toHaveAttribute('open', '');
  await page.locator('[data-part="finished"] summary').click();
  expect(await boxes()).toEqual(before);
});

test('a page that nobody looks at has no stream @js', async ({ page }) => {
  await remember(page);
  await page.goto(`${server.url}/s/main`);
  await expect(page.locator('#live')).toHaveAttribute('data-state', 'live');
  expect(await open(page)).toBe(1);
  const look = (hidden: boolean) =>
    page.evaluate((hidden) => {
      Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    }, hidden);
  await look(true);
  await expect(page.locator('#live')).toHaveAttribute('data-state', 'paused');
  expect(await open(page)).toBe(0);
  await look(false);
  await expect(page.locator('#live')).toHaveAttribute('data-state', 'live');
  expect(await open(page)).toBe(1);
});

test('nothing changes while rows are ticked @js', async ({ page }) => {
  await remember(page);
  await page.goto(`${server.url}/s/main/jobs?state=failed`);
  await expect(page.locator('#live')).toHaveAttribute('data-state', 'live');
  const box = page.locator('tr[data-job] input[name="item"]').first();
  await box.check();
  await expect(page.locator('#live')).toHaveText(/^Paused/);
  expect(await open(page)).toBe(0);
  await box.uncheck();
  await expect(page.locator('#live')).toHaveText(/^Live/);
  expect(await open(page)).toBe(1);
});

test('a stream that breaks is opened again @js', async ({ page }) => {
  test.setTimeout(60_000);
  const own = database('live-again', recorded('article'));
  const first = await redrive(['serve', '--database', own]);
  await page.goto(`${first.url}/s/main`);
  await hydrated(page);
  await expect(page.locator('#live')).toHaveAttribute('data-state', 'live');
  await stop(first);
  await expect(page.locator('#live')).toHaveText(/^Reconnecting/);
  const second = await redrive(['serve', '--database', own], {}, new URL(first.url).host);
  await expect(page.locator('#live')).toHaveAttribute('data-state', 'live', { timeout: 40_000 });
  await stop(second);
});

test('open pages below a base path are live, and do not hold the program up @js', async ({ page }) => {
  const below = ['--base-path', '/ops/redrive'];
  const own = await redrive(['serve', '--database', database('live-stop', recorded('article')), ...below]);
  await page.goto(`${own.url}/s/main`);
  await hydrated(page);
  await expect(page.locator('#live')).toHaveAttribute('data-state', 'live');
  const began = Date.now();
  await stop(own);
  expect(Date.now() - began).toBeLessThan(2_000);
});

test('the overview is whole without scripts', async ({ page }) => {
  await expect
    .poll(
      async () => {
        await page.goto(demo('/s/main'));
        return page.locator('[data-part] svg[role="img"]').count();
      },
      { timeout: 25_000 },
    )
    .toBeGreaterThan(3);
  for (const part of ['rate', 'spread', 'due', 'finished', 'servers']) {
    await expect(page.locator(`[data-part="${part}"] h2`)).toBeVisible();
  }
  await expect(page.locator('[data-part="finished"] .fig-t tbody tr')).toHaveCount(24);
  const first = page.locator('[data-figure="first-attempt-success"]');
  const of = async (name: string) => Number(await first.getAttribute(name));
  expect(await of('data-denominator')).toBeGreaterThan(0);
  expect(await of('data-value')).toBeCloseTo((await of('data-numerator')) / (await of('data-denominator')), 12);
});
