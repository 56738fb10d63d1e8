// What lives in the browser: the theme, the time zone. Without scripts nothing of it is missed.

import { expect, hydrated, test, url } from '../support/test';

test.use({ timezoneId: 'Asia/Kolkata', colorScheme: 'light' });

test('the theme goes round, and is kept over a reload @js', async ({ page }) => {
  await page.goto(url('/s/article'));
  const root = page.locator('html');
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const press = async (theme: string | null) => {
    await hydrated(page);
    await page.getByRole('button', { name: 'Change theme' }).click();
    for (const again of [false, true]) {
      if (again) await page.reload();
      if (theme === null) await expect(root).not.toHaveAttribute('data-theme');
      else await expect(root).toHaveAttribute('data-theme', theme);
    }
    return ground();
  };
  const system = await ground();
  expect(await press('dark')).not.toBe(system);
  expect(await press('light')).toBe(system);
  expect(await press(null)).toBe(system);
  await page.emulateMedia({ colorScheme: 'dark' });
  expect(await ground()).not.toBe(system);
});

test('times change to the zone of the browser and back @js', async ({ page }) => {
  await page.goto(url('/s/spent/jobs/400001'));
  await hydrated(page);
  const clock = page.locator('time[data-t="clock"][datetime="2026-11-02T11:15:00.900Z"]').first();
  const exact = page.locator('time[data-t="exact"]').first();
  await expect(clock).toHaveText('11:15:00.900');
  await expect(clock).toHaveAttribute('title', '2 Nov 2026, 11:15:00.900 UTC');
  const before = await exact.innerText();
  expect(before).toMatch(/ UTC$/);

  await page.locator('.tz').getByText('Local').click();
  await expect(clock).toHaveText('16:45:00.900');
  await expect(clock).toHaveAttribute('title', '2 Nov 2026, 16:45:00.900 UTC+5:30');
  await expect(exact).toHaveText(/ UTC\+5:30$/);

  await page.locator('.tz').getByText('UTC', { exact: true }).click();
  await expect(clock).toHaveText('11:15:00.900');
  await expect(exact).toHaveText(before);
});

test('every time names its whole instant, with or without scripts', async ({ page }) => {
  await page.goto(url('/s/spent/jobs?state=failed'));
  const times = page.locator('main time[datetime]');
  expect(await times.count()).toBeGreaterThan(0);
  for (const title of await times.evaluateAll((all) => all.map((t) => t.getAttribute('title')))) {
    expect(title).toMatch(/^\d{1,2} [A-Z][a-z]{2} \d{4}, \d\d:\d\d:\d\d\.\d{3} UTC$/);
  }
  const ofJobs = page.locator('main tr[data-job] time[datetime]').filter({ hasText: /ago$/ });
  await expect(ofJobs.first()).toHaveAttribute('title', '2 Nov 2026, 11:15:00.900 UTC');
});
