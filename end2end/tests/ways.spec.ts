// More than colour tells states and outcomes apart, pictures have words, and a narrow window cuts
// nothing off.

import type { Page } from '@playwright/test';
import { demo, expect, test, url } from '../support/test';

const STATES = ['Enqueued', 'Scheduled', 'Retrying', 'Processing', 'Awaiting', 'Succeeded', 'Failed', 'Deleted'];

/** Pages whose attempts ended in each way that recorded jobs have. */
const JOBS = ['/s/spent/jobs/400001', '/s/article/jobs/1', '/s/workers/jobs/2', '/s/operators/jobs/2', '/s/policies/jobs/8'];

const OUTCOMES: Record<string, RegExp> = {
  succeeded: /succeeded/i, failed: /failed/i, cancelled: /cancelled/i, lost: /interrupted/i,
  orphaned: /orphaned/i, 'put-back': /put back/i, running: /running/i, unknown: /unknown/i,
};

test('the numbers of the picture stand in words and in the table', async ({ page }) => {
  await page.goto(url('/s/spent/jobs/400001'));
  const facts = await page.locator('tr[data-attempt]').evaluateAll((rows) =>
    rows
      .map((row) => ({ ...(row as HTMLElement).dataset }))
      .sort((a, b) => Number(a.attempt) - Number(b.attempt))
      .map((d) => [d.outcome, d.waitedMs, d.ranMs, d.backoffMs].map((v) => v ?? '')),
  );
  expect(facts.map(([outcome]) => outcome)).toEqual(['failed', 'failed', 'failed', 'failed']);
  expect(facts.map(([, waited]) => waited)).toEqual(['200', '300', '250', '500']);
  expect(facts.map(([, , ran]) => ran)).toEqual(['1000', '800', '1000', '400']);
  const backoffs = facts.map(([, , , backoff]) => backoff).filter((ms) => ms !== '');
  expect(backoffs).toEqual(['10000', '20000']);
  const table = page.locator('table').filter({ has: page.locator('tr[data-attempt]') });
  for (const words of ['200 ms', '300 ms', '250 ms', '500 ms', '10 s planned', '20 s planned']) await expect(table).toContainText(words);

  const drawings = page.locator('svg.tl');
  expect(await drawings.count()).toBeGreaterThan(0);
  for (const drawing of await drawings.all()) {
    await expect(drawing).toHaveAttribute('role', 'img');
    const labelled = await drawing.getAttribute('aria-labelledby');
    const title = await drawing.locator(`#${labelled}`).textContent();
    expect(title).toContain('4 attempts (4 failed)');
  }
  // Narrow drawings leave labels out rather than let them collide; the wide one has them all.
  for (const words of ['200 ms', '300 ms', '250 ms', '500 ms']) await expect(page.locator('svg.tl-x')).toContainText(words);
});

