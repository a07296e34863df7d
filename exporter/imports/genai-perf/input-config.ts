import { closedLoopKey } from '../../../core/run/load-key.ts';
import type { LoadKey } from '../../../core/run/run.ts';
import type { Fields } from '../reading/fields.ts';
import type { KnownKey } from '../importer.ts';
import type { Experiment } from './profile.ts';

/**
 * What is known of how a run was set up: from `input_config` of the summary, in its flat form (the arguments of the command)
 * and in the later one with `endpoint` and `perf_analyzer`, and from the profile.
 */
export function knownKey(config: Fields | null, experiment: Experiment | null, endpoint: string | null): KnownKey {
  const part = config?.object('endpoint') ?? null;
  const payload = experiment?.payload ?? null;
  const model = firstText(config?.raw('model_names') ?? config?.raw('model')) ?? payload?.text('model') ?? null;
  const type = part?.text('type') ?? config?.text('endpoint_type') ?? typeOf(endpoint);
  const streaming = part?.boolean('streaming') ?? config?.boolean('streaming') ?? payload?.boolean('stream') ?? null;
  const load = loadOf(experiment, config);
  return {
    ...(model === null ? {} : { model }),
    ...(type === null ? {} : { endpoint_type: type }),
    ...(streaming === null ? {} : { streaming }),
    ...(load === null ? {} : { load }),
  };
}

function firstText(value: unknown): string | null {
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return typeof first === 'string' ? first : null;
}

function typeOf(endpoint: string | null): string | null {
  if (endpoint === null) return null;
  if (endpoint.endsWith('chat/completions')) return 'chat';
  return endpoint.endsWith('completions') ? 'completions' : null;
}

function loadOf(experiment: Experiment | null, config: Fields | null): LoadKey | null {
  const stimulus = config?.object('perf_analyzer')?.object('stimulus') ?? null;
  const isMode = (mode: string): number | null => (experiment?.mode === mode ? experiment.value : null);
  const rate = isMode('request_rate') ?? stimulus?.number('request_rate') ?? config?.number('request_rate') ?? null;
  if (rate !== null) {
    return { ...closedLoopKey(null), mode: 'request_rate', request_rate: rate };
  }
  const concurrency = isMode('concurrency') ?? stimulus?.count('concurrency') ?? config?.count('concurrency') ?? null;
  return concurrency === null ? null : closedLoopKey(concurrency);
}
