import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { CapacityFile } from '../../../core/run/capacity.ts';
import { exampleCapacity } from '../fixtures/example-capacity.ts';
import { capacityPath, listCapacityPaths, readCapacity, writeCapacity } from './capacity-files.ts';
import { scenarioPaths } from './scenario-folders.ts';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'llmbench-capacity-'));
});
afterEach(() => rm(directory, { recursive: true }));

test('a search is read as it was written, and a later state replaces it', async () => {
  await writeCapacity(directory, exampleCapacity({ end: null }));
  await writeCapacity(directory, exampleCapacity());
  expect(await readCapacity(directory, 'chat', 'cap')).toEqual(exampleCapacity());
  expect(await listCapacityPaths(scenarioPaths(directory, 'chat').capacity)).toEqual([
    capacityPath(directory, 'chat', 'cap'),
  ]);
});

test('without a file there is no search', async () => {
  expect(await readCapacity(directory, 'chat', 'cap')).toBeNull();
  expect(await listCapacityPaths(scenarioPaths(directory, 'chat').capacity)).toEqual([]);
});

test.each(['', '{"schema_version":1', '[]', '{"schema_version":2,"probes":[],"objectives":[]}'])(
  'a damaged file is named: %j',
  async (content) => {
    await writeCapacity(directory, exampleCapacity());
    await writeFile(capacityPath(directory, 'chat', 'cap'), content);
    await expect(readCapacity(directory, 'chat', 'cap')).rejects.toThrow(capacityPath(directory, 'chat', 'cap'));
  },
);

test('the file matches its published schema, which describes every key', async () => {
  const url = new URL('../../../schemas/capacity.schema.json', import.meta.url);
  const schema = JSON.parse(await readFile(url, 'utf8')) as { properties: object };
  const ajv = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true });
  addFormats.default(ajv);
  const validate = ajv.compile(schema);
  for (const file of [exampleCapacity(), exampleCapacity({ end: null, holds: null, probes: [] })]) {
    validate(file);
    expect(validate.errors ?? []).toEqual([]);
  }
  const keys: Record<keyof CapacityFile, true> = {
    ...{ schema_version: true, group_id: true, scenario: true, model: true, load: true, objectives: true, range: true },
    ...{ confidence: true, end: true, sentence: true, holds: true, fails: true, confirmed: true, budget: true },
    ...{ used: true, probes: true, started_at: true, updated_at: true },
  };
  expect(Object.keys(schema.properties).sort()).toEqual(Object.keys(keys).sort());
});
