import { type Load, closedLoop } from '../../../core/run/load.ts';
import type { ErrorReason } from '../../../core/run/record.ts';
import { known, reportedRun } from '../importer.ts';
import type { ImportedRun, KnownKey } from '../importer.ts';
import { ImportNotes } from '../import-notes.ts';
import { Fields, isObject } from '../reading/fields.ts';
import { publicOriginOrNull } from '../reading/public-origin.ts';
import { pythonError } from '../reading/python-error.ts';
import { stageMeasures } from './stage-measures.ts';
import type { OutputTokens } from './stage-measures.ts';
import type { StageRecords } from './stage-records.ts';

/** What there is of one stage. */
export interface StageFiles {
  /** Its report, or that of the whole run; null when there are requests alone. */
  readonly report: Fields | null;
  readonly config: Fields | null;
  readonly records: StageRecords | null;
  /** Its number; null for the whole run. */
  readonly stage: number | null;
  /** When it was set up, RFC 3339; null when not reported. */
  readonly start: string | null;
}

export function stageRun({ report, config, records, stage, start }: StageFiles, notes: ImportNotes): ImportedRun {
  const server = config?.at('server');
  const url = server?.text('base_url') ?? null;
  const system = server?.text('type') ?? null;
  const failures = report?.at('failures');
  if (records !== null) notes.add('times are from a monotonic clock');
  if (start !== null)
    notes.add('the start is that of the set-up of the stage, about a second before its first request');
  else notes.add('the files report no time of day: the run has no time');
  if (config === null) notes.add('config.yaml is missing: model, address and load are unknown');
  const model = server?.text('model_name') ?? null;
  const type = config?.at('api').text('type') ?? null;
  if (type === 'chat') notes.add('the tool reads no reasoning: the first chunk with other content counts as the first');
  const limits = config?.at('report').at('goodput').object('constraints') ?? null;
  return reportedRun({
    tool: 'inference-perf',
    format: 'inference-perf',
    target: {
      origin: url === null ? null : publicOriginOrNull(url),
      system: system !== null && ['vllm', 'sglang'].includes(system) ? system : null,
    },
    key: { ...keyOf(config, report, stage), ...known({ model }), ...endpointOf(type) },
    start,
    records: records?.records ?? null,
    stated: {
      window_seconds: report?.amount('benchmark_time_seconds') ?? null,
      requests: { ok: report?.at('successes').count('count') ?? null, error: failures?.count('count') ?? null },
      errors: errorsOf(failures?.object('by_label') ?? null),
      measures: report === null ? [] : stageMeasures(report, outputTokens(config), limits),
    },
    notes,
  });
}

function endpointOf(type: string | null): KnownKey {
  if (type === 'chat') return { endpoint_type: 'chat' };
  return type === 'completion' ? { endpoint_type: 'completions' } : {};
}

function outputTokens(config: Fields | null): OutputTokens {
  if (config === null) return null;
  const isServers = config.at('report').at('request_lifecycle').boolean('use_server_output_tokens') === true;
  return isServers ? 'usage' : 'tokenizer';
}

function keyOf(config: Fields | null, report: Fields | null, stage: number | null): KnownKey {
  const stages = config?.at('load').list('stages') ?? [];
  const only = stages[stage ?? (stages.length === 1 ? 0 : NaN)];
  const own = isObject(only) ? new Fields(only, new ImportNotes()) : null;
  const load = loadOf(config?.at('load').text('type') ?? null, own, report?.at('load_summary') ?? null);
  return {
    ...known({ streaming: config?.at('api').boolean('streaming'), load }),
    ...(own !== null && {
      stop: { request_count: own.count('num_requests'), benchmark_duration_seconds: own.amount('duration') },
    }),
  };
}

function loadOf(type: string | null, stage: Fields | null, summary: Fields | null): Load | undefined {
  const concurrency = stage?.count('concurrency_level') ?? summary?.count('concurrency') ?? null;
  if (concurrency !== null && type !== 'constant' && type !== 'poisson') return closedLoop(concurrency);
  const request_rate = stage?.amount('rate') ?? summary?.amount('requested_rate') ?? null;
  if (request_rate === null) return undefined;
  const arrival_pattern = type === 'constant' || type === 'poisson' ? type : null;
  return { ...closedLoop(null), mode: 'request_rate', request_rate, arrival_pattern };
}

/** By the labels of 0.7: `503 - Service Unavailable`, `Timeout`, `Connection Error`. */
function errorsOf(labels: Fields | null): ImportedRun['stated']['errors'] {
  const errors: Partial<Record<ErrorReason, number>> = {};
  for (const label of labels?.names ?? []) {
    const status = /^(\d{3}) - /.exec(label)?.[1];
    const { reason } = pythonError(status === undefined ? label : `HTTP ${status}`);
    errors[reason] = (errors[reason] ?? 0) + (labels?.at(label).count('count') ?? 0);
  }
  return errors;
}
