import type { Load, LoadStage } from '../../core/run/load.ts';
import { DISTRIBUTION_MEASURES } from '../../core/measures/measures.ts';
import { publishedName } from '../../core/measures/names.ts';
import { SCALAR_MEASURES } from '../../core/measures/scalar-measures.ts';
import { canonicalJson } from '../../core/run/canonical-json.ts';
import { withoutSecrets } from '../../core/run/secret-fields.ts';
import { type ComparisonKey, KEYED_MEASURES, modelNamesText } from '../../core/run/run.ts';
import type { LoadPlan, PhaseLoad, StagePlan } from '../load/schedule/load-plan.ts';
import type { RunRequest } from './run-request.ts';

/** The loads of a run, with the SHA-256 (hex) of their requests and arrivals. */
export interface KeyedLoad {
  readonly warmup: PhaseLoad | null;
  readonly measure: PhaseLoad;
  readonly planSha256: string;
}

/** What must be equal for two runs to be comparable: it does not contain URL, system, versions and hardware. */
export function comparisonKey(
  request: RunRequest,
  endpointType: string,
  planned: KeyedLoad,
  streaming = true,
): ComparisonKey {
  const { warmup } = planned;
  const { outputFields } = request.traffic;
  return {
    endpoint_type: endpointType,
    model: modelText(request),
    ...(request.models === undefined ? {} : { model_mix: request.models }),
    load: loadKey(planned.measure.load),
    cancellation: request.cancellation && {
      ratio: request.cancellation.ratio,
      delay_seconds: request.cancellation.delaySeconds,
    },
    stop: {
      request_count:
        request.measure.conversationCount === undefined ? request.measure.requestCount : planned.measure.requestCount,
      benchmark_duration_seconds: request.measure.durationSeconds,
    },
    warmup: warmup && {
      request_count: warmup.requestCount,
      duration_seconds: warmup.durationSeconds,
      load: loadKey(warmup.load),
    },
    ...(planned.measure.coolDown === true ? { cool_down: true } : {}),
    ...(outputFields == null ? {} : { output_fields: outputFields }),
    dataset_plan_sha256: planned.planSha256,
    sampling: flat(request.sampling),
    streaming,
    measure_definitions: MEASURE_DEFINITIONS,
  };
}

/** The model, or the names of several. */
export function modelText({ model, models }: Pick<RunRequest, 'model' | 'models'>): string {
  return models === undefined ? model : modelNamesText(models.models.map((each) => each.model));
}

/** Nested values are written as one JSON text. Credentials are no configuration: runs that differ in them are comparable. */
function flat(sampling: RunRequest['sampling']): ComparisonKey['sampling'] {
  const entries = Object.entries(withoutSecrets(sampling)).map(
    ([name, value]) => [name, typeof value === 'object' && value !== null ? canonicalJson(value) : value] as const,
  );
  return Object.fromEntries(entries);
}

/** The load as a run file describes it. */
export function loadKey(load: LoadPlan): Load {
  const { concurrency, concurrencyRampSeconds, prefillConcurrency, prefillConcurrencyRampSeconds, arrivals } = load;
  const rate = arrivals?.kind === 'rate' ? arrivals : null;
  const staged = arrivals?.kind === 'stages' ? arrivals : null;
  const isRated = staged?.stages.some(({ kind }) => kind === 'rate') ?? true;
  const { pattern = null, smoothness = null } = (isRated ? (rate ?? staged) : null) ?? {};
  return {
    mode: arrivals === null ? 'concurrency' : MODES[arrivals.kind],
    // The stages have their own.
    concurrency: staged === null ? concurrency : null,
    concurrency_ramp_seconds: concurrencyRampSeconds || null,
    prefill_concurrency: prefillConcurrency,
    prefill_concurrency_ramp_seconds: prefillConcurrencyRampSeconds || null,
    request_rate: rate?.requestRate ?? null,
    request_rate_ramp_seconds: rate?.rampSeconds || null,
    arrival_pattern: pattern,
    arrival_smoothness: pattern === 'gamma' ? smoothness : null,
    ...(staged === null ? {} : { stages: staged.stages.map(stageKey) }),
  };
}

const MODES = { rate: 'request_rate', trace: 'trace', stages: 'stages' } as const;

function stageKey(stage: StagePlan): LoadStage {
  if (stage.kind === 'concurrency')
    return { duration_seconds: stage.seconds, concurrency: stage.concurrency, request_rate: null };
  return {
    duration_seconds: stage.seconds,
    concurrency: null,
    request_rate: { start: stage.from, end: stage.to },
  };
}

/** A measure with two clocks has two definitions; the one from the due time has the name that the metrics use. */
const DEFINITIONS: Readonly<Record<string, string>> = Object.fromEntries<string>([
  ...DISTRIBUTION_MEASURES.map((measure) => [publishedName(measure), measure.definition] as const),
  ...Object.values(SCALAR_MEASURES).map(({ measure, definition }) => [measure, definition] as const),
]);

const MEASURE_DEFINITIONS: ComparisonKey['measure_definitions'] = Object.fromEntries(
  KEYED_MEASURES.map((measure) => {
    const definition = DEFINITIONS[measure];
    if (definition === undefined) throw new Error(`core/measures no longer defines ${measure}`);
    return [measure, definition];
  }),
);
