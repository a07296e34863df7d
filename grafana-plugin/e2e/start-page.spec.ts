import { expect, test } from './support/environment.ts';

for (const theme of ['dark', 'light']) {
  test(`the app's page, ${theme}`, async ({ page, open }) => {
    await open({ view: 'app', theme });
    await expect(page.getByRole('heading', { name: 'Add the panel' })).toBeVisible();
    await expect(page.getByRole('link', { name: 'Add a data source' })).toHaveAttribute(
      'href',
      '/connections/datasources/new'
    );
    await expect(page.getByText('llmbench_run_phase == 1')).toBeVisible();
    await page.screenshot({ path: `screenshots/start-page-${theme}.png` });
  });
}
