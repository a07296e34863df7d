import { type Load, closedLoop } from '../../../core/run/load.ts';
import type { MeasureResult } from '../../../core/run/result.ts';
import { PERCENTILES, PERCENTILE_NAMES } from '../../../core/stats/percentiles.ts';
import type { ImportNotes } from '../import-notes.ts';
import type { Fields } from '../reading/fields.ts';
import { exactStated, statedDistribution } from '../stated/stated-measures.ts';
import type { ReportedStatistics, StatedStatistics } from '../stated/stated-measures.ts';
import type { ListedSurvey } from './listed-survey.ts';

/** How a result writes its latencies: what follows the metric's name, and the factor to seconds. */
const UNITS = { ms: ['_ms', 1e-3], 'ms without suffix': ['', 1e-3], seconds: ['', 1] } as const;
const STATISTIC = /^(?:(mean|median|std|min|max)|p(\d+(?:\.\d+)?))$/;

/**
 * The statistics that vLLM's and SGLang's benchmark write as `mean_ttft_ms`, `p99.9_ttft_ms`, …, in seconds; null when the
 * result has none of them. All 0 is what both write when there was nothing to measure: null as well.
 */
export function benchStatistics(
  fields: Fields,
  metric: string,
  unit: keyof typeof UNITS = 'ms',
): ReportedStatistics | null {
  const [suffix, secondsPer] = UNITS[unit];
  const ending = `_${metric}${suffix}`;
  const reported = new Map<string, number>();
  for (const name of fields.names) {
    if (!name.endsWith(ending) || !STATISTIC.test(name.slice(0, -ending.length))) continue;
    const value = fields.number(name);
    if (value !== null) reported.set(name.slice(0, -ending.length), value * secondsPer);
  }
  if ([...reported.values()].every((value) => value === 0)) return null;
  const [mean, std, min, max] = ['mean', 'std', 'min', 'max'].map((name) => reported.get(name) ?? null) as [
    number | null,
    number | null,
    number | null,
    number | null,
  ];
  const percentiles = [...reported].flatMap(([name, value]): [number, number][] => {
    const percent = name === 'median' ? '50' : STATISTIC.exec(name)?.[2];
    return percent === undefined ? [] : [[Number(percent) / 100, value]];
  });
  return { mean, std, min, max, percentiles: new Map(percentiles) };
}

/** Names that are tried for the time of a token, of which seconds and milliseconds are far apart. */
const PER_TOKEN = ['median_tpot', 'mean_tpot', 'median_itl', 'mean_itl'] as const;

/**
 * The unit of a result's latencies. InferenceX's copy of the tool writes them in seconds without a unit in their names; a time
 * per token of a second or more is one in milliseconds. Null: the names have no unit, and no time per token shows it.
 */
export function benchUnit(fields: Fields): keyof typeof UNITS | null {
  if (fields.names.some((name) => /_(ttft|tpot|itl|e2el)_ms$/.test(name))) return 'ms';
  const perToken = PER_TOKEN.map((name) => (fields.has(name) ? fields.number(name) : null)).find(
    (value) => value !== null && value > 0,
  );
  if (perToken == null) return fields.names.some((name) => /^(mean|median)_(ttft|e2el)$/.test(name)) ? null : 'ms';
  return perToken < 1 ? 'seconds' : 'ms without suffix';
}

/** The same as what a result can hold: the percentiles that have a name there. */
export function asStated({ percentiles, ...statistics }: ReportedStatistics, n: number | null): StatedStatistics {
  const named = PERCENTILE_NAMES.flatMap((name) => {
    const found = [...percentiles].find(([q]) => Math.abs(q - PERCENTILES[name]) < 1e-9);
    return found === undefined ? [] : [[name, found[1]] as const];
  });
  return { n, ...statistics, percentiles: Object.fromEntries(named) };
}

/** How many requests were ok, by the summary of a benchmark, else by its lists; null when neither reports. They may disagree. */
export function okRequests(completed: number | null, survey: ListedSurvey | null, notes: ImportNotes): number | null {
  if (survey !== null && completed !== null && completed !== survey.ok) {
    notes.disagreement(`the file states ${completed} ok requests, its lists contain ${survey.ok}`);
  }
  return completed ?? survey?.ok ?? null;
}

/** Whether the lists lack ok requests, as of those that cannot be true: what they result in is then not a figure of the run. */
export function isSample(survey: ListedSurvey, ok: number | null): boolean {
  return ok !== null && survey.ok < ok;
}

/** Whether there is no latency to be reported of: of a run without a success the tools write zeros. */
export function hasNoLatencies(ok: number | null, notes: ImportNotes): boolean {
  if (ok !== 0) return false;
  notes.add('no request succeeded: the zeros that the tool writes for latencies are ignored');
  return true;
}

/**
 * The load of vLLM's and SGLang's benchmark. Without a rate ("inf", and Infinity, which is read as unknown) everything is
 * sent at once, as far as `max_concurrency` lets it: a closed loop. Undefined when the file does not report. The gaps are
 * gamma distributed: a burstiness of 1 is poisson.
 */
export function benchLoad(fields: Fields, burstiness: number | null): Load | undefined {
  const limit = fields.count('max_concurrency');
  if (!fields.has('request_rate')) return undefined;
  const rate = fields.raw('request_rate');
  if (rate === 'trace') return { ...closedLoop(limit), mode: 'trace' };
  if (rate === null || rate === 'inf') return closedLoop(limit);
  const request_rate = fields.amount('request_rate');
  if (request_rate === null) return undefined;
  const arrival_pattern = burstiness === null ? null : burstiness === 1 ? 'poisson' : 'gamma';
  const arrival_smoothness = burstiness === 1 ? null : burstiness;
  return { ...closedLoop(limit), mode: 'request_rate', request_rate, arrival_pattern, arrival_smoothness };
}

/** The file does not report who counted the tokens. */
const INPUT = { measure: 'input_sequence_length', definition: 'prompt_tokens_of_unknown_source' } as const;
const OUTPUT = { measure: 'output_sequence_length', definition: 'completion_tokens_of_unknown_source' } as const;

/** The lengths of the ok requests that a file lists. */
export function lengthMeasures({ input_tokens, output_tokens }: ListedSurvey): MeasureResult[] {
  return [exactStated(INPUT, input_tokens.toArray()), exactStated(OUTPUT, output_tokens.toArray())].filter(
    (result) => result !== null,
  );
}

/**
 * The mean lengths from `total_input_tokens` and `total_output_tokens`, which both tools sum over the ok requests, of
 * which there are `ok`. Where the file lists its requests, their sums are checked against the totals instead.
 */
export function totalLengths(
  fields: Fields,
  ok: number | null,
  survey: ListedSurvey | null,
  notes: ImportNotes,
): MeasureResult[] {
  const sides = [
    ['total_input_tokens', INPUT, survey?.input_tokens],
    ['total_output_tokens', OUTPUT, survey?.output_tokens],
  ] as const;
  return sides.flatMap(([name, identity, listed]) => {
    const total = fields.count(name);
    if (total === null || ok === null || ok === 0) return [];
    if (listed === undefined || listed.length < ok) return [statedDistribution(identity, { n: ok, mean: total / ok })];
    const sum = listed.toArray().reduce((a, b) => a + b, 0);
    if (sum !== total) notes.disagreement(`${name}: the file states ${total}, its listed requests have ${sum}`);
    return [];
  });
}
