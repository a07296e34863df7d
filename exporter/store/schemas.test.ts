import type { Load, LoadStage, RecordedLoad } from '../../core/run/load.ts';
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { Objectives, GoodputLimit, Objective, ObjectiveResult } from '../../core/run/objectives.ts';
import { ERROR_REASONS, OUTCOMES, PHASES } from '../../core/run/record.ts';
import type { RequestRecord } from '../../core/run/record.ts';
import { PERCENTILE_NAMES } from '../../core/stats/percentiles.ts';
import type {
  ClientHealth,
  ConversationCounts,
  DistributionResult,
  Percentile,
  ResultFile,
  ScalarResult,
  BreakdownResult,
  LoadFit,
  NetworkResult,
  PrefixCacheResult,
  SliceChange,
  SlicedMeasure,
  TimeSlices,
  SpeculationResult,
  StageResult,
} from '../../core/run/result.ts';
import type {
  CancellationKey,
  ComparisonKey,
  PhaseWindow,
  RunClient,
  RunFile,
  RunProcess,
  RunSource,
  WarmupKey,
} from '../../core/run/run.ts';
import type { LengthShare, RunDataset, RunDatasetFile, RunTokenizer } from '../../core/run/run-dataset.ts';
import { collect, EXAMPLE_END, examplePlan, exampleRecord } from './fixtures/example-run.ts';
import { openStore } from './run-store.ts';

interface Schema {
  readonly properties: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties: boolean;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly $defs?: Readonly<Record<string, Schema>>;
}

const read = (name: string): Schema =>
  JSON.parse(readFileSync(new URL(`../../schemas/${name}.schema.json`, import.meta.url), 'utf8')) as Schema;
const schemas = { run: read('run'), result: read('result'), record: read('record') };

const ajv = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true });
addFormats.default(ajv);
const validators = {
  run: ajv.compile(schemas.run),
  result: ajv.compile(schemas.result),
  record: ajv.compile(schemas.record),
};

