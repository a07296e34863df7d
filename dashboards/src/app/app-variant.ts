import type { PanelSpec, RowSpec, Signal } from '../server/panel-spec.ts';
import { withUsedChoices, type ServerDashboard } from '../server/server-dashboard.ts';

/** Whether a panel shows nothing but percentiles of a latency, and its mean: what the app's panel draws with bounds. */
function isLatencyPercentiles({ kind, signals }: PanelSpec): boolean {
  const families = new Set(ofPercentiles(signals).flatMap((signal) => signal.families));
  const isOfThem = (signal: Signal): boolean => signal.families.every((family) => families.has(family));
  return kind === 'lines' && signals.every((signal) => TIMES.has(signal.display.unit) && isOfThem(signal));
}

function ofPercentiles(signals: readonly Signal[]): readonly Signal[] {
  return signals.filter(({ percentile }) => percentile !== undefined);
}

const TIMES: ReadonlySet<string> = new Set(['s', 'ms']);

export function hasPercentiles({ rows }: ServerDashboard): boolean {
  return rows.some(({ panels }) => panels.some(isLatencyPercentiles));
}

/** The dashboard's latency percentiles for Grafana with the app, under a uid of its own: rows without any are left out. */
export function appVariant(dashboard: ServerDashboard): ServerDashboard {
  const rows = dashboard.rows
    .map((row): RowSpec => {
      const panels = row.panels.filter(isLatencyPercentiles);
      return {
        ...row,
        collapsed: row.details === true,
        panels: panels.map((panel) => ({ ...panel, signals: ofPercentiles(panel.signals) })),
      };
    })
    .filter(({ panels }) => panels.length > 0);
  return withUsedChoices({
    ...dashboard,
    uid: `${dashboard.uid}-app`,
    title: `${dashboard.title}, percentiles with bounds`,
    description: `Latency percentiles with the interval in which each lies; all else is on "${dashboard.title}"`,
    tag: 'llmbench-app',
    objectives: [],
    // The app's panel says itself what it lacks.
    emptyReasons: false,
    rows,
  });
}
