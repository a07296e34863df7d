import { expect, test } from './support/environment.ts';

test('the page of a run draws its percentiles from native histograms, with the phases', async ({
  page,
  openNative,
  environment,
}) => {
  await openNative(`runs/${environment.finished[1]}`);
  const panels = page.getByRole('region', { name: 'Percentiles over time' });
  await expect(panels.getByTestId('percentiles chart')).toHaveCount(2);
  await expect(panels.locator('path[data-part="line"]')).toHaveCount(6);
  // Differences of raw counts, as of classic histograms.
  await expect(panels.getByText(/^Bounds are guaranteed/)).toHaveCount(2);
  await expect(panels.locator('[data-region*="measure"]').first()).toBeAttached();
  await page.screenshot({ path: 'screenshots/run-native.png', fullPage: true });
});
