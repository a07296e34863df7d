import { ABSENT, quantity, significant, things, changeText } from '../../../core/text/quantities.ts';
import type { Unit } from '../../../core/run/statistic.ts';
import type { Explanation, MovedSignal } from '../../../core/api/comparison.ts';
import { aligned } from './aligned.ts';

export const SIGNAL_HEAD = ['signal', 'A', 'B', 'change', 'q'];

/** The server signals that moved with the measures, for a terminal; empty without an explanation. */
export function explanationText(explanation: Explanation | null): readonly string[] {
  if (explanation === null) return [];
  const { signals } = explanation;
  const rows = aligned([SIGNAL_HEAD, ...signals.map(signalCells)]).map((line) => `  ${line}`);
  const looks = signals.map(({ title, family_b, look_at }) => `  ${title} (${family_b}): look at ${look_at}`);
  return [...explanationSummary(explanation), ...(signals.length === 0 ? [] : [...rows, ...looks])];
}

/** What moved with what, of how many runs, and what it does not say. */
export function explanationSummary({ signals, compared, runs, not_used }: Explanation): readonly string[] {
  const total = runs.a + runs.b;
  const without =
    not_used.length === 0 ? '' : `; ${things(not_used.length, 'runs')} without exact server metrics not used`;
  if (runs.a === 0 || runs.b === 0) {
    return [
      `server signals: not available, because no run of ${runs.a === 0 ? 'A' : 'B'} has exact server metrics${without}`,
    ];
  }
  const of = `${things(compared, 'signals')} compared in ${things(total, 'runs')}${without}`;
  if (signals.length === 0) return [`server signals: none moved clearly (${of})`];
  const measures = [...new Set(signals.flatMap(({ moved_with_titles: titles }) => titles))].join(', ');
  return [`server signals that moved with ${measures} (${of}); this does not show the cause:`];
}

export function signalCells({ title, unit, median_a, median_b, ratio, q }: MovedSignal): string[] {
  return [
    title,
    valueText(median_a, unit),
    valueText(median_b, unit),
    ratio === null ? ABSENT : changeText(ratio),
    q < 0.001 ? '< 0.001' : q.toPrecision(2),
  ];
}

function valueText(value: number, unit: string): string {
  switch (unit) {
    case 'hertz':
      return `${significant(value / 1e6)} MHz`;
    case 'watts':
      return `${significant(value)} W`;
    default:
      return quantity(value, unit as Unit);
  }
}
