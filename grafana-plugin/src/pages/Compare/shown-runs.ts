import type { GrafanaTheme2 } from '@grafana/data';
import { runTitle } from '../../components/run-link.ts';
import type { CompareResponse } from '../../../../core/api/comparison.ts';
import type { RunResponse } from '../../../../core/api/runs.ts';
import { paletteColor } from '../../charts/chart-style.ts';

/** More runs of a set would hide each other in the charts; the verdict is about all of them. */
const MAX_SHOWN = 3;

export const SETS = ['a', 'b'] as const;
export type SetName = (typeof SETS)[number];

/** A run that the charts and tables show, with its mark: `A2` is the second run of A. */
export interface ShownRun {
  mark: string;
  name: string;
  /** That of its set. */
  color: string;
  response: RunResponse;
}

/** The ids of the first runs of each set. */
export function shownIds({ runs }: Pick<CompareResponse, 'runs'>): string[] {
  return SETS.flatMap((set) => runs[set].slice(0, MAX_SHOWN));
}

export function setColor(theme: GrafanaTheme2, set: SetName): string {
  return paletteColor(theme, SETS.indexOf(set));
}

/** The mark of a run; null where the run is in neither set. */
export function markOf({ runs }: Pick<CompareResponse, 'runs'>, runId: string): string | null {
  const set = SETS.find((name) => runs[name].includes(runId));
  return set === undefined ? null : `${set.toUpperCase()}${runs[set].indexOf(runId) + 1}`;
}

export function shownRuns(
  comparison: Pick<CompareResponse, 'runs'>,
  responses: readonly RunResponse[],
  theme: GrafanaTheme2
): ShownRun[] {
  return responses.map((response) => {
    const { summary } = response;
    const mark = markOf(comparison, summary.run_id) ?? '';
    const set = comparison.runs.a.includes(summary.run_id) ? 'a' : 'b';
    return { mark, name: `${mark} ${runTitle(summary)}`, color: setColor(theme, set), response };
  });
}
