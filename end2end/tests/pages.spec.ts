// What a page says is there without JavaScript, and is the same with it.

import { demo, expect, test, url } from '../support/test';

test('the entry goes to the first source', async ({ page }) => {
  await page.goto(url('/'));
  await expect(page).toHaveURL(url('/s/article'));
});

test('the failed list of the article has job 2, with its cause', async ({ page }) => {
  await page.goto(url('/s/article/jobs?state=failed'));
  const rows = page.locator('tr[data-job]');
  await expect(rows).toHaveCount(2);
  const row = page.locator('tr[data-job="2"]');
  await expect(row).toContainText('SupplierInvoiceJobs.ReconcileAsync');
  await expect(row).toContainText('PermanentJobException');
  await expect(row).toHaveAttribute('data-state', 'Failed');
  await expect(row).toHaveAttribute('data-state-id', '5');
});

test("the article's job 1 shows three attempts", async ({ page }) => {
  await page.goto(url('/s/article/jobs/1'));
  const attempts = page.locator('tr[data-attempt]');
  await expect(attempts).toHaveCount(3);
  const facts = await attempts.evaluateAll((rows) =>
    rows
      .map((row) => ({ ...(row as HTMLElement).dataset }))
      .sort((a, b) => Number(a.attempt) - Number(b.attempt))
      .map((d) => [d.outcome, d.waitedMs, d.ranMs, d.backoffMs]),
  );
  expect(facts.map(([outcome]) => outcome)).toEqual(['failed', 'failed', 'succeeded']);
  // From fixtures/article/expected.json: waited 171, 35, 37; ran 95, 20, 4; planned 1,999 and 5,000.
  expect(facts.map(([, waited]) => Number(waited))).toEqual([171, 35, 37]);
  expect(facts.map(([, , ran]) => Number(ran))).toEqual([95, 20, 4]);
});

test('Older and Newer walk the whole list, each job once', async ({ page }) => {
  const seen: string[] = [];
  const ids = () =>
    page.locator('tr[data-job]').evaluateAll((rows) => rows.map((r) => (r as HTMLElement).dataset.job!));
  await page.goto(demo('/s/main/jobs?state=succeeded&limit=50'));
  for (let n = 0; n < 40; n += 1) {
    seen.push(...(await ids()));
    const older = page.getByRole('link', { name: /Older/, disabled: false });
    if ((await older.count()) === 0) break;
    await older.click();
  }
  expect(seen.length).toBeGreaterThan(100);
  expect(new Set(seen).size).toBe(seen.length);
  expect(seen.map(Number)).toEqual([...seen].map(Number).sort((a, b) => b - a));
});

const refused: [string, string, number, RegExp][] = [
  ['an unknown state', '/s/article/jobs?state=burnt', 400, /burnt/],
  ['a garbage marker', '/s/article/jobs?state=failed&after=garbage', 400, /marker/],
  ['a foreign marker', '/s/article/jobs?state=failed&after=1.5.00000000', 400, /marker/],
  ['an unknown source', '/s/nowhere/jobs', 404, /article/],
  ['an unknown job', '/s/article/jobs/999999', 404, /999999/],
  ['a job id that is no number', '/s/article/jobs/abc', 404, /abc/],
  ['an unknown page', '/nonsense', 404, /nonsense/],
];

for (const [name, path, status, words] of refused) {
  test(`${name} gets a clear answer and a way on`, async ({ page }) => {
    const response = await page.goto(url(path));
    expect(response!.status()).toBe(status);
    await expect(page.locator('main')).toContainText(words);
    await expect(page.locator('main a').first()).toBeVisible();
  });
}

test('hostile text is text', async ({ page }) => {
  const requests: string[] = [];
  page.on('request', (request) => requests.push(new URL(request.url()).pathname));
  for (const path of ['/s/hostile', '/s/hostile/jobs?state=failed', '/s/hostile/jobs/3200001', '/s/hostile/servers']) {
    await page.goto(url(path));
    const reached = await page.evaluate('window.__p').catch(() => undefined);
    expect(reached).toBeUndefined();
  }
  expect(requests.filter((path) => path.endsWith('/x'))).toEqual([]);
});
