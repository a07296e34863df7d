import type { Route } from '@playwright/test';
import { expect, test } from './support/environment.ts';
import { keepPicture } from './support/picture.ts';

const QUERIES = '**/api/datasources/proxy/uid/prometheus/api/v1/query?**';
const TTFT = 'vllm:time_to_first_token_seconds';

const queryOf = (route: Route) => new URL(route.request().url()).searchParams.get('query') ?? '';

const empty = { status: 'success', data: { resultType: 'vector', result: [] } };

test('intervals, bounds to add, and the option of the server to copy', async ({ page, openApp }) => {
  await openApp('buckets');
  await expect(page.getByRole('combobox', { name: 'Server' })).toHaveValue(/^127\.0\.0\.1:\d+$/);
  const ttft = page.getByRole('region', { name: TTFT, exact: true });
  await expect(ttft.getByRole('row')).toHaveCount(4);
  await expect(ttft.getByRole('columnheader', { name: /^n [1-9]/ })).toBeVisible();
  await expect(ttft.getByRole('columnheader', { name: 'within' })).toBeVisible();
  // The engine's bounds: every interval begins and ends at one of them.
  for (const name of ['p50', 'p90', 'p99']) {
    await expect(ttft.getByRole('row', { name: new RegExp(`^${name} .* – .*m?s( \\*)? \\d+ %$`) })).toBeVisible();
  }
  const proposed = await ttft
    .locator('[data-proposed]')
    .evaluateAll((lines) => lines.map((line) => Number(line.getAttribute('data-proposed'))));
  expect(proposed.length).toBeGreaterThan(0);
  const setting = page.getByRole('group', { name: /^Argument --custom-histogram-buckets/ });
  const text = await setting.innerText();
  const written = JSON.parse(/'(.*)'/s.exec(text)?.[1] ?? '{}') as Record<string, number[]>;
  expect(written['time_to_first_token']).toEqual(expect.arrayContaining([0.001, 2560, ...proposed]));
  expect(written['time_to_first_token']).toEqual([...(written['time_to_first_token'] ?? [])].sort((a, b) => a - b));
  await expect(ttft.getByText('Set by --custom-histogram-buckets.')).toBeVisible();
  await expect(
    page.getByRole('region', { name: 'http_request_duration_seconds', exact: true }).getByText(/has no option for it/)
  ).toBeVisible();
  await keepPicture(page, 'buckets', { fullPage: true });
});

test('the counts are those of Prometheus between both ends of the time range', async ({
  page,
  openApp,
  environment,
}) => {
  const response = async (query: string, at: number) => {
    const url = new URL('/api/datasources/proxy/uid/prometheus/api/v1/query', environment.appUrl);
    url.search = String(new URLSearchParams({ query, time: `${at / 1000}` }));
    const { data } = (await (await fetch(url)).json()) as {
      data: { result: Array<{ metric: Record<string, string>; value: [number, string] }> };
    };
    return data.result[0];
  };
  const [from, to] = [Date.now() - 32_000, Date.now() - 2000];
  const server = await response(`group by (instance) (${TTFT}_count{job="vllm"})`, to);
  await openApp('buckets', { from, to, server: `vllm/${server?.metric['instance']}` });
  const ttft = page.getByRole('region', { name: TTFT, exact: true });
  await expect(ttft.getByRole('columnheader', { name: /^n / })).toBeVisible();
  const count = async (at: number) => Number((await response(`sum(${TTFT}_count{job="vllm"})`, at))?.value[1]);
  const expected = (await count(to)) - (await count(from));
  expect(expected).toBeGreaterThan(0);
  await expect(ttft.getByRole('columnheader', { name: `n ${expected}`, exact: true })).toBeVisible();
});

