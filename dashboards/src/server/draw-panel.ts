import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import type { DynamicConfigValue, Panel } from '@grafana/grafana-foundation-sdk/dashboard';
import { heatmap } from '../panels/heatmap.ts';
import { joinedTable } from '../panels/joined-table.ts';
import { stat } from '../panels/stat.ts';
import { stateMappings } from '../panels/state-timeline.ts';
import { factsTable } from '../panels/table.ts';
import { NO_VALUE, objectiveLine, timeseries } from '../panels/timeseries.ts';
import { description } from './description.ts';
import type { Alarm, Cell, PanelSpec } from './panel-spec.ts';
import type { Signal } from './signal.ts';
import { COUNT, type DisplayUnit } from './units.ts';
import type { Family } from './families.ts';
import type { PanelFrame } from '../panels/frame.ts';
import { HEATMAP_INSTANCE } from '../variables.ts';

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** Draws a panel with Grafana's own panels. */
export function drawPanel(spec: PanelSpec, id: number, size: Size): Builder<Panel> {
  const noValue = withoutData(spec);
  const missing = noValue === undefined ? {} : { noValue };
  const text = { id, title: spec.title, description: description(spec), ...size };
  if (spec.cells !== undefined) return serversTable(text, spec.cells, noValue ?? '–');
  const { unit, axis } = displayOf(spec);
  const frame = { ...text, unit };
  const [first] = spec.signals;
  if (first === undefined) throw new Error(`${spec.title} shows nothing`);
  switch (spec.kind) {
    case 'number':
      // A tile has no room for more than a dash.
      return stat({
        ...frame,
        description: withMissing(frame.description, noValue),
        queries: tileQueries(spec.signals),
      });
    case 'heatmap':
      return heatmap({
        ...frame,
        ...missing,
        boundUnit: unit,
        unit: 'cps',
        expr: first.expr,
        repeat: HEATMAP_INSTANCE,
      });
    case 'table':
      return factsTable({ ...frame, ...missing, expr: first.expr, labels: ['instance', ...(spec.columns ?? [])] });
    default:
      return timeseries({
        ...frame,
        ...missing,
        ...(axis === undefined ? {} : { axisLabel: axis }),
        ...(spec.max === undefined ? {} : { max: spec.max }),
        stacked: spec.kind === 'stacked',
        // The reason is a series of its own: a text here would be in every empty cell of the legend.
        ...(spec.emptyReason === undefined ? {} : { noValue: NO_VALUE }),
        queries: [
          ...spec.signals,
          ...(spec.objective === undefined ? [] : [objectiveLine(spec.objective)]),
          ...(spec.emptyReason === undefined ? [] : [spec.emptyReason]),
        ],
      });
  }
}

/** A row per server, whatever their number: tiles of more than three overlap. */
function serversTable(frame: PanelFrame, cells: readonly Cell[], noValue: string): Builder<Panel> {
  return joinedTable({
    ...frame,
    noValue,
    labels: { instance: 'Server' },
    columns: cells.map(({ title, signal, alarm }) => ({
      title,
      // What is exact of the chosen runs, else what the scrapes in the time range give.
      expr: signal.ofRun === undefined ? signal.expr : `${signal.ofRun} or ${signal.expr}`,
      properties: [{ id: 'unit', value: signal.display.unit }, ...decimals(signal.display), ...colored(alarm)],
    })),
  });
}

/** An increase is extrapolated: its digits behind the point are none of the count. */
function decimals({ unit }: DisplayUnit): DynamicConfigValue[] {
  return unit === COUNT ? [{ id: 'decimals', value: 0 }] : [];
}

const UP = stateMappings([
  { value: 0, text: 'down', color: 'red' },
  { value: 1, text: 'up', color: 'green' },
]);
/** Grafana colors from a threshold on. */
const TINY = 1e-9;
const CALM = { value: null, color: 'text' };

function colored(alarm: Alarm | undefined): DynamicConfigValue[] {
  if (alarm === undefined) return [];
  const text = { id: 'custom.cellOptions', value: { type: 'color-text' } };
  if (alarm === 'down') return [{ id: 'mappings', value: UP }, text];
  const steps =
    'above' in alarm
      ? [CALM, { value: alarm.above + TINY, color: 'orange' }]
      : [
          { value: null, color: 'orange' },
          { value: alarm.below, color: 'text' },
        ];
  return [
    { id: 'color', value: { mode: 'thresholds' } },
    { id: 'thresholds', value: { mode: 'absolute', steps } },
    text,
  ];
}

/** A tile of one quantity is named by its title: its rows have room for the server only. A percentile is kept. */
function tileQueries(signals: readonly Signal[]): readonly Signal[] {
  const [only, ...others] = signals;
  if (only === undefined || others.length > 0) return signals;
  return [{ ...only, legend: only.legend.replace(/^[A-Za-z ]+ (?=\{\{)/, '') }];
}

function withMissing(text: string, noValue: string | undefined): string {
  return noValue === undefined ? text : `${text}\n\n–: ${noValue}`;
}

function displayOf({ title, signals }: PanelSpec): DisplayUnit {
  const [first, ...others] = signals.map(({ display }) => display);
  if (first === undefined) throw new Error(`${title} shows nothing`);
  const unlike = others.find(({ unit, axis }) => unit !== first.unit || axis !== first.axis);
  if (unlike !== undefined) throw new Error(`${title}: ${JSON.stringify(first)} and ${JSON.stringify(unlike)}`);
  return first;
}

/** What a panel without data says: which page would have its families, and what switches them on. */
function withoutData({ signals }: PanelSpec): string | undefined {
  const families = [...new Set(signals.flatMap((signal) => signal.families))];
  const [first] = families;
  if (first === undefined) return undefined;
  const { title, endpoint, switch: pageSwitch } = first.page;
  const page = `${title} exposes this on port ${endpoint.port}, path ${endpoint.path}, unless configured otherwise.`;
  const switched = pageSwitch === null ? '' : ` The page needs ${pageSwitch}.`;
  const conditions = [...new Set(families.flatMap(conditionOf))].filter((condition) => condition !== pageSwitch);
  const exposed = conditions.length === 0 ? '' : ` Exposed: ${conditions.join(' · ')}.`;
  return `No data. ${page}${switched}${exposed}`;
}

function conditionOf({ exposed, when }: Family): string[] {
  return exposed === 'always' || when === 'always' ? [] : [when.replace(/\.$/, '')];
}