/** Each state and outcome that a page marks has a word beside its mark or inside of it. */
async function words(page: Page): Promise<void> {
  const marks = await page.locator('main .mark, main .pill').evaluateAll((all) =>
    all.map((mark) => ({
      words: (mark.textContent + ' ' + (mark.nextElementSibling?.textContent ?? '')).trim(),
      shape: mark.querySelector('svg use')?.getAttribute('href') ?? '',
      at: mark.outerHTML.slice(0, 200),
    })),
  );
  expect(marks.length).toBeGreaterThan(0);
  for (const mark of marks) {
    expect(mark.words, mark.at).toMatch(/[a-z]{4,}/i);
    expect(mark.shape, mark.at).toMatch(/#./);
  }
  for (const row of await page.locator('tr[data-attempt]').all()) {
    const outcome = (await row.getAttribute('data-outcome'))!;
    await expect(row).toContainText(OUTCOMES[outcome]);
  }
  // A mark of the line has a shape of its own for each way to end.
  const ends = await page.locator('svg.tl-mark').evaluateAll((all) =>
    all.map((mark) => [mark.getAttribute('class')!.replace('tl-mark ', ''), mark.querySelector('use')!.getAttribute('href')!]),
  );
  const shapes = new Map(ends as [string, string][]);
  expect(new Set(shapes.values()).size).toBe(shapes.size);
}

for (const [name, prepare] of [
  ['forced colours', async (page: Page) => page.emulateMedia({ forcedColors: 'active' })],
  ['no colour at all', async (page: Page) => {
    const session = await page.context().newCDPSession(page);
    await session.send('Emulation.setEmulatedVisionDeficiency', { type: 'achromatopsia' });
  }],
] as const) {
  test(`with ${name}, words and shapes tell states and outcomes apart`, async ({ page }) => {
    await prepare(page);
    for (const path of JOBS) {
      await page.goto(url(path));
      await words(page);
      const key = page.locator('.tl-key');
      for (const word of ['waited in its queue', 'backoff', 'running']) await expect(key).toContainText(word);
    }
    await page.goto(demo('/s/main/jobs'));
    await words(page);
    for (const row of await page.locator('tr[data-job]').all()) {
      const state = (await row.getAttribute('data-state'))!;
      await expect(row).toContainText(state === 'Scheduled' ? /Scheduled|Retrying/ : new RegExp(state));
    }
    const tabs = page.getByRole('navigation', { name: 'State', exact: true });
    for (const state of STATES) await expect(tabs).toContainText(state);
  });
}

test('in forced colours bars keep an edge or a fill that differs from the ground', async ({ page }) => {
  await page.emulateMedia({ forcedColors: 'active' });
  for (const path of JOBS) {
    await page.goto(url(path));
    const seen = await page.locator('svg.tl:visible').evaluate((drawing) => {
      const ground = getComputedStyle(document.body).backgroundColor;
      const differs = (paint: string) => paint !== 'none' && paint !== ground && !/^rgba\(.*, 0\)$/.test(paint);
      return [...drawing.querySelectorAll('rect.tl-run, path.tl-queue, path.tl-wait')].map((piece) => {
        const { fill, stroke } = getComputedStyle(piece);
        return differs(stroke) || (piece.tagName === 'rect' && differs(fill)) || `${piece.getAttribute('class')}: ${fill}, ${stroke} on ${ground}`;
      });
    });
    expect(seen.length).toBeGreaterThan(0);
    expect(seen.filter((piece) => piece !== true)).toEqual([]);
  }
});

const NARROW: [string, () => string][] = [
  ['list', () => demo('/s/main/jobs?state=failed')],
  ['list of every state', () => demo('/s/main/jobs')],
  ['job', () => url('/s/spent/jobs/400001')],
  ['job with a planned retry', () => url('/s/policies/jobs/8')],
  ['servers', () => demo('/s/main/servers')],
  ['audit', () => demo('/s/main/audit')],
  ['overview', () => demo('/s/main')],
  ['no such job', () => url('/s/article/jobs/999999')],
  ['hostile job', () => url('/s/hostile/jobs/3200001')],
];

for (const [name, at] of NARROW) {
  test(`at 400 % (320 px) nothing of the ${name} is cut off, and every control has a name`, async ({ page }) => {
    await page.setViewportSize({ width: 320, height: 256 });
    await page.goto(at());
    const folded = page.locator('details.act-d summary');
    const forms = await folded.count();
    for (let open = 0; open <= forms; open += 1) {
      if (open > 0) await folded.nth(open - 1).click();
      const [wide, room] = await page.evaluate(() => {
        const root = document.documentElement;
        return [root.scrollWidth, root.clientWidth];
      });
      expect(wide).toBeLessThanOrEqual(room);
      const tree = await page.locator('body').ariaSnapshot();
      expect(tree).toMatch(/^\s*- (button|link) "/m);
      const nameless = /^\s*- (button|link|checkbox|radio|textbox|combobox|img)(:| \[|$).*/gm;
      expect(tree.match(nameless) ?? []).toEqual([]);
    }
  });
}
