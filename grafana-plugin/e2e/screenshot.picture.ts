import { fileURLToPath } from 'node:url';
import { test } from './support/environment.ts';
import { legendRows } from './support/legend.ts';

// Taken on request only (npm run screenshot): a picture that changed with every run would change the repository.
const QUERY = 'llmbench_time_to_first_token_seconds_bucket{run_id="overloaded"}';

test('the picture of the README', async ({ browser, environment }) => {
  const page = await browser.newPage({ viewport: { width: 1216, height: 456 }, deviceScaleFactor: 1.5 });
  const parameters = new URLSearchParams({
    query: QUERY,
    step: '1',
    // The second run, from its first observation to its last.
    from: String(environment.fromMs + 16_000),
    to: String(environment.fromMs + 37_000),
    height: '440',
    options: JSON.stringify({ slo: 1.25 }),
  });
  await page.goto(`${environment.hostUrl}/?${parameters}`);
  await legendRows(page);
  await page.evaluate(() => document.fonts.ready);
  await page.screenshot({ path: fileURLToPath(new URL('../src/img/screenshot-percentiles.png', import.meta.url)) });
  await page.close();
});
