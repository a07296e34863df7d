import type { MeasureResult, ResultFile } from '../../core/run/result.ts';
import { orderOf } from '../../core/run/run-id.ts';
import type { RunFile } from '../../core/run/run.ts';
import type { PercentileName } from '../../core/stats/percentiles.ts';
import { directionOf } from './rules.ts';
import type { AchievedLoad, Figure, RunFigures } from './run-figures.ts';
import type { Stat } from '../../core/api/verdict.ts';

/** The percentiles that are compared: what is usual, what is frequent, and the tail where there are values enough. */
const PERCENTILES: readonly PercentileName[] = ['p50', 'p90', 'p99'];

/** What the judge reads of a stored run. */
export function figuresOfRun(run: RunFile, result: ResultFile): RunFigures {
  const { servers } = result;
  return {
    ...orderOf(run),
    scenario: run.scenario,
    fingerprint: run.fingerprint,
    configuration: run.comparison_key,
    dataset: run.dataset,
    command_line: run.command_line,
    ...(run.shards === undefined ? {} : { missing_shards: run.shards.missing.length }),
    load: loadOf(result.measures),
    client: result.client.verdict,
    // More requests at the servers than the client sent are others'.
    foreign_traffic: servers?.requests?.difference == null ? null : servers.requests.difference > 0,
    figures: result.measures.flatMap(figuresOf),
  };
}

function figuresOf(result: MeasureResult): Figure[] {
  const { measure, unit, definition, origin, population, clock } = result;
  const key = { measure, unit, definition, origin, population, clock, direction: directionOf(measure) };
  const figure = (stat: Stat, value: Figure['value'], ci95: Figure['ci95']): Figure => ({
    ...{ ...key, stat, value, ci95 },
    n: result.kind === 'scalar' ? null : result.n,
    effective_n: result.kind === 'scalar' ? null : result.effective_n,
  });
  if (result.kind === 'scalar') return [figure('value', result.value, null)];
  const { n, mean, percentiles } = result;
  // Over all requests a failed one is infinitely slow, which JSON can only write as null.
  const infinite = population === 'all' && key.direction === 'lower' && n !== null && n > 0 ? Infinity : null;
  return [
    figure('mean', mean ?? infinite, null),
    ...PERCENTILES.map((name) => {
      const { bounds, value, ci95 } = percentiles[name];
      return figure(name, bounds ?? value ?? infinite, ci95);
    }),
  ];
}

function loadOf(measures: readonly MeasureResult[]): AchievedLoad {
  const mean = (name: string): number | null => {
    const found = measures.find((each) => each.measure === name && each.population === 'ok');
    return found?.kind === 'distribution' ? found.mean : null;
  };
  const cached = measures.find(({ measure }) => measure === 'cached_input_ratio');
  return {
    input_tokens: mean('input_sequence_length'),
    output_tokens: mean('output_sequence_length'),
    cached_input_ratio: cached?.kind === 'scalar' ? cached.value : null,
    // The planned rate is in the fingerprint. Of what was achieved the result says nothing that a slower server would not
    // change as well: it stretches the window. A client that falls behind its plan is saturated.
    request_rate: null,
  };
}
