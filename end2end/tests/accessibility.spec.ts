// axe finds nothing on any page, in both themes, on a desk and on a phone. (Needs scripts: axe is one.)

import AxeBuilder from '@axe-core/playwright';
import { demo, expect, test, url } from '../support/test';

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
  ['servers', () => demo('/s/main/servers')],
  ['audit', () => demo('/s/main/audit')],
  ['a read-only source', () => url('/s/locked/jobs/2')],
  ['no such job', () => url('/s/article/jobs/999999')],
  ['no such source', () => url('/s/nowhere')],
  ['no such page', () => url('/nonsense')],
  ['a malformed request', () => url('/s/article/jobs?state=burnt')],
];

for (const [name, at] of pages) {
  for (const colorScheme of ['light', 'dark'] as const) {
    test(`${name}, ${colorScheme} @js`, async ({ page }) => {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      for (const width of [1440, 390]) {
        await page.setViewportSize({ width, height: 900 });
        await page.goto(at());
        const { violations } = await new AxeBuilder({ page }).analyze();
        const found = violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.target).join(' ; ')}`);
        expect(found, `at ${width} px`).toEqual([]);
      }
    });
  }
}
