import type { Dashboard, DashboardBuilder, QueryVariableBuilder } from '@grafana/grafana-foundation-sdk/dashboard';
import { loadCatalogHead } from '../../../catalog/load.ts';
import { selectors } from '../../../prometheus/promql.ts';
import { baseDashboard, type DashboardFrame } from '../base-dashboard.ts';
import {
  datasourceVariable,
  measuredServerVariables,
  presentSeries,
  runOfSystemVariable,
  scrapeIntervalVariable,
} from '../variables.ts';
import { choiceVariable, heatmapVariable, objectiveVariable, type Choice, type Objective } from '../variables.ts';
import { withRow } from '../panels/row.ts';
import type { Histograms } from '../../../prometheus/native-histograms.ts';
import { drawPanel, type Size } from './draw-panel.ts';
import { emptyReason, serversVariable } from './empty-reason.ts';
import type { PanelSpec, RowSpec, PanelKind } from './panel-spec.ts';

/** The dashboard of one system, as data. */
export interface ServerDashboard extends DashboardFrame {
  /** The catalog of its servers. */
  readonly system: string;
  /** A family that each server of the system has from its start, and so what its targets are found by. */
  readonly presence: string;
  /** Of servers that lack it, such as workers of another system: families of which they have one instead. */
  readonly otherPresence?: readonly string[];
  /** Where the model's name is read: a family and its label; null when the system reports none. */
  readonly model: { readonly family: string; readonly label: string } | null;
  readonly choices?: readonly Choice[];
  readonly objectives?: readonly Objective[];
  /** Whether empty panels over time say why; they do unless it is false. */
  readonly emptyReasons?: false;
  readonly rows: readonly RowSpec[];
}

export type DrawPanel = typeof drawPanel;

/** Builds the dashboard; `draw` may be another way to draw panels. */
export function serverDashboard(
  spec: ServerDashboard,
  draw: DrawPanel = drawPanel,
  histograms: Histograms = 'classic',
): Dashboard {
  const dashboard = baseDashboard({ ...spec, description: `${spec.description}${checkedWith(spec)}` }).variables([
    datasourceVariable(),
    runOfSystemVariable(spec.system),
    ...measuredServerVariables(spec),
    ...(spec.choices ?? []).map((choice) => choiceVariable(choice)),
    ...(spec.objectives ?? []).map((objective) => objectiveVariable(objective, histograms)),
    ...heatmapsOf(spec),
    scrapeIntervalVariable(presentSeries(spec, 'job=~"$job",instance=~"$instance"')),
    ...(spec.emptyReasons === false ? [] : [serversVariable(spec)]),
  ]);
  for (const row of spec.rows) addRow(dashboard, withEmptyReasons(row, spec), draw);
  return dashboard.build();
}

/** The variable that the heatmaps of a dashboard are repeated for. */
function heatmapsOf({ rows }: ServerDashboard): QueryVariableBuilder[] {
  const heatmaps = rows.flatMap(({ panels }) => panels.filter(({ kind }) => kind === 'heatmap'));
  const queries = heatmaps.flatMap(({ signals }) => signals.map(({ expr }) => expr));
  const buckets = queries.flatMap(selectors).map(({ metric }) => metric);
  return queries.length === 0 ? [] : [heatmapVariable([...new Set(buckets)])];
}

/** Whether the servers are healthy and saturated, and where the time goes. */
export function mainDashboard(spec: ServerDashboard): ServerDashboard {
  return withUsedChoices({ ...spec, rows: spec.rows.filter(({ details }) => details !== true) });
}

/** The rows of features and parts that few look at, on a dashboard of their own; null: there are none. */
export function detailsDashboard(spec: ServerDashboard): ServerDashboard | null {
  const rows = spec.rows.filter(({ details }) => details === true);
  if (rows.length === 0) return null;
  return withUsedChoices({
    ...spec,
    uid: `${spec.uid}-details`,
    title: `${spec.title}, details`,
    description: `Features and parts that not every deployment has; health, saturation and latency are on "${spec.title}"`,
    rows,
  });
}

