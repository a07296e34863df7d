import { expect, test, describe } from '@jest/globals';
import { metricsServer, listenAt, pagePort, negotiatePythonPage } from './site.ts';

const HOST = '127.0.0.1';
const page = () => metricsServer('text/plain', () => 'up 1\n');

test('the default port is taken if it is free; then it is kept', async () => {
  const [first, second] = [page(), page()];
  const free = await first.listen(0, HOST);
  await first.close();
  const address = pagePort(free, true);
  await listenAt(second, address, HOST);
  expect(address.port).toBe(free);
  await second.close();
  const occupant = page();
  await occupant.listen(free, HOST);
  await expect(listenAt(page(), address, HOST)).rejects.toThrow('EADDRINUSE');
  await occupant.close();
});

test('another one is taken if the default port is in use, and it serves', async () => {
  const [occupant, server] = [page(), page()];
  const taken = await occupant.listen(0, HOST);
  const address = pagePort(taken, true);
  await listenAt(server, address, HOST);
  expect(address.port).not.toBe(taken);
  expect(await (await fetch(`http://${HOST}:${address.port}/metrics`)).text()).toBe('up 1\n');
  await Promise.all([occupant.close(), server.close()]);
});

test('a free port, unless the default one is wanted', () => {
  expect(pagePort(8002)).toEqual({ port: 0, isPreferred: false });
});

const PAGE = [
  '# HELP sglang:a_total He said "x" and\\nback\\\\slash',
  '# TYPE sglang:a_total counter',
  'sglang:a_total{m="q\\"uo:te\\n\\\\"} 2.0',
  '# HELP sglang:h H',
  '# TYPE sglang:h histogram',
  'sglang:h_bucket{le="0.5",m="z"} 0.0',
  'sglang:h_bucket{le="+Inf",m="z"} 1.0',
  '',
].join('\n');

// What `choose_encoder` of prometheus_client 0.26 answers to each header, and writes for the same families.
const OPEN_METRICS = [
  '# HELP sglang:a He said \\"x\\" and\\nback\\\\slash',
  '# TYPE sglang:a counter',
  'sglang_a_total{m="q\\"uo:te\\n\\\\"} 2.0',
  '# HELP sglang:h H',
  '# TYPE sglang:h histogram',
  'sglang_h_bucket{le="0.5",m="z"} 0.0',
  'sglang_h_bucket{le="+Inf",m="z"} 1.0',
  '# EOF',
  '',
].join('\n');

const PROMETHEUS_2 =
  'application/openmetrics-text;version=1.0.0;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2';
const PROMETHEUS_3 =
  'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3';

describe('the format is the first one of the header that the client knows', () => {
  test.each<[string | undefined, string]>([
    [undefined, 'text/plain; version=0.0.4; charset=utf-8'],
    ['*/*', 'text/plain; version=0.0.4; charset=utf-8'],
    ['text/plain;version=0.0.4', 'text/plain; version=0.0.4; charset=utf-8'],
    ['application/openmetrics-text;version=0.0.1', 'text/plain; version=0.0.4; charset=utf-8'],
    ['text/plain;version=1.0.0', 'text/plain; version=1.0.0; charset=utf-8; escaping=underscores'],
    [PROMETHEUS_2, 'application/openmetrics-text; version=1.0.0; charset=utf-8; escaping=underscores'],
    ['application/openmetrics-text', 'application/openmetrics-text; version=1.0.0; charset=utf-8'],
    [PROMETHEUS_3, 'application/openmetrics-text; version=1.0.0; charset=utf-8; escaping=allow-utf-8'],
  ])('%s', (accept, contentType) => {
    expect(negotiatePythonPage(accept, PAGE).contentType).toBe(contentType);
  });
});

test('text is unchanged', () => {
  expect(negotiatePythonPage('text/plain;version=1.0.0', PAGE).body).toBe(PAGE);
});

test('OpenMetrics without colons in the names of samples, or with them where the scraper allows it', () => {
  expect(negotiatePythonPage(PROMETHEUS_2, PAGE).body).toBe(OPEN_METRICS);
  expect(negotiatePythonPage(PROMETHEUS_3, PAGE).body).toBe(OPEN_METRICS.replace(/^sglang_/gm, 'sglang:'));
});
