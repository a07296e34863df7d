import { quantities } from '../../../catalog/equivalents.ts';
import {
  firstTokenTime,
  type FirstTokenPartName,
  type FirstTokenTime,
  type ObservedPart,
  type ObservedTime,
} from '../../../core/measures/first-token-time.ts';
import type { ResultFile } from '../../../core/run/result.ts';
import type { SeriesSummary } from '../../../core/run/servers-file.ts';

/** Dynamo: which of its components the worker of a page is. */
const WORKER_DURATION = 'dynamo_component_request_duration_seconds';
const STAGE_DURATION = 'dynamo_frontend_stage_duration_seconds';
const ROUTER_OVERHEAD = 'dynamo_router_overhead_total_ms';
/** From the end of the prefill to the first token; 0 where the decode worker is called before that end. */
const TRANSFER = 'dynamo_component_router_kv_transfer_estimated_latency_seconds';

/** Where the mean time to first token of a run goes, by its servers' histograms; null where none has it. */
export function firstTokenTimeOf(result: ResultFile, all: readonly SeriesSummary[]): FirstTokenTime | null {
  const series = all.filter(({ repeats, statistics }) => repeats === null && statistics?.kind === 'histogram');
  const whole = nearestToClient(series);
  const found = result.measures.find(
    ({ measure, population, clock, kind }) =>
      measure === 'time_to_first_token' && population === 'ok' && clock === 'sent' && kind === 'distribution',
  );
  if (whole === null || found?.kind !== 'distribution' || found.n === 0) return null;
  const transfer = transferOf(series);
  const parts = [...ofFrontend(series), ...ofWorkers(series, transfer)];
  if (parts.length === 0) return null;
  const client = { count: found.n, mean: found.mean };
  return firstTokenTime(client, { whole, parts, isParallel: transfer?.seconds === 0 });
}

/** A router, a frontend and an engine may each have the time: the longest one is that of the outermost. */
function nearestToClient(series: readonly SeriesSummary[]): ObservedTime | null {
  const times = Map.groupBy(series.filter(hasQuantity('time_to_first_token')), ({ family }) => family);
  return [...times.values()]
    .flatMap((own) => sumOf(own) ?? [])
    .reduce<ObservedTime | null>((most, one) => (most !== null && meanOf(most) >= meanOf(one) ? most : one), null);
}

const meanOf = ({ seconds, count }: ObservedTime): number => seconds / count;

function ofFrontend(series: readonly SeriesSummary[]): ObservedPart[] {
  const preprocess = series.filter(
    ({ family, labels }) => family === STAGE_DURATION && labels['stage'] === 'preprocess',
  );
  return [
    ...part('preprocess', sumOf(preprocess)),
    ...part('router', sumOf(series.filter(({ family }) => family === ROUTER_OVERHEAD)), 'choice'),
  ];
}

/** The engine's own parts: of workers that do everything, or of those that prefill and of those that decode. */
function ofWorkers(series: readonly SeriesSummary[], transfer: ObservedTime | null): ObservedPart[] {
  const prefilling = series.filter(
    ({ family, labels }) =>
      family === WORKER_DURATION &&
      labels['dynamo_component'] === 'prefill' &&
      labels['dynamo_endpoint'] === 'generate',
  );
  const targets = new Set(prefilling.map(({ target }) => target));
  const of = (isPrefill: boolean): Engine => engineOf(series.filter(({ target }) => targets.has(target) === isPrefill));
  if (targets.size === 0) {
    const { queue, prefill, first } = of(false);
    const rest = prefill === null ? less(first, queue) : null;
    return [...part('queue', queue), ...part('prefill', prefill), ...part('engine', rest)];
  }
  const { queue, prefill } = of(true);
  const { first } = of(false);
  return [
    ...part('queue', queue),
    ...part('prefill', prefill ?? less(sumOf(prefilling), queue)),
    ...part('transfer', transfer === null || first === null ? null : less(transfer, first)),
    ...part('first_decode', first),
  ];
}

const transferOf = (series: readonly SeriesSummary[]): ObservedTime | null =>
  sumOf(series.filter(({ family }) => family === TRANSFER));

interface Engine {
  readonly queue: ObservedTime | null;
  readonly prefill: ObservedTime | null;
  /** To the first token, the others included. */
  readonly first: ObservedTime | null;
}

/** A gateway's own families are no engine's. */
const GATEWAYS: ReadonlySet<string> = new Set(['dynamo', 'dynamo-router', 'smg', 'sgl-router', 'trtllm-disagg']);

function engineOf(series: readonly SeriesSummary[]): Engine {
  const of = (quantity: string): ObservedTime | null =>
    sumOf(series.filter(hasQuantity(quantity, ({ system }) => !GATEWAYS.has(system))));
  return { queue: of('queue_time'), prefill: of('prefill_time'), first: of('time_to_first_token') };
}

/** Whether a series is of a histogram with this quantity. */
function hasQuantity(
  name: string,
  counts: (family: { readonly system: string }) => boolean = () => true,
): (series: SeriesSummary) => boolean {
  const members = quantities().find(({ quantity }) => quantity === name)?.families ?? [];
  const families = new Set(members.filter(counts).map(({ family }) => family));
  return ({ family }) => families.has(family);
}

function part(
  name: FirstTokenPartName,
  time: ObservedTime | null,
  per: ObservedPart['per'] = 'request',
): ObservedPart[] {
  return time === null ? [] : [{ part: name, per, ...time }];
}

/** What of a time is not in an earlier part of it; the whole where there is none; null unless both are of as many requests. */
function less(whole: ObservedTime | null, earlier: ObservedTime | null): ObservedTime | null {
  if (whole === null || earlier === null) return whole;
  if (whole.count !== earlier.count) return null;
  return {
    families: [...whole.families, ...earlier.families],
    count: whole.count,
    seconds: whole.seconds - earlier.seconds,
  };
}

const PER_SECOND: ReadonlyMap<string | null, number> = new Map([
  ['seconds', 1],
  ['milliseconds', 1e3],
  ['microseconds', 1e6],
]);

/** Of all series together; null without an observation, and where a count, a sum or the unit is not known. */
function sumOf(series: readonly SeriesSummary[]): ObservedTime | null {
  let [count, seconds] = [0, 0];
  for (const { statistics, unit } of series) {
    const perSecond = PER_SECOND.get(unit);
    if (statistics?.kind !== 'histogram' || statistics.count === null || perSecond === undefined) return null;
    if (statistics.count === 0) continue;
    if (statistics.sum === null || statistics.infeasible_sum) return null;
    count += statistics.count;
    seconds += statistics.sum / perSecond;
  }
  return count === 0 ? null : { families: [...new Set(series.map(({ family }) => family))], count, seconds };
}
