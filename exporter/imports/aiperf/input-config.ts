import { type Load, closedLoop } from '../../../core/run/load.ts';
import type { JsonValue } from '../../../core/run/canonical-json.ts';
import { withoutSecrets } from '../../../core/run/secret-fields.ts';
import type { WarmupKey } from '../../../core/run/run.ts';
import { Fields, isObject } from '../reading/fields.ts';
import type { ImportNotes } from '../import-notes.ts';
import type { KnownKey } from '../importer.ts';

/** What `input_config` of a summary reports of how the run was set up. It holds what was set; defaults are left out. */
export interface InputConfig {
  readonly key: KnownKey;
  readonly url: string | null;
  /** Whether tokens are the server's count. */
  readonly serverTokens: boolean;
}

/** Reads the configuration in its present form (`phases`) and in that of 2025 (`loadgen`). */
export function readInputConfig(config: Fields | null, notes: ImportNotes): InputConfig {
  const endpoint = config?.object('endpoint') ?? null;
  if (config === null || endpoint === null) return { key: {}, url: null, serverTokens: false };
  const phases = config.list('phases');
  const load = phases === null ? loadGenerator(config.object('loadgen')) : fromPhases(phases, notes);
  const url = firstText(endpoint.list('urls')) ?? endpoint.text('url');
  return {
    key: { ...endpointKey(config, endpoint), ...load },
    url,
    serverTokens: endpoint.boolean('use_server_token_count') === true,
  };
}

function endpointKey(config: Fields, endpoint: Fields): KnownKey {
  const model = modelOf(config, endpoint);
  const extra = endpoint.raw('extra');
  return {
    endpoint_type: endpoint.text('type') ?? 'chat',
    streaming: endpoint.boolean('streaming') ?? false,
    ...(model === null ? {} : { model }),
    ...(extra === undefined || isObject(extra)
      ? { sampling: flat(withoutSecrets((extra ?? {}) as Readonly<Record<string, JsonValue>>)) }
      : {}),
  };
}

function modelOf(config: Fields, endpoint: Fields): string | null {
  const [first] = config.object('models')?.list('items') ?? [];
  const name = isObject(first) ? first['name'] : null;
  if (typeof name === 'string') return name;
  return firstText(endpoint.list('model_names')) ?? null;
}

function firstText(list: readonly unknown[] | null): string | null {
  const first = list?.[0];
  return typeof first === 'string' ? first : null;
}

/** What has members is written as its one text. */
function flat(extra: Readonly<Record<string, unknown>>): Record<string, number | string | boolean | null> {
  const entries = Object.entries(extra).map(([name, value]) => {
    const isPlain = value === null || ['number', 'string', 'boolean'].includes(typeof value);
    return [name, isPlain ? (value as number | string | boolean | null) : JSON.stringify(value)] as const;
  });
  return Object.fromEntries(entries);
}

function fromPhases(phases: readonly unknown[], notes: ImportNotes): KnownKey {
  const read = phases.map((phase) => new Fields(phase, notes, 'input_config.phases.'));
  const isWarmup = (phase: Fields): boolean => (phase.text('kind') ?? phase.text('name')) === 'warmup';
  const measure = read.find((phase) => !isWarmup(phase));
  const warmup = read.find(isWarmup);
  if (measure === undefined) return {};
  const cancelled = measure.number('cancellation_rate') ?? measure.object('cancellation')?.number('rate') ?? null;
  return {
    load: phaseLoad(measure),
    stop: stopOf(measure),
    warmup: warmup === undefined ? null : warmupOf(warmup),
    ...(cancelled === null
      ? { cancellation: null }
      : { cancellation: { ratio: cancelled / 100, delay_seconds: measure.number('cancellation_delay') ?? 0 } }),
  };
}

function stopOf(phase: Fields): NonNullable<KnownKey['stop']> {
  return { request_count: phase.count('requests'), benchmark_duration_seconds: phase.amount('duration') };
}

function warmupOf(phase: Fields): WarmupKey {
  const { request_count, benchmark_duration_seconds } = stopOf(phase);
  return { request_count, duration_seconds: benchmark_duration_seconds, load: phaseLoad(phase) };
}

const ARRIVALS = ['poisson', 'constant', 'gamma', 'concurrency_burst'];

function phaseLoad(phase: Fields): Load {
  const type = phase.text('type') ?? '';
  const rate = phase.number('request_rate') ?? phase.number('rate');
  const pattern = phase.text('arrival_pattern') ?? (ARRIVALS.includes(type) ? type : null);
  return loadKey({
    isTrace: /schedule|trace|replay/.test(type),
    concurrency: phase.count('concurrency'),
    prefillConcurrency: phase.count('prefill_concurrency'),
    rate,
    pattern,
    smoothness: phase.number('smoothness') ?? phase.number('arrival_smoothness'),
    ramp: phase.amount('concurrency_ramp') ?? phase.amount('ramp_duration'),
  });
}

/** The form of 2025: `loadgen` next to `endpoint`. */
function loadGenerator(load: Fields | null): KnownKey {
  if (load === null) return {};
  const key = loadKey({
    isTrace: load.boolean('fixed_schedule') === true,
    concurrency: load.count('concurrency'),
    prefillConcurrency: null,
    rate: load.number('request_rate'),
    pattern: load.text('arrival_pattern') ?? load.text('request_rate_mode'),
    smoothness: null,
    ramp: null,
  });
  const warmup = load.count('warmup_request_count') ?? 0;
  const cancelled = load.number('request_cancellation_rate') ?? 0;
  return {
    load: key,
    stop: {
      request_count: load.count('request_count'),
      benchmark_duration_seconds: load.amount('benchmark_duration'),
    },
    warmup: warmup > 0 ? { request_count: warmup, duration_seconds: null, load: key } : null,
    cancellation:
      cancelled > 0 ? { ratio: cancelled / 100, delay_seconds: load.number('request_cancellation_delay') ?? 0 } : null,
  };
}

interface LoadFacts {
  readonly isTrace: boolean;
  readonly concurrency: number | null;
  readonly prefillConcurrency: number | null;
  readonly rate: number | null;
  readonly pattern: string | null;
  readonly smoothness: number | null;
  readonly ramp: number | null;
}

function loadKey(facts: LoadFacts): Load {
  const limits = {
    ...closedLoop(facts.concurrency),
    concurrency_ramp_seconds: facts.ramp,
    prefill_concurrency: facts.prefillConcurrency,
  };
  if (facts.isTrace) return { ...limits, mode: 'trace' };
  if (facts.rate === null) return limits;
  return {
    ...limits,
    mode: 'request_rate',
    request_rate: facts.rate,
    arrival_pattern: facts.pattern ?? 'poisson',
    arrival_smoothness: facts.smoothness,
  };
}
