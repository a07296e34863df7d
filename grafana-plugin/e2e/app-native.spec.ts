import { expect, test } from './support/environment.ts';
import { keepPicture } from './support/picture.ts';

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
  await keepPicture(page, 'run-native', { fullPage: true });
});

test('buckets with custom bounds: their intervals, and the bounds to add to those of the server', async ({
  page,
  openNative,
  environment,
}) => {
  await openNative('buckets', { server: environment.vllmServer });
  const ttft = page.getByRole('region', { name: 'vllm:time_to_first_token_seconds', exact: true });
  await expect(ttft.getByRole('columnheader', { name: /^n [1-9]/ })).toBeVisible();
  await expect(ttft.getByRole('columnheader', { name: 'within' })).toBeVisible();
  for (const name of ['p50', 'p90', 'p99']) {
    await expect(ttft.getByRole('row', { name: new RegExp(`^${name} .* – .*m?s( \\*)? \\d+ %$`) })).toBeVisible();
  }
  await expect(ttft.getByText(/^Native histogram with custom bounds\. Add .*: no further series\./)).toBeVisible();
  await expect(ttft.getByText(/Set by --custom-histogram-buckets\./)).toBeVisible();
  // Its value holds all bounds, and those without observations are not known.
  await expect(page.getByRole('group', { name: /^Argument --custom-histogram-buckets/ })).toHaveCount(0);
  await expect(page.getByText(/"llmbench buckets URL" reads the bounds/)).toBeVisible();
  await keepPicture(page, 'buckets-native-custom', { fullPage: true });
});

test('exponential buckets: the width of their intervals, and no bucket options', async ({
  page,
  openNative,
  environment,
}) => {
  await openNative('buckets', { server: environment.exponentialServer });
  const prefill = page.getByRole('region', { name: 'vllm:request_prefill_time_seconds', exact: true });
  await expect(prefill.getByRole('columnheader', { name: /^n [1-9]/ })).toBeVisible();
  // 2^(2^-3): Prometheus' own histogram asks for a factor of at most 1.1.
  await expect(
    prefill.getByText(/schema 3: .* 1\.09 times its lower one\. It needs no bucket options\./)
  ).toBeVisible();
  for (const name of ['p50', 'p90', 'p99']) {
    await expect(prefill.getByRole('row', { name: new RegExp(`^${name} .* \\d+ %$`) })).toBeVisible();
  }
  await expect(prefill.locator('[data-proposed]')).toHaveCount(0);
  await expect(page.getByRole('heading', { name: 'Exponential buckets' })).toBeVisible();
  await keepPicture(page, 'buckets-native-exponential', { fullPage: true });
});

test('a server that is no longer scraped: the counts until its last scrape', async ({
  page,
  openNative,
  environment,
}) => {
  await openNative('buckets', { server: environment.stoppedServer });
  await expect(page.getByText(/^Last scrape of this server in the time range/)).toBeVisible();
  const ttft = page.getByRole('region', { name: 'vllm:time_to_first_token_seconds', exact: true });
  await expect(ttft.getByRole('columnheader', { name: 'n 40', exact: true })).toBeVisible();
});

test('servers and runs need no histograms', async ({ page, openNative, environment }) => {
  await openNative('servers');
  const vllm = page.getByRole('region', { name: 'vLLM', exact: true });
  await expect(vllm.getByText('up', { exact: true }).first()).toBeVisible();
  // Grafana has both dashboards of vLLM, and this Prometheus only native histograms.
  await expect(vllm.getByRole('link', { name: 'Dashboard' })).toHaveAttribute('href', /\/d\/llmbench-vllm-native\?/);
  await keepPicture(page, 'servers-native');
  await openNative(`runs/${environment.finished[1]}`, { without: 'llmbench-runs', from: 'now-1h', to: 'now' });
  await expect(page.getByRole('group', { name: 'Time to first token p99' })).toContainText(/\d ms/);
  await expect(page.getByTestId('percentiles chart')).toHaveCount(2);
  await expect(page.getByRole('link', { name: 'Benchmark dashboard' })).toHaveAttribute(
    'href',
    /\/d\/llmbench-benchmark-native\?/
  );
});

test('setup: which histograms are native', async ({ page, openNative }) => {
  await openNative('setup');
  await expect(
    page.getByText(/Stored as native histograms only: .*vllm:time_to_first_token_seconds \(vllm\).* The app reads them/)
  ).toBeVisible();
});