/** Without the variables that none of the rows uses. */
export function withUsedChoices(spec: ServerDashboard): ServerDashboard {
  const panels = spec.rows.flatMap((row) => row.panels);
  const used = JSON.stringify(
    panels.map(({ signals, objective }) => [signals.map(({ expr }) => expr), `$${objective}`]),
  );
  const isUsed = ({ name }: { readonly name: string }): boolean => new RegExp(`\\$${name}\\b`).test(used);
  return {
    ...spec,
    choices: (spec.choices ?? []).filter(isUsed),
    objectives: (spec.objectives ?? []).filter(isUsed),
  };
}

function withEmptyReasons(row: RowSpec, servers: ServerDashboard): RowSpec {
  if (servers.emptyReasons === false) return row;
  const isOverTime = ({ kind }: PanelSpec): boolean => kind === 'lines' || kind === 'stacked';
  const panels = row.panels.map((panel) =>
    isOverTime(panel) ? { ...panel, emptyReason: emptyReason(panel, servers) } : panel,
  );
  return { ...row, panels };
}

/** The releases whose metrics the queries were compared with. */
function checkedWith({ system }: ServerDashboard): string {
  const { title, versions } = loadCatalogHead(system);
  if (versions === undefined) return '';
  const { oldest, newest } = versions;
  return `. Checked with ${title} ${oldest === newest ? newest : `${oldest} to ${newest}`}`;
}

/** Ids of panels are the row's id and the place in it: further panels of a row go to its end. */
export function addRow(dashboard: DashboardBuilder, row: RowSpec, draw: DrawPanel = drawPanel): void {
  const boxes = sizes(row.panels);
  const drawn = row.panels.map((panel, index) => draw(panel, panelId(row, index), boxOf(boxes, index, panel)));
  withRow(dashboard, row, drawn);
}

function panelId(row: RowSpec, index: number): number {
  return row.id * 100 + index + 1;
}

function boxOf(boxes: readonly Size[], index: number, { title }: PanelSpec): Size {
  const box = boxes[index];
  if (box === undefined) throw new Error(`${title} has no size`);
  return box;
}

const SCREEN_WIDTH = 24;
const PER_LINE: Readonly<Record<PanelKind, number>> = {
  number: 4,
  servers: 1,
  lines: 3,
  stacked: 3,
  heatmap: 1,
  table: 1,
};
const HEIGHT: Readonly<Record<PanelKind, number>> = {
  number: 4,
  servers: 5,
  lines: 7,
  stacked: 7,
  heatmap: 9,
  table: 6,
};

/** Gives each panel of a row its size: neighbors of like size share as few lines as they need, about as many on each. */
function sizes(panels: readonly PanelSpec[]): Size[] {
  return runsOfHeight(panels).flatMap((run) => {
    const [{ kind, wide }] = run;
    const lines = Math.ceil(run.length / (wide === true ? 2 : PER_LINE[kind]));
    return Array.from({ length: lines }, (_, line) => {
      const count = Math.floor((run.length + lines - 1 - line) / lines);
      const each = Math.floor(SCREEN_WIDTH / count);
      return Array.from({ length: count }, (_, index) => ({
        width: index === count - 1 ? SCREEN_WIDTH - each * (count - 1) : each,
        height: HEIGHT[kind],
      }));
    }).flat();
  });
}

type Run = [PanelSpec, ...PanelSpec[]];

/** The panels in groups of neighbors that are of one size. */
function runsOfHeight(panels: readonly PanelSpec[]): Run[] {
  const runs: Run[] = [];
  for (const panel of panels) {
    const run = runs.at(-1);
    if (run !== undefined && HEIGHT[run[0].kind] === HEIGHT[panel.kind] && run[0].wide === panel.wide) run.push(panel);
    else runs.push([panel]);
  }
  return runs;
}