test('a server that is no longer scraped: the counts until its last scrape', async ({ page, openApp, environment }) => {
  await openApp('buckets', { server: environment.stoppedServer });
  await expect(page.getByText(/^Last scrape of this server in the time range: 20\d\d-\d\d-\d\d \d\d:/)).toBeVisible();
  const ttft = page.getByRole('region', { name: TTFT, exact: true });
  // All requests that it was sent.
  await expect(ttft.getByRole('columnheader', { name: 'n 40', exact: true })).toBeVisible();
  await expect(ttft.getByRole('columnheader', { name: 'within' })).toBeVisible();
  await page.getByRole('combobox', { name: 'Server' }).click();
  await expect(page.getByRole('option', { name: /job stopped, not scraped at the end/ })).toBeVisible();
  await page.keyboard.press('Escape');
  await keepPicture(page, 'buckets-stopped', { fullPage: true });
});

test('works without the exporter, and from the keyboard', async ({ page, openApp }) => {
  await openApp('buckets', { without: 'llmbench-runs' });
  const copy = page.getByRole('button', { name: /^Copy: Argument --custom-histogram-buckets/ });
  await copy.focus();
  await expect(copy).toBeFocused();
  const server = page.getByRole('combobox', { name: 'Server' });
  await server.focus();
  await page.keyboard.press('ArrowDown');
  await expect(page.getByRole('option', { name: /job / }).first()).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('region', { name: TTFT, exact: true })).toBeVisible();
});

test('families that were reset in the time range are estimated', async ({ page, openApp }) => {
  await page.route(QUERIES, async (route) => {
    if (!queryOf(route).startsWith('sum(resets(')) {
      return route.fallback();
    }
    const result = [{ metric: {}, value: [Date.now() / 1000, '1'] }];
    return route.fulfill({ json: { status: 'success', data: { resultType: 'vector', result } } });
  });
  await openApp('buckets');
  const ttft = page.getByRole('region', { name: TTFT, exact: true });
  await expect(ttft.getByRole('columnheader', { name: 'bucket of the estimate' })).toBeVisible();
  await expect(page.getByText(/which does not bound the percentile/)).toBeVisible();
});

test('no server: a link to the setup', async ({ page, openApp }) => {
  await openApp('buckets', { from: Date.UTC(2020, 0, 1), to: Date.UTC(2020, 0, 2) });
  await expect(page.getByText(/scraped no histogram of a known inference server/)).toBeVisible();
  await expect(page.getByRole('link', { name: 'How to scrape servers' })).toHaveAttribute('href', /\/setup/);
});

test('no Prometheus: a link to the setup', async ({ page, openApp }) => {
  await openApp('buckets', { without: ['prometheus', 'llmbench-runs'] });
  await expect(page.getByText('No Prometheus data source is configured')).toBeVisible();
});

test('a server that is not scraped', async ({ page, openApp }) => {
  await openApp('buckets', { server: 'vllm/nowhere:1' });
  await expect(page.getByText('Prometheus did not scrape this server in this time range')).toBeVisible();
});

test('a server whose histograms counted nothing', async ({ page, openApp }) => {
  await page.route(QUERIES, (route) =>
    queryOf(route).startsWith('{__name__=~".+_bucket"') ? route.fulfill({ json: empty }) : route.fallback()
  );
  await openApp('buckets');
  await expect(page.getByText('The histograms of this server counted nothing in this time range')).toBeVisible();
});

test.describe('with errors', () => {
  test.use({ allowed: [/Failed to load resource/] });

  test('a Prometheus that fails: its message, and another attempt', async ({ page, openApp }) => {
    const response = { status: 'error', errorType: 'timeout', error: 'query timed out' };
    await page.route(QUERIES, (route) => route.fulfill({ status: 503, json: response }));
    await openApp('buckets');
    await expect(page.getByText('The Prometheus query failed')).toBeVisible();
    await expect(page.getByText(/query timed out/)).toBeVisible();
    await page.unroute(QUERIES);
    await page.getByRole('button', { name: 'Try again' }).click();
    await expect(page.getByRole('region', { name: TTFT, exact: true })).toBeVisible();
  });
});
