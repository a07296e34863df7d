import type { PanelSpec, RowSpec } from '../server/panel-spec.ts';
import type { ServerDashboard } from '../server/server-dashboard.ts';

/** Whether a panel shows nothing but percentiles of a latency: what the app's panel draws with their bounds. */
export function isLatencyPercentiles({ kind, signals }: PanelSpec): boolean {
  return (
    kind === 'lines' && signals.every(({ percentile, display }) => percentile !== undefined && TIMES.has(display.unit))
  );
}

const TIMES: ReadonlySet<string> = new Set(['s', 'ms']);

export function hasPercentiles({ rows }: ServerDashboard): boolean {
  return rows.some(({ panels }) => panels.some(isLatencyPercentiles));
}

/** The dashboard's latency percentiles for Grafana with the app, under a uid of its own: rows without any are left out. */
export function appVariant(dashboard: ServerDashboard): ServerDashboard {
  const rows = dashboard.rows
    .map((row): RowSpec => ({ ...row, panels: row.panels.filter(isLatencyPercentiles) }))
    .filter(({ panels }) => panels.length > 0);
  const used = rows.flatMap(({ panels }) => panels.flatMap(({ signals }) => signals.map(({ expr }) => expr))).join();
  return {
    ...dashboard,
    uid: `${dashboard.uid}-app`,
    title: `${dashboard.title}, percentiles with bounds`,
    description: `Latency percentiles with the interval in which each lies; all else is on "${dashboard.title}"`,
    tag: 'llmbench-app',
    choices: (dashboard.choices ?? []).filter(({ name }) => used.includes(`$${name}"`)),
    objectives: [],
    rows,
  };
}
