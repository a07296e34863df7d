import { fakeBackend, httpError } from '../../test/backend.ts';
import { ExporterApi } from './exporter-api.ts';

const api = new ExporterApi('/api/datasources/proxy/uid/x/');

async function failure(response: () => unknown): Promise<string> {
  fakeBackend(() => {
    throw response();
  });
  return api.runs().then(
    () => 'no failure',
    (error: Error) => error.message
  );
}

test('lists repeat their parameter, what is empty is left out', async () => {
  const requests = fakeBackend(() => ({ runs: [], page: 1, limit: 100, total: 0 }));
  await api.runs({ scenario: ['a b', 'c&d'], q: '', from: 0, sort: '-start' });
  expect(requests.map(({ pathname, search }) => pathname + search)).toEqual([
    '/api/datasources/proxy/uid/x/api/v1/runs?scenario=a+b&scenario=c%26d&from=0&sort=-start',
  ]);
});

test('run ids are escaped', async () => {
  const requests = fakeBackend(() => ({}));
  await api.run('a/../b');
  expect(requests[0]?.pathname).toBe('/api/datasources/proxy/uid/x/api/v1/runs/a%2F..%2Fb');
});

test.each([
  [502, {}, /cannot reach the exporter.*llmbench serve is running/],
  [403, { detail: 'host x is not allowed' }, /^host x is not allowed\. .*--allowed-hosts/],
  [401, {}, /requires a token/],
  [400, { detail: 'sort: no such column.' }, /^sort: no such column\.$/],
  [418, 'tea', /^The exporter returned HTTP 418\.$/],
])('HTTP %i says what to do', async (status, data, message) => {
  expect(await failure(() => httpError(status, data))).toMatch(message);
});

test('without an answer it is Grafana that cannot be reached', async () => {
  expect(await failure(() => new TypeError('Failed to fetch'))).toMatch(
    /^No response from Grafana: .* \(Failed to fetch\)$/
  );
});

test('something else that answers is not taken for llmbench', async () => {
  fakeBackend(() => '<html>');
  await expect(api.status()).rejects.toThrow(/is not llmbench/);
});
