import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test, afterAll, beforeAll } from '@jest/globals';
import { catalogs } from '../../catalog/load.ts';
import { findFamilies } from '../../catalog/lookup.ts';
import {
  explainFamily,
  readUses,
  usesOf,
  type FamilyExplanation,
  type Uses,
  familyText,
} from './family-explanation.ts';

describe('family explanation', () => {
  const NO_USES = { dashboards: [], rules: [] };

  function explained(name: string, system: string): FamilyExplanation {
    const match = findFamilies(name).find(({ catalog }) => catalog.system === system);
    if (match === undefined) throw new Error(`${system} has no ${name}`);
    return explainFamily(match, NO_USES);
  }

  test('a mean per request is compared with means per request only', () => {
    const [quantity] = explained('trtllm_time_per_output_token_seconds', 'trtllm').equivalents;
    expect(quantity).toMatchObject({
      quantity: 'time_per_output_token',
      per: 'request',
      measure: 'inter_token_latency',
    });
    const others = quantity?.others.map(({ family }) => family);
    expect(others).toContain('vllm:request_time_per_output_token_seconds');
    expect(others).not.toContain('vllm:inter_token_latency_seconds');
    expect(others).not.toContain('trtllm_time_per_output_token_seconds');
  });

  test('facts of a family that is neither histogram nor in base units', () => {
    expect(explained('nv_inference_queue_duration_us', 'triton')).toMatchObject({
      type: 'counter',
      unit: 'microseconds',
      base_unit: 'seconds',
      factor: 0.000001,
      per: null,
      buckets: null,
      labels: ['model', 'version'],
      required: true,
    });
  });

  test('a system that is going takes its families with it', () => {
    expect(explained('kvbm_matched_tokens', 'kvbm').deprecated).toMatch(/^as a whole since Dynamo 1\.5\.0/);
  });

  describe('text', () => {
    test('of a histogram', () => {
      const text = familyText(explained('sglang:time_to_first_token_seconds', 'sglang'), 100);
      expect(text).toMatch(/^sglang:time_to_first_token_seconds\n {2}Time from arrival/);
      expect(text).toMatch(/^ {2}system {7}SGLang \(catalog sglang\)$/m);
      expect(text).toMatch(/^ {2}one value is one request$/m);
      expect(text).toMatch(/^ {2}buckets {6}0\.1 0\.2 0\.4 /m);
      expect(text).toMatch(/^ {2}equivalents {2}vllm: vllm:time_to_first_token_seconds/m);
      expect(text).toMatch(/^ {2}shown in {5}no dashboard$/m);
    });

    test('of units that depend on a label, of other types, of a doubt', () => {
      expect(familyText(explained('nv_trt_llm_kv_cache_block_metrics', 'triton-trtllm-backend'), 200)).toContain(
        'fraction in ratio',
      );
      expect(familyText(explained('smg_router_ttft_seconds', 'smg'), 200)).toContain(
        'histogram; summary in the gateway',
      );
      expect(familyText(explained('ctx_per_token_latency_seconds', 'trtllm-disagg'), 200)).toContain(
        'not known: one gap',
      );
      expect(familyText(explained('trtllm_iter_latency_seconds', 'trtllm-iteration-stats'), 200)).toContain(
        'iterLatencyMS',
      );
    });

    test('of every family there is: no empty value, no line longer than a word allows', () => {
      for (const catalog of catalogs())
        for (const family of catalog.families) {
          const text = familyText(explainFamily({ catalog, family }, NO_USES), 100);
          expect(text).not.toMatch(/\bundefined\b|\[object|^ {2}(type|unit|labels|buckets|group|exposed|shown in) *$/m);
          const long = text.split('\n').filter((line) => line.length > 100);
          expect(long.filter((line) => line.slice(15).includes(' '))).toEqual([]);
        }
    });
  });
});

describe('shown in', () => {
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
});
