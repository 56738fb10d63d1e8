// Claims: what is known of each, and settling them with and without JavaScript. The recorded jobs 2
// to 4 claimed, died and succeeded by skipping; the provider delivered only invoice-email:45.

import type { Locator, Page, TestInfo } from '@playwright/test';
import { databaseOf, query } from '../support/setup';
import { demo, expect, hydrated, test, url } from '../support/test';

const post = { headers: { accept: 'application/json' } };

const source = (info: TestInfo, kind = 'claims') => `${kind}-${info.project.name}`;

const row = (page: Page, key: string): Locator => page.locator(`tr[data-claim="${key}"]`);

/** Status and message id of a key in the database; nothing where its row is gone. */
const stored = (source: string, key: string) =>
  query(
    databaseOf(source),
    `SELECT "Status", coalesce("ProviderMessageId", '') FROM public."OutgoingEmails" WHERE "IdempotencyKey" = '${key}'`,
  );

const state = (source: string, job: number) =>
  query(databaseOf(source), `SELECT statename FROM hangfire.job WHERE id = ${job}`)[0];

async function open(page: Page, info: TestInfo, kind = 'claims', more = ''): Promise<void> {
  await page.goto(url(`/s/${source(info, kind)}/claims?status=stale${more}`));
  if (info.project.name === 'js') await hydrated(page);
}

/** The dialog of a row, opened as a person would. */
async function settle(page: Page, key: string, button: string): Promise<Locator> {
  await row(page, key).locator('.acts').getByRole('button', { name: button }).click();
  const dialog = page.locator('[popover]:popover-open');
  await expect(dialog).toBeVisible();
  return dialog;
}

test('stale claims tell how they came to be', async ({ page }, info) => {
  await open(page, info);
  for (const key of ['invoice-email:44', 'invoice-email:46']) {
    await expect(row(page, key)).toHaveAttribute('data-status', 'sending');
    await expect(row(page, key)).toContainText('Succeeded by skipping');
    await expect(row(page, key).getByRole('link', { name: /InvoiceEmailJob/ })).toBeVisible();
  }
  await expect(page.locator('#ret')).toHaveText('Retention');
  await expect(page.locator('figcaption')).toContainText('younger than the cut-off of 10 min');
  await expect(page.locator('main img')).toHaveCount(0);
});

test('the list of another cut-off has a URL of its own', async ({ page }, info) => {
  await open(page, info);
  await page.getByLabel('Stale after').fill('90 d');
  await page.getByRole('button', { name: 'Show' }).click();
  await expect(page).toHaveURL(/cutoff=90(\+|%20)d/);
  await expect(page.locator('.msg h2')).toHaveText('No claim is Sending for longer than 90 d');
  await page.getByRole('link', { name: 'Stale after 10 min' }).click();
  await expect(row(page, 'invoice-email:44')).toBeVisible();
});

test('the provider is asked, and what it delivered is marked as sent', async ({ page }, info) => {
  const key = 'invoice-email:45';
  await open(page, info);
  await (await settle(page, key, 'Ask')).getByRole('button', { name: 'Ask the provider' }).click();
  await expect(page).toHaveURL(/done=/);
  await expect(page.locator('.flash')).toContainText('Asked the provider about claim invoice-email:45');
  await expect(row(page, key)).toContainText('Provider knows the key as msg-0002');

  const dialog = await settle(page, key, 'Sent');
  await expect(dialog.getByLabel(/message id/)).toHaveValue('msg-0002');
  await dialog.locator('[name="reason"]').fill('the provider says so');
  await dialog.getByRole('button', { name: 'Mark as sent' }).click();
  await expect(page.locator('.flash[data-outcome="done"]')).toContainText('Marked as sent');
  await expect(row(page, key)).toHaveCount(0);
  expect(stored(source(info), key)).toEqual(['1|msg-0002']);
  await page.goto(url(`/s/${source(info)}/audit`));
  await expect(page.locator('tr[data-audit]').first()).toContainText('the provider says so');
});

test('what may be delivered twice wants a tick and a reason', async ({ page }, info) => {
  const key = 'invoice-email:46';
  await open(page, info);
  await expect(row(page, key)).toHaveAttribute('data-verdict', 'unknown');
  const dialog = await settle(page, key, 'Release');
  await expect(dialog).toContainText('Resending may deliver it twice');
  await dialog.getByRole('button', { name: 'Release' }).click();
  // The browser itself holds it back.
  await expect(page).not.toHaveURL(/done=/);
  await dialog.getByLabel(/may receive it twice/).check();
  await dialog.locator('[name="reason"]').fill('the customer has nothing');
  await dialog.getByRole('button', { name: 'Release' }).click();
  await expect(page.locator('.flash[data-outcome="done"]')).toContainText('Released claim invoice-email:46');
  expect(stored(source(info), key)).toEqual(['']);
  expect(state(source(info), 4)).toBe('Enqueued');
});

