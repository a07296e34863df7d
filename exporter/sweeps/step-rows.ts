import type { Sweep } from '../../core/sweeps/sweep-shape.ts';
import { OUTCOMES } from '../../core/run/record.ts';
import { SWEEP_FIGURES } from '../../core/sweeps/sweep-figures.ts';
import { sweepNames } from '../../core/sweeps/sweep-names.ts';
import type { ExportRow, RowColumn } from '../store/export/run-rows.ts';

const TEXTS = ['name', 'source', 'load_mode'] as const;
const STATISTICS = ['min', 'max', 'n'] as const;

/** The columns of a step: each figure's mean under its name, then `…_min`, `…_max` and `…_n` over the repeats. */
export const STEP_COLUMNS: readonly RowColumn[] = [
  ...TEXTS.map((name) => ({ name, kind: 'string' as const })),
  { name: 'load', kind: 'double' },
  { name: 'runs', kind: 'double' },
  { name: 'objective', kind: 'string' },
  ...OUTCOMES.map((name) => ({ name, kind: 'double' as const })),
  ...SWEEP_FIGURES.flatMap((figure) =>
    [figure, ...STATISTICS.map((statistic) => `${figure}_${statistic}`)].map((name) => ({
      name,
      kind: 'double' as const,
    })),
  ),
];

/** A row per load of each sweep. */
export async function* stepRows(sweeps: readonly Sweep[]): AsyncGenerator<ExportRow> {
  const names = sweepNames(sweeps);
  for (const [i, { source, load_mode, steps }] of sweeps.entries()) {
    for (const { load, runs, objective, requests, values } of steps) {
      yield await Promise.resolve({
        ...{ name: names[i], source: source.name, load_mode, load, runs: runs.length, objective, ...requests },
        ...Object.fromEntries(
          SWEEP_FIGURES.flatMap((figure) => [
            [figure, values[figure]?.mean ?? null],
            ...STATISTICS.map((statistic) => [`${figure}_${statistic}`, values[figure]?.[statistic] ?? null]),
          ]),
        ),
      });
    }
  }
}
