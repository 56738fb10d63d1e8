// 120 jobs whose rows all have the same microsecond: pages part them, each job once, in both directions.

import type { Page } from '@playwright/test';
import { databaseOf, query, sql } from '../support/setup';
import { expect, test, url } from '../support/test';

const ids = (page: Page) =>
  page.locator('tr[data-job]').evaluateAll((rows) => rows.map((row) => Number((row as HTMLElement).dataset.job)));

const pager = (page: Page, which: 'prev' | 'next') => page.locator(`nav.pager a[rel="${which}"]`);

/** Presses Older or Newer until there is none; the pages in the order they were seen. */
async function walk(page: Page, which: 'prev' | 'next'): Promise<number[][]> {
  const pages = [await ids(page)];
  while ((await pager(page, which).count()) > 0 && pages.length < 10) {
    await pager(page, which).click();
    pages.push(await ids(page));
  }
  return pages;
}

const range = (from: number, to: number) => Array.from({ length: from - to + 1 }, (_, n) => from - n);

test('Older to the end and Newer back are the same pages', async ({ page }, info) => {
  await page.goto(url(`/s/ties-${info.project.name}/jobs?state=failed&limit=50`));
  const older = await walk(page, 'next');
  expect(older).toEqual([range(1200120, 1200071), range(1200070, 1200021), range(1200020, 1200001)]);
  const newer = await walk(page, 'prev');
  expect(newer).toEqual([older[2], older[1], older[0]]);
});

test('the last row of a page may vanish before the next page is asked for', async ({ page }, info) => {
  const source = `ties-${info.project.name}`;
  await page.goto(url(`/s/${source}/jobs?state=failed&limit=50`));
  const first = await ids(page);
  const anchor = first[first.length - 1];
  sql(databaseOf(source), `DELETE FROM hangfire.job WHERE id = ${anchor};`);
  expect(query(databaseOf(source), 'SELECT count(*) FROM hangfire.job')).toEqual(['119']);
  const answer = page.waitForResponse((response) => response.request().isNavigationRequest());
  await pager(page, 'next').click();
  expect((await answer).status()).toBe(200);
  const rest = await walk(page, 'next');
  expect(rest).toEqual([range(1200070, 1200021), range(1200020, 1200001)]);
});
