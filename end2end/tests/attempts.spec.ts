// Attempts and policies: complete without JavaScript, every choice in the URL.

import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { demo, expect, test } from '../support/test';

/** The page as soon as the collector has read the history. */
async function collected(page: Page, path: string): Promise<void> {
  await expect(async () => {
    await page.goto(demo(path));
    await expect(page.locator('.types')).toBeVisible({ timeout: 1_000 });
    await expect(page.locator('.page-h .cov')).toContainText('exact', { timeout: 100 });
  }).toPass({ timeout: 25_000 });
}

test('the page answers with a rate made of a numerator and a denominator', async ({ page }) => {
  await collected(page, '/s/main/attempts?range=all');
  const figure = page.locator('.page-h [data-figure="first-attempt"]');
  const [value, numerator, denominator] = await figure.evaluate((node) => {
    const { value, numerator, denominator } = (node as HTMLElement).dataset;
    return [Number(value), Number(numerator), Number(denominator)];
  });
  expect(denominator).toBeGreaterThan(100);
  expect(value).toBeCloseTo(numerator / denominator, 9);
  // The rows add up to the whole.
  const rows = page.locator('.types tbody [data-figure="first-attempt"]');
  const sums = await rows.evaluateAll((nodes) =>
    nodes.map((node) => Number((node as HTMLElement).dataset.denominator)).reduce((a, b) => a + b, 0),
  );
  expect(sums).toBe(denominator);
});

test('a job type narrows the page, and its number leads to its jobs', async ({ page }) => {
  await collected(page, '/s/main/attempts?range=all');
  const row = page.locator('.types tbody tr').first();
  const type = await row.getAttribute('data-type');
  const method = await row.getAttribute('data-method');
  await row.locator('.ty a').click();
  await expect(page).toHaveURL(new RegExp(`type=${type!.replaceAll('.', '\\.')}&method=${method}$`));
  await expect(page.locator('.types tbody tr')).toHaveCount(1);
  await page.locator('.types tbody .fi a').click();
  await expect(page).toHaveURL(/\/jobs\?type=.*&from=.*&to=/);
  const heading = page.locator('main h1');
  await expect(heading).toBeVisible();
});

test('the form keeps the choice in the URL', async ({ page }) => {
  await collected(page, '/s/main/attempts?range=all');
  await page.getByLabel('Queue', { exact: true }).selectOption({ index: 1 });
  await page.getByRole('button', { name: 'Show' }).click();
  await expect(page).toHaveURL(/range=all.*&queue=[^&]+$/);
  await expect(page.locator('.scope-w')).toContainText('not counted by queue');
});

test('every table can be had as a file', async ({ page, request }) => {
  await collected(page, '/s/main/attempts?range=all');
  const links = await page.locator('a.csv').evaluateAll((all) => all.map((a) => (a as HTMLAnchorElement).href));
  expect(links).toHaveLength(6);
  for (const link of links) {
    const answer = await request.get(link);
    expect(answer.status(), link).toBe(200);
    expect(answer.headers()['content-type']).toContain('text/csv');
    expect(answer.headers()['content-disposition']).toMatch(/^attachment; filename="main-[a-z-]+\.csv"$/);
    expect((await answer.text()).split('\r\n').length, link).toBeGreaterThan(2);
  }
});

const refused: [string, string, RegExp][] = [
  ['an unknown range', 'range=fortnight', /fortnight/],
  ['a span upside down', 'from=2026-11-12&to=2016-11-12', /must lie before/],
  ['garbage', 'from=%00', /must be a time such as/],
];

for (const [name, query, words] of refused) {
  test(`${name} gets a clear sentence`, async ({ page }) => {
    const answer = await page.goto(demo(`/s/main/attempts?${query}`));
    expect(answer!.status()).toBe(400);
    await expect(page.locator('main')).toContainText(words);
  });
}

test("Hangfire's default policy gives up after 4 h 18 min to 4 h 45 min", async ({ page }) => {
  await page.goto(demo('/s/main/policy'));
  await expect(page.locator('.page-h')).toContainText('4 h 18 min to 4 h 45 min');
  await page.getByRole('link', { name: 'Quartz: exponential' }).click();
  await page.getByLabel('Delay').fill('2 s');
  await page.getByLabel('Runs every').fill('15 s');
  await page.getByRole('button', { name: 'Simulate' }).click();
  await expect(page).toHaveURL(/policy=exponential/);
  // Waits of 2, 4 and 8 s: the last one lies within a second of the next run.
  await expect(page.locator('tr[data-retry="2"]')).toContainText('before it');
  await expect(page.locator('tr[data-retry="3"]')).toContainText('dropped');
});

for (const colorScheme of ['light', 'dark'] as const) {
  for (const [name, path] of [
    ['attempts', '/s/main/attempts?range=all'],
    ['attempts of a queue', '/s/main/attempts?range=all&queue=default'],
    ['attempts of nothing', '/s/main/attempts?range=all&type=Nothing'],
    ['a policy', '/s/main/policy?policy=exponential&every=1min'],
    ['a policy that is not understood', '/s/main/policy?retries=many'],
  ]) {
    test(`axe finds nothing on ${name}, ${colorScheme} @js`, async ({ page }) => {
      await collected(page, '/s/main/attempts?range=all');
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await page.goto(demo(path));
      for (const width of [1440, 390]) {
        await page.setViewportSize({ width, height: 900 });
        const { violations } = await new AxeBuilder({ page }).analyze();
        const found = violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.target).join(' ; ')}`);
        expect(found, `at ${width} px`).toEqual([]);
        const sideways = await page.evaluate(
          () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
        );
        expect(sideways, `at ${width} px`).toBeLessThanOrEqual(0);
      }
    });
  }
}
