import { readFileSync } from 'node:fs';

import { describe, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';

import { catalogs, isAlwaysExposed, labelsOf, loadCatalog, loadCatalogHead, systems } from './load.ts';
import { FamilyIndex } from './lookup.ts';
import type { CatalogFamily } from './types.ts';
import { compareVersions, isVersion } from './versions.ts';

const json = (file: string): unknown => JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8'));

const schema = json('./schema.json') as object;
const validate = new Ajv2020({ allErrors: true, strict: true, strictRequired: false }).compile(schema);

/** The families that must never vanish from a catalog, by system. */
const required = json('./required-families.json') as Record<string, string[]>;

function ascending(bounds: readonly number[]): boolean {
  return bounds.every((bound, i) => i === 0 || bound > (bounds[i - 1] ?? Infinity));
}

/** Base units are seconds, bytes, tokens and ratios from 0 to 1; these words name other units. */
const NOT_BASE = /^((milli|micro|nano|kilo|mega|giga|mebi|gibi|kibi|tera)\w+|minutes|hours|days|percent|permille)$/;

describe('schema', () => {
  const catalog = loadCatalog('vllm');
  const family = {
    name: 'a',
    type: 'gauge',
    unit: 'items',
    labels: [],
    group: 'g',
    help: 'h',
    exposed: 'always',
    when: 'always',
  };
  const histogram = { ...family, type: 'histogram', buckets: [1], per: 'request' };

  test.each<[string, object]>([
    ['a key that it does not know', { ...family, seed: true }],
    ['a histogram without buckets', { ...family, type: 'histogram', per: 'request' }],
    ['a histogram that does not define one observation', { ...histogram, per: undefined }],
    ['an operation without a name', { ...histogram, per: 'operation' }],
    ['a doubt without a reason', { ...histogram, per: 'unknown' }],
    ['buckets on a gauge', { ...family, buckets: [1] }],
    ['quantiles on a gauge', { ...family, quantiles: [0.5] }],
    ['a base unit without its factor', { ...family, base_unit: 'seconds' }],
    ['mixed units without the values they belong to', { ...family, unit: 'mixed' }],
    ['a name that Prometheus refuses', { ...family, name: '9lives' }],
    ['a label that Prometheus refuses', { ...family, labels: ['a-b'] }],
  ])('refuses %s', (_case, broken) => {
    expect(validate({ ...catalog, families: [family, histogram] })).toBe(true);
    expect(validate({ ...catalog, families: [broken] })).toBe(false);
  });
});

describe.each(systems())('%s', (system) => {
  const catalog = loadCatalog(system);

  test('follows the schema', () => {
    validate(catalog);
    expect(validate.errors).toBeNull();
  });

  test('has the head that is read without its families', () => {
    const head = loadCatalogHead(system);
    const rest = Object.keys(catalog).filter((key) => !(key in head));
    expect(['families', 'fields', 'notes', 'official_dashboards', 'pages']).toEqual(expect.arrayContaining(rest));
    expect(catalog).toMatchObject(head);
  });

  test('marks as required exactly the families of catalog/required-families.json', () => {
    const marked = [
      ...catalog.families.filter((family) => family.required).map(({ name }) => name),
      ...(catalog.fields ?? []).filter((field) => field.required).map(({ path }) => path),
    ];
    expect(marked.sort()).toEqual([...(required[system] ?? ['the system is not in required-families.json'])].sort());
  });

  test('names each family once, in whatever spelling', () => {
    const index = new FamilyIndex([catalog]);
    const shared = catalog.families.filter(({ name }) => index.find(name).length !== 1);
    expect(shared).toEqual([]);
  });

  test('states the base unit and the factor of each other unit', () => {
    const wrong = catalog.families.filter(
      ({ unit, base_unit }) => NOT_BASE.test(unit) !== (base_unit !== undefined) || NOT_BASE.test(base_unit ?? ''),
    );
    expect(wrong).toEqual([]);
  });

  test('gives a unit for each value of the label that decides it', () => {
    for (const { units_by_label_value, labels, label_values } of catalog.families) {
      if (units_by_label_value === undefined) continue;
      expect(labels).toHaveLength(1);
      expect(Object.keys(units_by_label_value).sort()).toEqual([...(label_values?.[labels[0] ?? ''] ?? [])].sort());
    }
  });

  test('gives bucket bounds in ascending order and finite', () => {
    const wrong = (family: CatalogFamily): boolean =>
      Array.isArray(family.buckets) &&
      !(ascending(family.buckets as number[]) && family.buckets.every(Number.isFinite));
    expect(catalog.families.filter(wrong)).toEqual([]);
  });

  test('names the histograms whose bounds an option sets, each once, with the placeholders of the option', () => {
    const histograms = catalog.families.filter(({ type }) => type === 'histogram').map(({ name }) => name);
    const options = catalog.bucket_options ?? [];
    const set = options.flatMap(({ sets }) => sets.flatMap(({ families }) => families));
    const named = [...set, ...(catalog.bucket_options_unknown ?? [])];
    expect(histograms).toEqual(expect.arrayContaining(named));
    expect(new Set(named).size).toBe(named.length);
    for (const { name, part, takes, sets } of options) {
      const needed = takes === 'list' ? ['{bounds}'] : ['{min}', '{max}', '{count}'];
      expect([name, ...needed.filter((placeholder) => !part.includes(placeholder))]).toEqual([name]);
      expect(sets.every(({ key }) => (key !== undefined) === part.includes('{key}'))).toBe(true);
    }
  });

  test('gives values only for labels that the family has, and omits only common ones', () => {
    for (const family of catalog.families) {
      const labels = [...family.labels, ...(family.optional_labels ?? []), ...catalog.common_labels];
      expect(labels).toEqual(expect.arrayContaining(Object.keys(family.label_values ?? {})));
      expect(catalog.common_labels).toEqual(expect.arrayContaining([...(family.omit_labels ?? [])]));
    }
  });

  test('names as former ones only families of the same kind, each of one family, which the newest release lacks', () => {
    const former = catalog.families.flatMap((family) => (family.formerly ?? []).map((name) => ({ family, name })));
    expect(new Set(former.map(({ name }) => name)).size).toBe(former.length);
    for (const { family, name } of former) {
      const before = catalog.families.find((candidate) => candidate.name === name);
      const { type, unit, per = null } = family;
      expect({ name, type: before?.type, unit: before?.unit, per: before?.per ?? null }).toEqual({
        name,
        type,
        unit,
        per,
      });
    }
  });

  test('states releases within those that it was compared with', () => {
    const { versions } = catalog;
    if (versions === undefined) return;
    const outside = catalog.families.filter(({ since, until }) =>
      [since, until].some(
        (version) =>
          isVersion(version) &&
          (compareVersions(version, versions.oldest) <= 0 || compareVersions(version, versions.newest) > 0),
      ),
    );
    expect(outside.map(({ name }) => name)).toEqual([]);
  });

  test('covers every family of the dashboards that the system ships, or states that it ships none', () => {
    const index = new FamilyIndex([catalog]);
    const unknown = (catalog.official_dashboards ?? [])
      .flatMap(({ panels }) => panels)
      .filter(({ metrics }) => metrics.some((name) => name !== 'up' && index.find(name).length === 0));
    expect(unknown.filter(({ shape }) => !shape.includes('does not exist'))).toEqual([]);
  });
});

/** Counted in the upstream pages and sources, apart from these files. */

test('every system is in the list of required families and the other way round', () => {
  expect(Object.keys(required).sort()).toEqual(systems());
});

test('counters of the Python client end in _total', () => {
  const python = ['vllm', 'sglang', 'lmcache', 'trtllm', 'trtllm-disagg'].map(loadCatalog);
  const counters = python.flatMap(({ families }) => families).filter(({ type }) => type === 'counter');
  expect(counters.length).toBeGreaterThan(200);
  expect(counters.filter(({ name }) => !name.endsWith('_total'))).toEqual([]);
});

test('one observation is unknown only where no definition was found', () => {
  const unknown = catalogs().flatMap(({ families }) => families.filter(({ per }) => per === 'unknown'));
  expect(unknown.map(({ name }) => name)).toEqual([
    'dynamo_frontend_tokenizer_latency_ms',
    'dynamo_component_router_inter_token_latency_seconds',
    'sglang:encoder_preprocess_seconds',
    'sglang:encoder_model_forward_seconds',
    'sglang:encoder_transfer_seconds',
    'sglang:time_per_output_token_seconds',
    'ctx_per_token_latency_seconds',
    'gen_per_token_latency_seconds',
    'mme_per_token_latency_seconds',
  ]);
});

/** The names in the sources and the documentation of each server. */
test.each([
  ['vllm', 'vllm:time_to_first_token_seconds', '--custom-histogram-buckets'],
  ['sglang', 'sglang:inter_token_latency_seconds', '--bucket-inter-token-latency'],
  ['sglang', 'sglang:uncached_prompt_tokens_histogram', '--prompt-tokens-buckets'],
  ['sglang', 'sglang:eviction_duration_seconds', 'SGLANG_BUCKET_EVICTION_DURATION'],
  ['sglang', 'sglang:queue_time_seconds', null],
  ['dynamo', 'dynamo_frontend_cached_tokens', 'DYN_METRICS_INPUT_SEQUENCE_{MIN,MAX,COUNT}'],
  ['dynamo', 'dynamo_frontend_stage_duration_seconds', null],
  ['dynamo-router', 'dynamo_component_router_time_to_first_token_seconds', null],
  ['trtllm', 'trtllm_time_to_first_token_seconds', 'prometheus_metrics_config'],
  ['triton', 'nv_inference_first_response_histogram_ms', 'model_metrics'],
  ['smg', 'smg_router_ttft_seconds', '--prometheus-duration-buckets'],
  ['lmcache', 'lmcache:time_to_retrieve', 'extra_config: histogram_bucket_*'],
])('%s: the option that sets the bounds of %s is %s', (system, family, name) => {
  const options = loadCatalog(system).bucket_options ?? [];
  const found = options.filter(({ sets }) => sets.some(({ families }) => families.includes(family)));
  expect(found.map((option) => option.name)).toEqual(name === null ? [] : [name]);
});

describe('vllm', () => {
  const catalog = loadCatalog('vllm');

  test('defines one observation of its latencies', () => {
    const per = (name: string) => catalog.families.find((family) => family.name === name)?.per;
    expect(per('vllm:time_to_first_token_seconds')).toBe('request');
    expect(per('vllm:request_time_per_output_token_seconds')).toBe('request');
    expect(per('vllm:inter_token_latency_seconds')).toBe('token');
    expect(per('vllm:iteration_tokens_total')).toBe('step');
  });

  test('a family is always exposed when its text states it', () => {
    const says = ({ when }: CatalogFamily): boolean => /^(registered )?always\b/.test(when);
    expect(catalog.families.filter(isAlwaysExposed)).toEqual(catalog.families.filter(says));
  });

  test('labels of a series are common and own ones, sorted', () => {
    const family = (name: string): CatalogFamily => {
      const found = catalog.families.find((candidate) => candidate.name === name);
      if (!found) throw new Error(name);
      return found;
    };
    expect(labelsOf(catalog, family('vllm:request_success_total'))).toEqual([
      'engine',
      'finished_reason',
      'model_name',
    ]);
    expect(labelsOf(catalog, family('vllm:admission_rejections_total'))).toEqual(['model_name', 'reason']);
  });
});

test('a name that is no system, or has no file, is refused', () => {
  expect(() => loadCatalog('../package')).toThrow('is not the name of a system');
  for (const file of ['equivalents', 'explanations'])
    expect(() => loadCatalog(file)).toThrow('is not the name of a system');
  expect(() => loadCatalog('nosuch')).toThrow('ENOENT');
  expect(() => loadCatalogHead('nosuch')).toThrow('ENOENT');
});
