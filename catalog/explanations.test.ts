import { readFileSync } from 'node:fs';

import { describe, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'yaml';

import { GOODPUT_MEASURES } from '../core/measures/goodput.ts';
import { DISTRIBUTION_MEASURES } from '../core/measures/measures.ts';
import { SCALAR_MEASURES } from '../core/measures/scalar-measures.ts';
import { signalRules } from './explanations.ts';
import { loadCatalog } from './load.ts';
import type { CatalogFamily } from './types.ts';

const read = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8');

function familyOf(system: string, name: string): CatalogFamily {
  const found = loadCatalog(system).families.find((family) => family.name === name);
  if (found === undefined) throw new Error(`${system} has no ${name}`);
  return found;
}

test('follows the schema', () => {
  const validate = new Ajv2020({ allErrors: true, strict: true, strictRequired: false }).compile(
    JSON.parse(read('./explanations.schema.json')) as object,
  );
  validate(parse(read('./explanations.yaml')));
  expect(validate.errors).toBeNull();
});

test.each(['vllm', 'sglang', 'trtllm', 'triton', 'dynamo'])('%s has signals for each symptom that gates', (system) => {
  const own = signalRules().filter(({ families }) => families.some((family) => family.system === system));
  const explained = new Set(own.flatMap(({ symptoms }) => symptoms));
  for (const symptom of ['time_to_first_token', 'inter_token_latency', 'output_token_throughput', 'goodput']) {
    expect(explained).toContain(symptom);
  }
});

test('each signal once', () => {
  const names = signalRules().map(({ signal }) => signal);
  expect(new Set(names).size).toBe(names.length);
});

describe.each(signalRules().map((rule) => [rule.signal, rule] as const))('%s', (_name, rule) => {
  test('names measures that exist', () => {
    const known = [...DISTRIBUTION_MEASURES, ...Object.values(SCALAR_MEASURES), ...Object.values(GOODPUT_MEASURES)];
    expect(known.map(({ measure }) => measure)).toEqual(expect.arrayContaining([...rule.symptoms]));
  });

  test('says what to look at for each of its systems', () => {
    expect(Object.keys(rule.look_at).sort()).toEqual([...new Set(rule.families.map(({ system }) => system))].sort());
  });

  test.each(rule.families.map((member) => [member.family, member] as const))('%s fits the rule', (_family, member) => {
    const family = familyOf(member.system, member.family);
    expect(family.labels).toEqual(expect.arrayContaining(Object.keys(member.labels ?? {})));
    expect(member.factor ?? 1).toBe(family.factor ?? 1);
    const cumulative = ['counter', 'histogram'];
    if (member.of !== undefined) {
      expect(cumulative).toContain(family.type);
      expect(cumulative).toContain(familyOf(member.system, member.of).type);
    } else if (rule.statistic === 'rate') {
      expect(family.type).toBe('counter');
    } else {
      expect(['gauge', 'histogram']).toContain(family.type);
      expect(family.base_unit ?? family.unit).toBe(rule.unit);
    }
  });
});