/** Violations of a schema by a value, one line each. */
function complaints(name: keyof typeof schemas, value: unknown): string[] {
  const validate = validators[name];
  validate(value);
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message ?? ''}`);
}

/** Follows names into a schema: members, `[]` for the items of a list, `?` for the object of "null or object". */
function at(schema: Schema, ...path: readonly string[]): Schema {
  return path.reduce((now, step) => {
    const next =
      step === '[]' ? now.items : step === '?' ? now.anyOf?.at(-1) : (now.properties[step] ?? now.$defs?.[step]);
    if (next === undefined) throw new Error(`the schema has no ${step}`);
    return next;
  }, schema);
}

/** Every key of a type: the compiler refuses a missing and an additional one. */
type Keys<T> = Readonly<Record<keyof T, true | 'optional'>>;

const MEASURE = { measure: true, unit: true, definition: true, origin: true, population: true, clock: true } as const;

const LOAD = {
  mode: true,
  concurrency: true,
  concurrency_ramp_seconds: true,
  prefill_concurrency: true,
  prefill_concurrency_ramp_seconds: true,
  request_rate: true,
  request_rate_ramp_seconds: true,
  arrival_pattern: true,
  arrival_smoothness: true,
  stages: 'optional',
} as const;

const SLO = { measure: true, stat: true, comparison: true, limit: true, unit: true } as const;

const KEY_SETS: readonly (readonly [string, Schema, object])[] = [
  [
    'RunFile',
    schemas.run,
    {
      schema_version: true,
      run_id: true,
      status: true,
      recovered: true,
      scenario: true,
      comparison_key: true,
      fingerprint: true,
      gates: true,
      group_id: true,
      step: true,
      repeat: true,
      shard: true,
      shards: 'optional',
      target: true,
      tool: true,
      source: true,
      tags: true,
      start: true,
      end: true,
      phases: true,
      process: true,
      failure: true,
      client: true,
      dataset: true,
      command_line: true,
      provenance: true,
    } satisfies Keys<RunFile>,
  ],
  [
    'ComparisonKey',
    at(schemas.run, 'comparison_key'),
    {
      endpoint_type: true,
      model: true,
      model_mix: 'optional',
      load: true,
      cancellation: true,
      stop: true,
      warmup: true,
      cool_down: 'optional',
      output_fields: 'optional',
      dataset_plan_sha256: true,
      sampling: true,
      streaming: true,
      measure_definitions: true,
    } satisfies Keys<ComparisonKey>,
  ],
  ['Load', at(schemas.run, 'comparison_key', 'load'), LOAD satisfies Keys<Load>],
  [
    'stop',
    at(schemas.run, 'comparison_key', 'stop'),
    { request_count: true, benchmark_duration_seconds: true } satisfies Keys<ComparisonKey['stop']>,
  ],
  [
    'warmup',
    at(schemas.run, 'comparison_key', 'warmup', '?'),
    { request_count: true, duration_seconds: true, load: true } satisfies Keys<WarmupKey>,
  ],
  ['load of the warm-up', at(schemas.run, 'comparison_key', 'warmup', '?', 'load'), LOAD satisfies Keys<Load>],
  ['Objectives', at(schemas.run, 'gates', '?'), { goodput: true, slos: true } satisfies Keys<Objectives>],
  [
    'GoodputLimit',
    at(schemas.run, 'gates', '?', 'goodput', '[]'),
    { measure: true, limit: true, unit: true } satisfies Keys<GoodputLimit>,
  ],
  ['Slo', at(schemas.run, 'gates', '?', 'slos', '[]'), SLO satisfies Keys<Objective>],
  [
    'CancellationKey',
    at(schemas.run, 'comparison_key', 'cancellation', '?'),
    { ratio: true, delay_seconds: true } satisfies Keys<CancellationKey>,
  ],
  [
    'target',
    at(schemas.run, 'target'),
    { origin: true, origins: true, system: true, system_version: true } satisfies Keys<RunFile['target']>,
  ],
  ['tool', at(schemas.run, 'tool'), { name: true, version: true } satisfies Keys<RunFile['tool']>],
  [
    'RunSource',
    at(schemas.run, 'source', '?'),
    {
      sha256: true,
      files: true,
      format: true,
      format_version: true,
      unknown: true,
      notes: true,
      imported_at: true,
      position: true,
    } satisfies Keys<RunSource>,
  ],
  [
    'RunClient',
    at(schemas.run, 'client', '?'),
    {
      transport: true,
      http_trace: true,
      reset_kv_cache: true,
      trace_sample_ratio: 'optional',
      max_tokens_field: 'optional',
    } satisfies Keys<RunClient>,
  ],
  [
    'RunDataset',
    at(schemas.run, 'dataset', '?'),
    {
      type: true,
      input_tokens: true,
      output_tokens: true,
      lengths: true,
      shared_system_prompt_tokens: true,
      prefix_prompts: true,
      prefix_tree: 'optional',
      primed_prefixes: 'optional',
      user_context_tokens: true,
      conversation: true,
      documents: 'optional',
      images: 'optional',
      audio: 'optional',
      delay_factor: true,
      entries: true,
      file: true,
      recorded_load: 'optional',
      tokenizer: true,
      seed: true,
      prompt_variant: true,
    } satisfies Keys<RunDataset>,
  ],
  [
    'LengthShare',
    at(schemas.run, 'dataset', '?', 'lengths', '[]'),
    { input_tokens: true, output_tokens: true, share: true } satisfies Keys<LengthShare>,
  ],
  [
    'RunDatasetFile',
    at(schemas.run, 'dataset', '?', 'file', '?'),
    {
      name: true,
      sha256: true,
      sampling_strategy: true,
      block_tokens: true,
      source: 'optional',
    } satisfies Keys<RunDatasetFile>,
  ],
  [
    'RunTokenizer',
    at(schemas.run, 'dataset', '?', 'tokenizer', '?'),
    { name: true, revision: true, identity: true } satisfies Keys<RunTokenizer>,
  ],
  ['PhaseWindow', at(schemas.run, 'phases', '[]'), { phase: true, start: true, end: true } satisfies Keys<PhaseWindow>],
  [
    'RunProcess',
    at(schemas.run, 'process', '?'),
    { pid: true, start_time: true, metrics_url: true, server_metrics_urls: true } satisfies Keys<RunProcess>,
  ],
  [
    'ResultFile',
    schemas.result,
    {
      schema_version: true,
      run_id: true,
      status: true,
      scenario: true,
      fingerprint: true,
      window: true,
      requests: true,
      cool_down: 'optional',
      errors: true,
      client: true,
      servers: true,
      measures: true,
      slos: true,
      stages: true,
      conversations: 'optional',
      prefix_cache: 'optional',
      speculation: 'optional',
      load_fit: 'optional',
      slices: 'optional',
      network: 'optional',
      breakdown: 'optional',
    } satisfies Keys<ResultFile>,
  ],
  [
    'LoadFit',
    at(schemas.result, 'load_fit', '[]'),
    { quantity: true, unit: true, source: true, achieved: true, distance: true } satisfies Keys<LoadFit>,
  ],
  [
    'RecordedLoad',
    at(schemas.run, 'dataset', '?', 'recorded_load'),
    {
      prometheus: true,
      selector: true,
      start: true,
      end: true,
      compress: true,
      scale: true,
      slot_seconds: true,
      requests: true,
      input_tokens: true,
      output_tokens: true,
      cached_input_ratio: true,
    } satisfies Keys<RecordedLoad>,
  ],
  [
    'PrefixCacheResult',
    at(schemas.result, 'prefix_cache'),
    {
      block_tokens: true,
      possible_ratio: true,
      usage_ratio: true,
      server_ratio: true,
      why: true,
    } satisfies Keys<PrefixCacheResult>,
  ],
  [
    'NetworkResult',
    at(schemas.result, 'network'),
    { host: true, connections: true, min_seconds: true, p50_seconds: true } satisfies Keys<NetworkResult>,
  ],
  [
    'TimeSlices',
    at(schemas.result, 'slices'),
    { seconds: true, requests: true, measures: true, changes: true, steady: true } satisfies Keys<TimeSlices>,
  ],
  [
    'SlicedMeasure',
    at(schemas.result, 'slices', 'measures', '[]'),
    { measure: true, unit: true, p50: true, p90: true, p99: true } satisfies Keys<SlicedMeasure>,
  ],
  [
    'SliceChange',
    at(schemas.result, 'slices', 'changes', '[]'),
    { measure: true, slice: true, before: true, after: true, p: true } satisfies Keys<SliceChange>,
  ],
  [
    'SpeculationResult',
    at(schemas.result, 'speculation'),
    {
      drafts: true,
      draft_tokens: true,
      accepted_tokens: true,
      accepted_by_position: true,
    } satisfies Keys<SpeculationResult>,
  ],
  [
    'BreakdownResult',
    at(schemas.result, 'breakdown', '[]'),
    { by: true, value: true, requests: true, measures: true, slos: 'optional' } satisfies Keys<BreakdownResult>,
  ],
  [
    'ConversationCounts',
    at(schemas.result, 'conversations'),
    { complete: true, incomplete: true } satisfies Keys<ConversationCounts>,
  ],
  [
    'StageResult',
    at(schemas.result, 'stages', '[]'),
    {
      stage: true,
      load: true,
      start: true,
      end: true,
      window: true,
      requests: true,
      errors: true,
      measures: true,
      slos: true,
    } satisfies Keys<StageResult>,
  ],
  [
    'LoadStage',
    at(schemas.run, 'comparison_key', 'load', 'stages', '[]'),
    { duration_seconds: true, concurrency: true, request_rate: true } satisfies Keys<LoadStage>,
  ],
  [
    'ObjectiveResult',
    at(schemas.result, 'slos', '[]'),
    { ...SLO, value: true, interval: true, verdict: true, why: true } satisfies Keys<ObjectiveResult>,
  ],
  [
    'window',
    at(schemas.result, 'window'),
    { start: true, end: true, seconds: true } satisfies Keys<ResultFile['window']>,
  ],
  [
    'ClientHealth',
    at(schemas.result, 'client'),
    {
      verdict: true,
      why: true,
      event_loop_delay_p99_seconds: true,
      event_loop_delay_max_seconds: true,
      cpu_seconds: true,
    } satisfies Keys<ClientHealth>,
  ],
  [
    'ScalarResult',
    schemas.result.$defs?.['scalar'] ?? schemas.result,
    { ...MEASURE, kind: true, value: true } satisfies Keys<ScalarResult>,
  ],
  [
    'DistributionResult',
    schemas.result.$defs?.['distribution'] ?? schemas.result,
    {
      ...MEASURE,
      kind: true,
      n: 'optional',
      effective_n: 'optional',
      mean: 'optional',
      std: 'optional',
      min: 'optional',
      max: 'optional',
      percentiles: 'optional',
      also: 'optional',
    } satisfies Keys<DistributionResult & { readonly also?: 'all' }>,
  ],
  [
    'a measure without a value',
    schemas.result.$defs?.['without_value'] ?? schemas.result,
    {
      ...{ measure: true, kind: true },
      ...{ unit: 'optional', definition: 'optional', origin: 'optional', population: 'optional', clock: 'optional' },
      ...{ n: 'optional', value: 'optional', also: 'optional' },
    },
  ],
  [
    'Percentile',
    schemas.result.$defs?.['percentile'] ?? schemas.result,
    { value: 'optional', ci95: 'optional', bounds: 'optional' } satisfies Keys<Percentile>,
  ],
  [
    'RequestRecord',
    schemas.record,
    {
      index: true,
      phase: true,
      stage: true,
      conversation: true,
      turn: true,
      agent: true,
      conversation_requests: true,
      think_ns: true,
      tool_ns: true,
      planned_ns: true,
      model: true,
      due_ns: true,
      sent_ns: true,
      first_content_ns: true,
      first_output_ns: true,
      last_content_ns: true,
      end_ns: true,
      connection_reused: true,
      connect_ns: true,
      tcp_connect_ns: true,
      connection_retried: true,
      outcome: true,
      reason: true,
      http_status: true,
      input_tokens: true,
      input_tokens_source: true,
      output_tokens: true,
      output_tokens_source: true,
      reasoning_tokens: true,
      cached_tokens: true,
      requested_output_tokens: true,
      image_tokens: true,
      audio_tokens: true,
      documents: true,
      images: true,
      image_bytes: true,
      audio_ns: true,
      audio_bytes: true,
      request_bytes: true,
      trace_id: true,
      counted_input_tokens: true,
      counted_output_tokens: true,
      counted_reasoning_tokens: true,
      chunk_offsets_ns: true,
      http_blocked_ns: true,
      http_dns_lookup_ns: true,
      http_connecting_ns: true,
      http_tls_handshaking_ns: true,
      http_sending_ns: true,
      http_waiting_ns: true,
      http_receiving_ns: true,
      http_data_sent_bytes: true,
      http_data_received_bytes: true,
    } satisfies Keys<RequestRecord>,
  ],
];

describe('the schemas agree with the types', () => {
  test.each(KEY_SETS)('keys of %s', (_, schema, keys) => {
    expect(Object.keys(schema.properties).sort()).toEqual(Object.keys(keys).sort());
    const required = Object.entries(keys).flatMap(([key, value]) => (value === true ? [key] : []));
    expect([...(schema.required ?? [])].sort()).toEqual(required.sort());
    expect(schema.additionalProperties).toBe(false);
    for (const [key, { description }] of Object.entries(schema.properties))
      expect([key, description]).not.toContain('');
  });

  test('the closed lists', () => {
    expect(at(schemas.record, 'phase').enum).toEqual(PHASES);
    expect(at(schemas.record, 'outcome').enum).toEqual(OUTCOMES);
    expect(at(schemas.record, 'reason').enum).toEqual([...ERROR_REASONS, null]);
    expect(Object.keys(at(schemas.result, 'errors').properties)).toEqual(ERROR_REASONS);
    expect(Object.keys(at(schemas.result, 'requests').properties)).toEqual(OUTCOMES);
    const distribution = schemas.result.$defs?.['distribution'] ?? schemas.result;
    expect(Object.keys(at(distribution, 'percentiles').properties)).toEqual(PERCENTILE_NAMES);
  });
});

describe('what is written is valid', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'llmbench-schemas-'));
  });
  afterEach(() => rm(directory, { recursive: true }));

  const json = async (path: string): Promise<unknown> => JSON.parse(await readFile(path, 'utf8')) as unknown;

  test.each([
    ['with ok and failed requests', 200, EXAMPLE_END],
    ['of nothing', 0, { ...EXAMPLE_END, status: 'failed' as const, failure: 'no request succeeded', phases: [] }],
    ['of an import without a time', 3, EXAMPLE_END],
  ])('a run %s', async (name, count, end) => {
    const { store } = await openStore(directory);
    const start = name.includes('import') ? null : '2026-03-04T05:06:07.000Z';
    const writer = await store.begin(examplePlan({ run_id: 'r1', start }));
    for (let index = 0; index < count; index++) writer.requestEnded(exampleRecord(index));
    expect(complaints('run', await json(join(directory, '.unfinished', 'r1', 'run.json')))).toEqual([]);
    await writer.finish(end);
    expect(complaints('run', await json(join(writer.path, 'run.json')))).toEqual([]);
    expect(complaints('result', await json(join(writer.path, 'result.json')))).toEqual([]);
    for (const record of await collect(store.readRecords(await store.readRun('r1')))) {
      expect(complaints('record', record)).toEqual([]);
    }
  });

  test('a run with objectives', async () => {
    const { store } = await openStore(directory);
    const slo = { measure: 'time_to_first_token', stat: 'p50', comparison: '<', limit: 0.03, unit: 'seconds' } as const;
    const goodput = [{ measure: 'time_to_first_token', limit: 0.02, unit: 'seconds' }] as const;
    const slos = [slo, { ...slo, measure: 'error_ratio', stat: null, unit: 'ratio' }] as const;
    const writer = await store.begin(examplePlan({ run_id: 'r1', gates: { goodput, slos } }));
    for (let index = 0; index < 100; index++) writer.requestEnded(exampleRecord(index));
    const result = await writer.finish(EXAMPLE_END);
    expect(complaints('run', await json(join(writer.path, 'run.json')))).toEqual([]);
    expect(complaints('result', await json(join(writer.path, 'result.json')))).toEqual([]);
    // Every first token comes after 20 ms; every fifth request fails, 20 of 99 measured ones.
    expect(result.slos.map(({ verdict, value }) => [verdict, value])).toEqual([
      ['met', 0.02],
      ['not_met', 20 / 99],
    ]);
    const good = result.measures.find(({ measure }) => measure === 'good_request_ratio');
    expect(good).toMatchObject({ kind: 'scalar', value: 79 / 99 });
  });

  test('invalid values are rejected', async () => {
    const { store } = await openStore(directory);
    const writer = await store.begin(examplePlan({ run_id: 'r1' }));
    writer.requestEnded(exampleRecord(1));
    const result = await writer.finish(EXAMPLE_END);
    const run = await store.readRun('r1');
    expect(complaints('run', { ...run, target: { ...run.target, origin: 'http://u:p@h/x?k=1' } })).not.toEqual([]);
    expect(complaints('run', { ...run, run_id: '../x' })).not.toEqual([]);
    expect(complaints('run', { ...run, start: 'yesterday' })).not.toEqual([]);
    expect(complaints('result', result)).toEqual([]);
    expect(complaints('result', { ...result, measures: [{ measure: 'x' }] })).not.toEqual([]);
    expect(complaints('result', { ...result, errors: { odd: 1 } })).not.toEqual([]);
    expect(complaints('record', { ...exampleRecord(1), text: 'x' })).not.toEqual([]);
  });
});