test('the same action again finds nothing to do', async ({ page }, info) => {
  const key = 'invoice-email:44';
  await open(page, info);
  const dialog = await settle(page, key, 'Reclaim');
  const seen = await dialog.locator('[name="claimed_at"]').inputValue();
  await dialog.getByLabel(/may receive it twice/).check();
  await dialog.locator('[name="reason"]').fill('nothing left');
  await dialog.getByRole('button', { name: 'Reclaim' }).click();
  await expect(page.locator('.flash[data-outcome="done"]')).toContainText('Reclaimed claim invoice-email:44');
  expect(state(source(info), 2)).toBe('Enqueued');
  const again = await page.request.post(url('/api/reclaim'), {
    ...post,
    form: { source: source(info), claims: 'emails', key, claimed_at: seen, reason: 'again', may_deliver_twice: 'true' },
  });
  expect(again.status()).toBe(404);
  expect((await again.json()).outcome).toBe('gone');
});

test('a hostile key stays text, and is settled like any other', async ({ page }, info) => {
  await open(page, info);
  const hostile = page.locator('tr[data-claim*="script"]');
  await expect(hostile.locator('th b')).toContainText('</script><img src=x>');
  await hostile.locator('.acts').getByRole('button', { name: 'Sent' }).click();
  const dialog = page.locator('[popover]:popover-open');
  await dialog.locator('[name="reason"]').fill('seen in the inbox');
  await dialog.getByRole('button', { name: 'Mark as sent' }).click();
  await expect(page.locator('.flash')).toContainText('Mark');
  expect(query(databaseOf(source(info)), `SELECT "Status" FROM public."OutgoingEmails" WHERE "IdempotencyKey" LIKE '%script%'`)).toEqual(['1']);
});

test('old Sent claims are purged, and only those', async ({ page }, info) => {
  await open(page, info);
  await page.getByRole('button', { name: 'Purge now' }).click();
  const dialog = page.locator('#purge');
  await expect(dialog).toContainText('2 Sent rows claimed more than 30 d ago');
  await dialog.getByRole('button', { name: 'Purge', exact: true }).click();
  await expect(page.locator('.flash[data-outcome="done"]')).toContainText('Purged');
  expect(query(databaseOf(source(info)), `SELECT count(*) FROM public."OutgoingEmails" WHERE "ProviderMessageId" LIKE 'msg-old%'`)).toEqual(['0']);
  expect(stored(source(info), 'invoice-email:3')).toEqual(['1|msg-new']);
});

test('what is safe is reclaimed together', async ({ page }, info) => {
  const of = source(info, 'bulk');
  await open(page, info, 'bulk');
  // A denial by a look-up that remembers for ever proves that nothing was sent.
  for (const key of ['invoice-email:44', 'invoice-email:46']) {
    const seen = await row(page, key).getAttribute('data-claimed-at');
    const asked = await page.request.post(url('/api/ask-provider'), { ...post, form: { source: of, claims: 'emails', key, claimed_at: seen! } });
    expect(asked.status()).toBe(200);
  }
  await open(page, info, 'bulk');
  await expect(page.locator('#bulk')).toContainText('2 claims here cannot be ticked, because their outcome is unknown');
  await expect(row(page, 'invoice-email:45').locator('.c-x input')).toBeDisabled();
  for (const key of ['invoice-email:44', 'invoice-email:46']) {
    await expect(row(page, key)).toHaveAttribute('data-verdict', 'safe');
    await row(page, key).locator('.c-x input').check();
  }
  if (info.project.name === 'js') await expect(page.locator('#sel-count')).toHaveText('2 ticked');
  await page.locator('#bulk').getByPlaceholder(/Reason/).fill('both');
  await page.locator('#bulk').getByRole('button', { name: /Reclaim/ }).click();
  await expect(page.locator('.flash')).toContainText('Reclaim: 2 of 2 done');
  expect([state(of, 2), state(of, 4)]).toEqual(['Enqueued', 'Enqueued']);
  expect(stored(of, 'invoice-email:45')).toEqual(['0|']);
});

test("a job's page shows its claim and warns before a requeue", async ({ page }) => {
  await page.goto(url('/s/claims-read/jobs/2'));
  await expect(page.locator('[data-claim="invoice-email:44"]')).toHaveAttribute('data-status', 'sending');
  await expect(page.locator('form[action$="/api/requeue"] .note').filter({ hasText: 'invoice-email:44' })).toHaveCount(1);
  await page.getByRole('link', { name: 'invoice-email:44' }).click();
  await expect(page.locator('tr[data-claim]')).toHaveCount(1);
});

test('without a claims table the page says how to begin', async ({ page }) => {
  await page.goto(url('/s/article/claims'));
  await expect(page.locator('main')).toContainText('CREATE TABLE outgoing_emails');
  await expect(page.locator('main')).toContainText('[[source.claims]]');
});

test('a configured table that is not there is named, with what exists', async ({ page }) => {
  await page.goto(url('/s/claims-read/claims?table=typo'));
  await expect(page.locator('main')).toContainText('OutgoingEmails');
  await expect(page.locator('main form')).toHaveCount(0);
});

test("the demo's claims are within reach", async ({ page }) => {
  await page.goto(demo('/s/main'));
  await page.locator('nav.nav').getByRole('link', { name: /Claims/ }).click();
  await expect(page.locator('h1')).toHaveText('Claims');
  await expect(page.locator('tr[data-claim]').first()).toBeVisible();
});
