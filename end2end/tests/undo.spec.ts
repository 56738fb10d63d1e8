// Deleting with its undo, and enqueueing before the due time; job numbers are those of
// app/tests/fixtures/transitions/jobs.json.

import type { Page, TestInfo } from '@playwright/test';
import { databaseOf, query } from '../support/setup';
import { expect, hydrated, test, url } from '../support/test';

const source = (info: TestInfo) => `acted-${info.project.name}`;

async function act(page: Page, info: TestInfo, job: number, slug: string, reason: string): Promise<void> {
  await page.goto(url(`/s/${source(info)}/jobs/${job}`));
  if (info.project.name === 'js') await hydrated(page);
  const form = page.locator(`form.act-f[action$="/api/${slug}"]`);
  const box = page.locator('details.act-d').filter({ has: form });
  await expect(form).toBeHidden();
  await box.locator('summary').click();
  await form.locator('[name="reason"]').fill(reason);
  await form.locator('button[type="submit"]').click();
  await expect(page).toHaveURL(/\?done=[0-9a-f]{32}$/);
  await expect(page.locator('[data-outcome="done"]')).toBeVisible();
}

/** State, reason, and the queue rows of a job. */
const stored = (info: TestInfo, job: number) =>
  query(
    databaseOf(source(info)),
    `SELECT j.statename, s.name, s.reason, (SELECT string_agg(queue, ',') FROM hangfire.jobqueue q WHERE q.jobid = j.id AND q.fetchedat IS NULL)
     FROM hangfire.job j JOIN hangfire.state s ON s.id = j.stateid WHERE j.id = ${job}`,
  )[0].split('|');

test('a delete is undone from where it is announced', async ({ page }, info) => {
  await act(page, info, 1, 'delete', 'by mistake');
  await expect(page.locator('[role="status"][data-outcome]')).toContainText('Deleted job 1: Failed → Deleted');
  expect((await stored(info, 1))[0]).toBe('Deleted');

  await page.getByRole('status').getByRole('button', { name: 'Undo the delete' }).click();
  await expect(page.locator('[role="status"][data-outcome="done"]')).toContainText('Restored job 1: Deleted → Failed');
  await expect(page.getByRole('status').getByRole('button', { name: 'Undo the delete' })).toHaveCount(0);
  expect((await stored(info, 1)).slice(0, 2)).toEqual(['Failed', 'Failed']);
  await page.goto(url(`/s/${source(info)}/jobs?state=failed`));
  await expect(page.locator('tr[data-job="1"]')).toHaveAttribute('data-state', 'Failed');
});

for (const [what, job, queue] of [
  ['scheduled', 11, 'default'],
  ['scheduled, with a queue of its own,', 12, 'reports'],
  ['retrying', 15, 'default'],
] as const) {
  test(`a ${what} job is enqueued now`, async ({ page }, info) => {
    expect((await stored(info, job))[0]).toBe('Scheduled');
    await act(page, info, job, 'enqueue-now', 'cannot wait');
    await expect(page.locator('[role="status"][data-outcome]')).toContainText(`Enqueued now job ${job}: Scheduled → Enqueued`);
    await expect(page.locator('main')).toContainText('cannot wait');
    const [state, row, reason, queued] = await stored(info, job);
    expect([state, row, queued]).toEqual(['Enqueued', 'Enqueued', queue]);
    expect(reason).toContain('cannot wait');
    const planned = query(databaseOf(source(info)), `SELECT count(*) FROM hangfire.set WHERE key IN ('schedule', 'retries') AND value = '${job}'`);
    expect(planned).toEqual(['0']);
  });
}

test('the audit holds what was done here, newest first', async ({ page }, info) => {
  await page.goto(url(`/s/${source(info)}/audit`));
  const rows = page.locator('tr[data-audit]');
  await expect(rows).toHaveCount(5);
  const said = await rows.locator('th').allInnerTexts();
  expect(said.map((text) => text.replace(/\s+/g, ' ').trim())).toEqual([
    'Enqueued now job 15', 'Enqueued now job 12', 'Enqueued now job 11', 'Restored job 1', 'Deleted job 1',
  ]);
  for (const row of await rows.all()) {
    await expect(row).toHaveAttribute('data-outcome', 'done');
    await expect(row).toContainText('ada');
  }
});
