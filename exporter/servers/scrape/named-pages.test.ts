import { expect, test } from '@jest/globals';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readNamedPages } from './named-pages.ts';
import { parseTarget } from './targets.ts';

test('the name of the certificate is only that of the benchmarked hosts', async () => {
  const tls = { caFile: null, certFile: null, keyFile: null, serverName: 'model.example', insecure: false };
  const common = { credentials: { headers: { a: '1' }, bearerVariable: null }, tls };
  const pages = ['https://llm:8081', 'https://gpu:9400'].map((url) => ({ target: parseTarget(url) }));
  const { targets } = await readNamedPages(pages, common, ['https://llm:8000'], {}, () => undefined);
  expect(targets.map(({ access }) => access)).toEqual([
    { headers: { a: '1' }, tls: { servername: 'model.example' } },
    { headers: { a: '1' }, tls: {} },
  ]);
});

test('a service discovery is requested with the credentials of the pages that it lists', async () => {
  const sent: (string | undefined)[] = [];
  const discovery = createServer(({ headers }, response) => {
    sent.push(headers.authorization);
    response.end(JSON.stringify([{ targets: ['gpu:9400'] }]));
  });
  await new Promise<void>((resolve) => discovery.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(discovery.address() as AddressInfo).port}/sd`;
  const tls = { caFile: null, certFile: null, keyFile: null, serverName: null, insecure: false };
  const common = { credentials: { headers: {}, bearerVariable: 'TOKEN' }, tls };
  const pages = [{ search: { kind: 'http-sd', url } as const }];
  try {
    const { targets } = await readNamedPages(pages, common, [], { TOKEN: 'abc' }, () => undefined);
    expect(sent).toEqual(['Bearer abc']);
    expect(targets).toMatchObject([
      { url: 'http://gpu:9400/metrics', access: { headers: { authorization: 'Bearer abc' } } },
    ]);
  } finally {
    discovery.close();
  }
});
