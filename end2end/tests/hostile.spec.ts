// Script in every text of the database, and in a reason: it is shown, never run, on every page.

import type { Page, TestInfo } from '@playwright/test';
import { expect, hydrated, test, url } from '../support/test';

const X = '<img src=x onerror=window.__p=1></script><svg onload=window.__p=2>';

const source = (info: TestInfo) => `hostile-${info.project.name}`;

/** What must not happen, should it happen. */
const wrong: string[] = [];

test.beforeEach(async ({ page }) => {
  wrong.length = 0;
  page.on('dialog', async (dialog) => {
    wrong.push(`a dialog: ${dialog.message()}`);
    await dialog.dismiss();
  });
  page.on('request', (request) => {
    if (new URL(request.url()).pathname.endsWith('/x')) wrong.push(`a request: ${request.url()}`);
  });
  page.on('response', (response) => {
    const headers = JSON.stringify(response.headers());
    if (headers.includes('onerror')) wrong.push(`a header: ${headers}`);
  });
});

test.afterEach(() => expect(wrong).toEqual([]));

async function inert(page: Page): Promise<void> {
  expect(await page.evaluate('typeof window.__p')).toBe('undefined');
  expect(await page.locator('img, [onload], [onerror]').count()).toBe(0);
}

test('a hostile reason is text wherever it is shown', async ({ page }, info) => {
  await page.goto(url(`/s/${source(info)}/jobs/3200001`));
  if (info.project.name === 'js') await hydrated(page);
  const form = page.locator('form.act-f[action$="/api/requeue"]');
  await page.locator('details.act-d').filter({ has: form }).locator('summary').click();
  await form.locator('[name="reason"]').fill(X);
  await form.locator('button[type="submit"]').click();
  await expect(page.locator('[role="status"][data-outcome="done"]')).toBeVisible();
  await expect(page.locator('main')).toContainText(X);
  await inert(page);

  await page.goto(url(`/s/${source(info)}/audit`));
  await expect(page.locator('tr[data-audit]')).toHaveCount(1);
  await expect(page.locator('tr[data-audit] .a-r')).toHaveText(X);
  await inert(page);
  await page.goto(url(`/s/${source(info)}/audit?job=3200001`));
  await inert(page);
});

test('a stack trace is plain text that browsers do not guess at', async ({ request }) => {
  const answer = await request.get(url('/s/hostile/jobs/3200001/trace/32000003'));
  expect(answer.status()).toBe(200);
  expect(answer.headers()['content-type']).toBe('text/plain; charset=utf-8');
  expect(answer.headers()['x-content-type-options']).toBe('nosniff');
  expect(await answer.text()).toBe(`${X}\r\n   at ${X}`);
});

test('no header of any page carries text of a row', async ({ request }) => {
  const paths = ['', '/jobs', '/jobs?state=failed', '/jobs/3200001', '/servers', '/audit', '/jobs/3200001/trace/32000003'];
  for (const path of [...paths, `/jobs?q=${encodeURIComponent(X)}`, `/jobs/${encodeURIComponent(X)}`]) {
    const answer = await request.get(url(`/s/hostile${path}`));
    for (const { name, value } of answer.headersArray()) expect(value, `${name} of ${path}`).not.toMatch(/onerror|__p/);
    expect(answer.headers()['x-content-type-options'], path).toBe('nosniff');
  }
});

test('hovering and focusing everything runs nothing @js', async ({ page }) => {
  for (const path of ['/s/hostile/jobs/3200001', '/s/hostile/jobs?state=failed', '/s/hostile/servers']) {
    await page.goto(url(path));
    await hydrated(page);
    await page.evaluate(() => {
      for (const details of document.querySelectorAll('details')) {
        details.removeAttribute('name');
        details.open = true;
      }
    });
    for (const part of await page.locator('main :is(a, button, summary, input, select, [title], svg[role="img"]):visible').all()) {
      await part.evaluate((element) => (element as HTMLElement).focus());
      await part.hover({ force: true });
    }
    await inert(page);
  }
});

test('the toolbar of a hostile list counts and stays text @js', async ({ page }) => {
  await page.goto(url('/s/hostile/jobs?state=failed'));
  await hydrated(page);
  const boxes = page.locator('tr[data-job] input[type="checkbox"]');
  const all = await boxes.count();
  expect(all).toBeGreaterThan(1);
  await boxes.first().check();
  await expect(page.locator('#sel-count')).toHaveText('1 ticked');
  await page.locator('#sel-all').check();
  await expect(page.locator('#sel-count')).toHaveText(`${all} ticked`);
  await page.getByPlaceholder(/Reason/).fill(X);
  await page.locator('#sel-all').uncheck();
  await expect(page.locator('#sel-count')).toHaveText('Tick rows to act on them');
  await inert(page);
});
