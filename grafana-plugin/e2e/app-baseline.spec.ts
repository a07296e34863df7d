import AxeBuilder from '@axe-core/playwright';
import { expect, test } from './support/environment.ts';
import { keepPicture } from './support/picture.ts';

test('an editor accepts, pins and drops runs with a reason, under the own login', async ({ page, openJudged }) => {
  await openJudged('trends', { scenario: 'changing', role: 'Editor' });
  const changes = page.getByRole('region', { name: 'Changes of the baseline' });
  await expect(changes).toContainText('No run was accepted, pinned or dropped yet.');
  await changes.getByRole('button', { name: 'Change baseline' }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog).toContainText('your login, ana');
  const accept = dialog.getByRole('button', { name: /^Accept \d runs?$/ });
  await expect(accept).toBeDisabled();
  await dialog.getByRole('combobox', { name: 'Runs' }).click();
  await page.getByRole('option', { name: /changing-0/ }).click();
  await page.getByRole('option', { name: /changing-1/ }).click();
  await page.keyboard.press('Escape');
  await expect(accept).toBeDisabled();
  await dialog.getByRole('textbox', { name: 'Reason' }).fill('first baseline of "changing" & more');
  await keepPicture(page, 'baseline-dialog');
  await accept.click();
  await expect(dialog).toBeHidden();
  await expect(changes.getByRole('row').nth(1)).toContainText('first baseline of "changing" & more');
  await expect(changes.getByRole('row').nth(1)).toContainText('ana');
  await expect(page.getByText('Baseline: 2 accepted runs, none pinned')).toBeVisible();

  await page.getByRole('checkbox', { name: 'Select run changing-1' }).check({ force: true });
  await page.getByRole('status').getByRole('button', { name: 'Change baseline' }).click();
  // It is accepted already: accepting it again would change nothing.
  await expect(dialog.getByRole('button', { name: 'Accept 0 runs' })).toBeDisabled();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await expect(dialog).toBeHidden();
  await page.getByRole('status').getByRole('button', { name: 'Change baseline' }).click();
  await dialog.getByRole('radio', { name: 'Drop' }).check({ force: true });
  await dialog.getByRole('combobox', { name: 'Runs' }).click();
  await page.getByRole('option', { name: /changing-1/ }).click();
  await page.keyboard.press('Escape');
  await dialog.getByRole('textbox', { name: 'Reason' }).fill('disturbed by maintenance');
  await dialog.getByRole('button', { name: 'Drop 1 run' }).click();
  await expect(page.getByText('Baseline: 1 accepted runs, none pinned')).toBeVisible();
  await expect(changes.getByRole('row').nth(1)).toContainText('disturbed by maintenance');
});

test('an open regression: its runs are offered as the new baseline', async ({ page, openJudged }) => {
  await openJudged('trends', { scenario: 'release' });
  await page.getByRole('button', { name: 'Accept these runs' }).click();
  await expect(page.getByRole('dialog').getByRole('button', { name: 'Accept 6 runs' })).toBeVisible();
});

test('a viewer sees the history, and no way to change it', async ({ page, openJudged }) => {
  await openJudged('trends', { scenario: 'release', role: 'Viewer', picked: 'release-3' });
  await expect(page.getByRole('region', { name: 'Changes of the baseline' })).toContainText('first baseline');
  await expect(page.getByRole('link', { name: /^Open 2026-01-04/ })).toBeVisible();
  await expect(page.getByRole('button', { name: /baseline|Accept/i })).toHaveCount(0);
});

test('an exporter that allows no changes: how to switch them on', async ({ page, openApp }) => {
  await openApp('trends', { scenario: 'chat' });
  await page.getByRole('button', { name: 'Change baseline' }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog).toContainText('The exporter does not allow changes');
  await expect(dialog).toContainText(
    'llmbench-observability serve --api-token-file api-token --allow-baseline-changes'
  );
  await keepPicture(page, 'baseline-off');
});

test.describe('with errors', () => {
  test.use({ allowed: [/Failed to load resource/] });

  const REFUSALS: Array<[who: string, status: number, body: string, reported: RegExp]> = [
    ['Grafana', 403, '{"message":"plugin proxy route access denied"}', /requires the role Editor/],
    ['the exporter, for the token', 400, 'Authentication to data source failed', /enter the content of the file/],
    ['the exporter, since the last start', 403, '{"detail":"changes over HTTP are not allowed"}', /--allow-baseline/],
    ['the exporter, for the run', 400, '{"detail":"x is failed: only completed runs"}', /^.*x is failed: only compl/],
  ];
  for (const [who, status, body, reported] of REFUSALS) {
    test(`refused by ${who}: the reason, and the form as it was`, async ({ page, openJudged }) => {
      await page.route('**/scenarios/release/baseline', (route) =>
        route.fulfill({ status, body, contentType: body.startsWith('{') ? 'application/json' : 'text/plain' })
      );
      await openJudged('trends', { scenario: 'release' });
      await page.getByRole('button', { name: 'Accept these runs' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('textbox', { name: 'Reason' }).fill('intended');
      await dialog.getByRole('button', { name: 'Accept 6 runs' }).click();
      await expect(dialog.getByRole('alert')).toContainText(reported);
      await expect(dialog.getByRole('textbox', { name: 'Reason' })).toHaveValue('intended');
    });
  }
});

test.describe('with axe, which defines a module', () => {
  test.use({ allowed: [/named-register/] });

  test('axe finds nothing in the dialog', async ({ page, openJudged }) => {
    await openJudged('trends', { scenario: 'release', theme: 'light' });
    await page.getByRole('button', { name: 'Accept these runs' }).click();
    await expect(page.getByRole('dialog').getByRole('button', { name: 'Accept 6 runs' })).toBeVisible();
    const { violations } = await new AxeBuilder({ page }).include('[role="dialog"]').analyze();
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)).toEqual([]);
    await keepPicture(page, 'baseline-dialog-light');
  });
});
