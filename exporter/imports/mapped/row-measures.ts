import type { MeasureResult } from '../../../core/run/result.ts';
import type { ImportNotes } from '../import-notes.ts';
import { statedDistribution, statedScalar } from '../stated-measures.ts';
import type { ColumnMapping, MappedMeasure } from './mapping.ts';
import type { Row } from './rows.ts';

/** The measures that a row of a file with one row per run states. */
export function measuresOfRow({ cells, number }: Row, mapping: ColumnMapping, notes: ImportNotes): MeasureResult[] {
  const value = ({ column, scale }: MappedMeasure): number | null => {
    const cell = cells[column];
    if (cell === undefined || cell === null || cell === '') return null;
    const found = Number(cell);
    if (Number.isFinite(found)) return found * scale;
    notes.count('values read as unknown: not a number', `row ${number}, ${column}`);
    return null;
  };
  const scalars = mapping.measures.filter(({ statistic }) => statistic === 'value');
  const figures = Map.groupBy(
    mapping.measures.filter(({ statistic }) => statistic !== 'value'),
    ({ measure, definition }) => `${measure} ${definition}`,
  );
  const n = Number(mapping.requests === null ? NaN : cells[mapping.requests]);
  return [
    ...scalars.map((each) => statedScalar(each, value(each))),
    ...[...figures.values()].flatMap((each) => {
      const [first] = each;
      if (first === undefined || !Number.isSafeInteger(n)) return [];
      const told = Object.fromEntries(each.map((one) => [one.statistic, value(one)]));
      return [statedDistribution(first, { ...told, n, percentiles: told })];
    }),
  ];
}
