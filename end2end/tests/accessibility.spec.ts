// axe finds nothing on any page, in both themes, on a desk and on a phone. (Needs scripts: axe is one.)

import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { gate, type Gate } from '../support/gate';
import { database, recorded, redrive, stop, type Redrive } from '../support/setup';
import { demo, expect, hydrated, test, url } from '../support/test';

const pages: [string, () => string][] = [
  ['overview', () => demo('/s/main')],
  ['failed jobs', () => demo('/s/main/jobs?state=failed')],
  ['jobs in every state', () => demo('/s/main/jobs')],
  ['retrying jobs', () => demo('/s/main/jobs?state=retrying')],
  ['an empty list', () => url('/s/article/jobs?state=awaiting')],
  ['a list filtered to nothing', () => url('/s/article/jobs?state=failed&queue=nowhere')],
  ['a job that recovered', () => url('/s/article/jobs/1')],
  ['a job that failed for good', () => url('/s/article/jobs/2')],
  ['a job that was interrupted', () => url('/s/workers/jobs/2')],
  ['a job that people requeued', () => url('/s/operators/jobs/2')],
  ['a job with a planned retry', () => url('/s/policies/jobs/8')],
  ['a hostile job', () => url('/s/hostile/jobs/3200001')],
  ['stale claims', () => demo('/s/main/claims?status=stale')],
  ['all claims', () => demo('/s/main/claims?status=all')],
  ['claims of several tables', () => url('/s/claims-read/claims?status=sending')],
  ['a claims table that is not there', () => url('/s/claims-read/claims?table=typo')],
  ['no claims table', () => url('/s/article/claims')],
  ['a job with a claim', () => url('/s/claims-read/jobs/2')],
  ['servers', () => demo('/s/main/servers')],
  ['audit', () => demo('/s/main/audit')],
  ['a read-only source', () => url('/s/locked/jobs/2')],
  ['no such job', () => url('/s/article/jobs/999999')],
  ['no such source', () => url('/s/nowhere')],
  ['no such page', () => url('/nonsense')],
  ['a malformed request', () => url('/s/article/jobs?state=burnt')],
];

/** axe finds nothing on a desk and on a phone. */
async function clean(page: Page): Promise<void> {
  for (const width of [1440, 390]) {
    await page.setViewportSize({ width, height: 900 });
    const { violations } = await new AxeBuilder({ page }).analyze();
    const found = violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.target).join(' ; ')}`);
    expect(found, `at ${width} px`).toEqual([]);
  }
}

const themes = ['light', 'dark'] as const;

for (const colorScheme of themes) {
  test(`a claim's dialog, ${colorScheme} @js`, async ({ page }) => {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.goto(url('/s/claims-read/claims?status=stale'));
    await page.locator('.acts button[popovertarget]').first().click();
    await expect(page.locator('[popover]:popover-open')).toBeVisible();
    await clean(page);
  });
}

for (const [name, at] of pages) {
  for (const colorScheme of themes) {
    test(`${name}, ${colorScheme} @js`, async ({ page }) => {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await page.goto(at());
      await clean(page);
    });
  }
}

test('outcomes of several jobs, and their audit @js', async ({ page }) => {
  test.setTimeout(60_000);
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.goto(url('/s/outcomes/jobs?state=failed'));
  await hydrated(page);
  await page.locator('#sel-all').check();
  await page.getByPlaceholder(/Reason/).fill('both');
  // One of them changes in between: the outcomes differ.
  const moved = await page.request.post(url('/api/delete'), {
    form: { source: 'outcomes', job: 2, state: 'Failed', state_id: 5, reason: '' },
  });
  expect(moved.status()).toBe(200);
  await page.getByRole('button', { name: /^Requeue/ }).first().click();
  await expect(page.locator('main')).toContainText('Requeue: 1 of 2 done');
  const several = page.url();
  for (const at of [several, url('/s/outcomes/audit')]) {
    for (const colorScheme of themes) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await page.goto(at);
      await clean(page);
    }
  }
});

for (const colorScheme of themes) {
  test(`a request of another site, ${colorScheme} @js`, async ({ page }) => {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    const action = url('/api/requeue');
    // The browser itself says that this form is another site's.
    await page.route('http://evil.example/', (route) =>
      route.fulfill({ contentType: 'text/html', body: `<form method="post" action="${action}"><button>Go</button></form>` }),
    );
    await page.goto('http://evil.example/');
    const answer = page.waitForResponse(action);
    await page.getByRole('button', { name: 'Go' }).click();
    expect((await answer).status()).toBe(403);
    await expect(page.locator('main')).toContainText('another site');
    await clean(page);
  });
}

test.describe('the database away', () => {
  let way: Gate;
  let server: Redrive;

  test.beforeAll(async () => {
    way = await gate(database('away-axe', recorded('article')));
    server = await redrive(['serve', '--database', way.url]);
  });

  test.afterAll(async () => {
    await stop(server);
    way.close();
  });

  for (const colorScheme of themes) {
    test(`says so accessibly, ${colorScheme} @js`, async ({ page }) => {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      way.shut();
      // It would ask for itself again while axe is looking.
      await page.route('**/jobs/1', async (route) => {
        const response = await route.fetch();
        const { refresh, ...headers } = response.headers();
        expect(refresh).toBe('5');
        await route.fulfill({ response, headers });
      });
      const answer = await page.goto(`${server.url}/s/main/jobs/1`);
      expect(answer!.status()).toBe(503);
      await clean(page);
    });
  }
});
