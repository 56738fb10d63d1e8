// Acting: forms without JavaScript and with it, outcomes named on the page they lead back to.

import { expect, hydrated, test, url } from '../support/test';

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
  await page.goto(url('/s/ticked/jobs?state=failed'));
  await hydrated(page);
  const rows = page.locator('tr[data-job]');
  await expect(rows).toHaveCount(2);
  for (const box of await rows.locator('input[type="checkbox"]').all()) await box.check();
  await expect(page.locator('main')).toContainText('2 ticked');
  await page.getByPlaceholder(/Reason/).fill('both');
  await page.getByRole('button', { name: /Requeue/ }).first().click();
  await expect(page).toHaveURL(/done=.*done=/);
  await expect(page.locator('main')).toContainText(/2 .*(done|requeued)/i);
  await expect(page.locator('tr[data-job][data-state="Failed"]')).toHaveCount(0);
});
