import { expect, test } from '@jest/globals';
import { readNamedPages } from './named-pages.ts';
import { parseTarget } from './targets.ts';

test('the name of the certificate is only that of the benchmarked hosts', async () => {
  const tls = { caFile: null, certFile: null, keyFile: null, serverName: 'model.example', insecure: false };
  const common = { credentials: { headers: { a: '1' }, bearerVariable: null }, tls };
  const pages = ['https://llm:8081', 'https://gpu:9400'].map((url) => ({ target: parseTarget(url) }));
  const targets = await readNamedPages(pages, common, ['https://llm:8000'], {}, () => undefined);
  expect(targets.map(({ access }) => access)).toEqual([
    { headers: { a: '1' }, tls: { servername: 'model.example' } },
    { headers: { a: '1' }, tls: {} },
  ]);
});
