import type { DataFrame } from '@grafana/data';
import type { MeasureResult } from '../../../../../core/run/result.ts';
import { PERCENTILE_NAMES } from '../../../../../core/stats/percentiles.ts';
import type { RunResponse } from '../../../../../core/api/runs.ts';
import { number, text } from './field.ts';

/** One row per measure of a finished run, in base units; a run that lasts has none yet. */
export function measuresFrame({ summary, result }: RunResponse): DataFrame {
  const measures = result?.measures ?? [];
  const texts = (read: (one: MeasureResult) => string) => measures.map(read);
  const statistic = (read: (one: MeasureResult & { kind: 'distribution' }) => number | null) =>
    measures.map((one) => (one.kind === 'distribution' ? read(one) : null));
  return {
    name: summary.run_id,
    length: measures.length,
    meta: { preferredVisualisationType: 'table' },
    fields: [
      text(
        'Run',
        measures.map(() => summary.run_id)
      ),
      text(
        'Measure',
        texts(({ measure }) => measure)
      ),
      text(
        'Clock',
        texts(({ clock }) => clock)
      ),
      text(
        'Population',
        texts(({ population }) => population)
      ),
      text(
        'Unit',
        texts(({ unit }) => unit)
      ),
      number(
        'Value',
        measures.map((one) => (one.kind === 'scalar' ? one.value : null))
      ),
      number(
        'n',
        statistic(({ n }) => n)
      ),
      number(
        'Mean',
        statistic(({ mean }) => mean)
      ),
      number(
        'Standard deviation',
        statistic(({ std }) => std)
      ),
      number(
        'Min',
        statistic(({ min }) => min)
      ),
      number(
        'Max',
        statistic(({ max }) => max)
      ),
      ...PERCENTILE_NAMES.map((name) =>
        number(
          name.replace('_', '.'),
          statistic(({ percentiles }) => percentiles[name].value)
        )
      ),
      text(
        'Definition',
        texts(({ definition }) => definition)
      ),
    ],
  };
}
