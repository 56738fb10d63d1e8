// Acting: forms without JavaScript and with it, outcomes named on the page they lead back to.

import { expect, test, url } from '../support/test';
import { sql } from '../support/setup';

const post = { headers: { accept: 'application/json' } };

test('requeue from the job page, and the same form again', async ({ page, request }, info) => {
  // Each project has its own failed job of the recorded database: 1 and 2.
  const job = info.project.name === 'js' ? 1 : 2;
  await page.goto(url(`/s/transitions/jobs/${job}`));
  const stateId = await page
    .locator('form[action$="/api/requeue"] input[name="state_id"]')
    .first()
    .inputValue();
  const form = page.locator('form[action$="/api/requeue"]').first();
  const summary = page.locator('summary', { hasText: /Requeue/ }).first();
  if ((await summary.count()) > 0 && !(await form.isVisible())) await summary.click();
  await form.locator('[name="reason"]').fill('supplier is back');
  await form.getByRole('button', { name: /Requeue/ }).click();
  await expect(page).toHaveURL(/done=/);
  await expect(page.locator('[data-outcome="done"]')).toBeVisible();
  await expect(page.locator('main')).toContainText('Enqueued');

  const again = await request.post(url('/api/requeue'), {
    ...post,
    form: { source: 'transitions', job, state: 'Failed', state_id: stateId, reason: 'again' },
  });
  expect(again.status()).toBe(409);
  expect((await again.json()).outcome).toBe('moved');
});

test('a page of another site may not act', async ({ request }) => {
  const form = { source: 'transitions', job: 9, state: 'Succeeded', state_id: 20, reason: '' };
  for (const headers of [
    { origin: 'https://evil.example' },
    { 'sec-fetch-site': 'cross-site' },
    { origin: 'null' },
  ]) {
    const answer = await request.post(url('/api/requeue'), { headers, form });
    expect(answer.status()).toBe(403);
    expect(await answer.text()).toMatch(/another site/);
  }
  expect((await request.get(url('/api/requeue?source=transitions&job=9'))).status()).toBe(405);
});

test('a read-only source refuses, and says why', async ({ page, request }) => {
  await page.goto(url('/s/locked/jobs/2'));
  await expect(page.locator('main')).toContainText(/read-only/);
  const answer = await request.post(url('/api/requeue'), {
    ...post,
    form: { source: 'locked', job: 2, state: 'Failed', state_id: 5, reason: 'x' },
  });
  expect(answer.status()).toBe(422);
  expect((await answer.json()).outcome).toBe('refused');
});

test('ticked rows are requeued together, each with its own outcome @js', async ({ page }) => {
  sql('e2e_operators', 'SELECT 1;');
  await page.goto(url('/s/article/jobs?state=failed'));
  await page.locator('html[data-hydrated]').waitFor({ state: 'attached' });
  for (const box of await page.locator('tr[data-job] input[type="checkbox"]').all()) await box.check();
  await page.getByRole('button', { name: /Requeue/ }).first().click();
  const reason = page.locator('[name="reason"]:visible').first();
  if ((await reason.count()) > 0) await reason.fill('both');
  const confirm = page.getByRole('button', { name: /Requeue/ }).last();
  if (!/done=/.test(page.url())) await confirm.click();
  await expect(page).toHaveURL(/done=.*done=/);
});
