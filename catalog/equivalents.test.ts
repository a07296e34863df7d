import { readFileSync } from 'node:fs';

import { describe, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';

import { DISTRIBUTION_MEASURES } from '../core/measures/measures.ts';
import { quantities, quantitiesOf } from './equivalents.ts';
import type { EquivalentFamily } from './equivalents.ts';
import { loadCatalog } from './load.ts';
import type { CatalogFamily } from './types.ts';

function familyOf({ system, family }: EquivalentFamily): CatalogFamily {
  const found = loadCatalog(system).families.find(({ name }) => name === family);
  if (found === undefined) throw new Error(`${system} has no ${family}`);
  return found;
}

test('follows the schema', () => {
  const schema = JSON.parse(readFileSync(new URL('./equivalents.schema.json', import.meta.url), 'utf8')) as object;
  const validate = new Ajv2020({ allErrors: true, strict: true, strictRequired: false }).compile(schema);
  validate(quantities());
  expect(validate.errors).toBeNull();
});

describe.each(quantities().map((quantity) => [quantity.quantity, quantity] as const))('%s', (_name, quantity) => {
  const distributions = quantity.families.filter(({ only }) => only === undefined);

  test('names families that exist and are in current releases', () => {
    expect(
      quantity.families.map(familyOf).filter(({ exposed }) => exposed === 'never' || exposed === 'other_release'),
    ).toEqual([]);
  });

  test('equates only what has the same type and the same observation', () => {
    expect(new Set(distributions.map((member) => familyOf(member).type))).toEqual(new Set([quantity.kind]));
    expect(new Set(distributions.map((member) => familyOf(member).per))).toEqual(new Set([quantity.per]));
  });

  test('equates only what has the same unit once converted', () => {
    const units = quantity.families.map((member) => {
      const { unit, base_unit } = familyOf(member);
      return member.unit ?? base_unit ?? unit;
    });
    expect(new Set(units)).toEqual(new Set([quantity.unit]));
  });

  test('a sum without a distribution is a counter', () => {
    const sums = quantity.families.filter(({ only }) => only === 'sum').map(familyOf);
    expect(sums.filter(({ type }) => type !== 'counter')).toEqual([]);
  });

  test('names labels that the family has', () => {
    for (const member of quantity.families)
      expect(familyOf(member).labels).toEqual(expect.arrayContaining(Object.keys(member.labels ?? {})));
  });
});

test('each quantity once, the same series of a family in one quantity', () => {
  const names = quantities().map(({ quantity }) => quantity);
  expect(new Set(names).size).toBe(names.length);
  const members = quantities().flatMap(({ families }) =>
    families.map(({ system, family, labels }) => `${system} ${family} ${JSON.stringify(labels)}`),
  );
  expect(members.filter((member, i) => members.indexOf(member) !== i)).toEqual([]);
});

test('a mean per request and a gap per token are two quantities', () => {
  const quantity = (system: string, family: string) => quantitiesOf(system, family).map((found) => found.quantity);
  expect(quantity('vllm', 'vllm:request_time_per_output_token_seconds')).toEqual(['time_per_output_token']);
  expect(quantity('trtllm', 'trtllm_time_per_output_token_seconds')).toEqual(['time_per_output_token']);
  expect(quantity('vllm', 'vllm:inter_token_latency_seconds')).toEqual(['inter_token_latency']);
  expect(quantity('vllm', 'vllm:nosuch')).toEqual([]);
});

test('measures are those of the client, and in the same unit', () => {
  for (const { measure, unit } of quantities())
    if (measure !== undefined) expect(DISTRIBUTION_MEASURES).toContainEqual(expect.objectContaining({ measure, unit }));
});
