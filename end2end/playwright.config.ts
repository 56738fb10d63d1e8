import { defineConfig } from '@playwright/test';

const launchOptions = {
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: [
    '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
    '--disable-background-networking', '--disable-component-update', '--disable-sync',
  ],
};

export default defineConfig({
  testDir: 'tests',
  globalSetup: './support/setup.ts',
  // Two cores, one server: more workers would only wait for each other.
  workers: 2,
  fullyParallel: false,
  forbidOnly: true,
  reporter: [['list']],
  timeout: 30_000,
  use: { browserName: 'chromium', launchOptions, viewport: { width: 1440, height: 900 } },
  projects: [
    { name: 'js' },
    { name: 'nojs', use: { javaScriptEnabled: false }, grepInvert: /@js/ },
  ],
});
