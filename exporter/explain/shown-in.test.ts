import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { readUses, usesOf } from './shown-in.ts';
import type { Uses } from './shown-in.ts';

let folder = '';
let uses: Uses;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'llmbench-uses-'));
  const board = {
    title: 'Board',
    uid: 'board',
    panels: [
      { title: 'TTFT', targets: [{ expr: 'histogram_quantile(0.9, sum by (le) (rate(x_seconds_bucket[1m])))' }] },
      { title: 'Row', panels: [{ title: 'In a row', targets: [{ expr: 'y_total' }, {}] }] },
      { title: 'By rule', targets: [{ expr: 'system:z:rate1m{system="vllm"}' }] },
      { title: 'Text' },
    ],
  };
  await writeFile(join(folder, 'board.json'), JSON.stringify(board));
  await writeFile(join(folder, 'package.json'), '{"name": "no dashboard"}');
  const rules =
    'groups:\n  - name: g\n    rules:\n      - {record: "system:z:rate1m", expr: "rate(z_total[1m])"}\n      - {alert: YHigh, expr: y_total > 1}\n';
  await writeFile(join(folder, 'rules.yml'), rules);
  const url = pathToFileURL(`${folder}/`);
  uses = await readUses(url, url);
});

afterAll(() => rm(folder, { recursive: true }));

test.each([
  ['a histogram by its buckets', 'x_seconds', ['TTFT'], []],
  ['a panel in a row, and an alert', 'y_total', ['In a row'], ['YHigh']],
  ['through a recording rule', 'z_total', ['By rule'], ['system:z:rate1m']],
])('%s', (_case, family, panels, rules) => {
  expect(usesOf(family, uses)).toEqual({ dashboards: [{ dashboard: 'Board', uid: 'board', panels }], rules });
});

test.each(['x', 'x_seconds_b', 'seconds', 'y', 'z'])('a part of a name (%s) is another name', (family) => {
  expect(usesOf(family, uses)).toEqual({ dashboards: [], rules: [] });
});

test('missing folders hold nothing', async () => {
  const nowhere = pathToFileURL(join(folder, 'nowhere/'));
  expect(await readUses(nowhere, nowhere)).toEqual({ dashboards: [], rules: [] });
});
