// Every test fails when the page logs an error, throws, or breaks the content security policy.

import { test as base, expect, type Page } from '@playwright/test';

export { expect };

export const test = base.extend<{ complaints: string[] }>({
  complaints: [
    async ({ page }, use) => {
      const complaints: string[] = [];
      page.on('console', (message) => {
        // Chromium logs every answer of 400 and above; the tests assert statuses themselves.
        const status = message.text().startsWith('Failed to load resource');
        if (message.type() === 'error' && !status) complaints.push(message.text());
      });
      page.on('pageerror', (error) => complaints.push(String(error)));
      await use(complaints);
      expect(complaints).toEqual([]);
    },
    { auto: true },
  ],
});

export const url = (path: string): string => `${process.env.REDRIVE_URL}${path}`;
export const demo = (path: string): string => `${process.env.REDRIVE_DEMO_URL}${path}`;

/** Waits until the islands of the page live. */
export async function hydrated(page: Page): Promise<void> {
  await page.locator('html[data-hydrated]').waitFor({ state: 'attached' });
}
