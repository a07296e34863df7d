import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import type { Panel } from '@grafana/grafana-foundation-sdk/dashboard';
import { heatmap } from '../panels/heatmap.ts';
import { stat } from '../panels/stat.ts';
import { factsTable } from '../panels/table.ts';
import { NO_VALUE, objectiveLine, timeseries } from '../panels/timeseries.ts';
import { description } from './description.ts';
import type { PanelSpec } from './panel-spec.ts';
import { unlessOfRun } from './run-exact.ts';
import type { Query } from '../target.ts';
import type { Signal } from './signal.ts';
import type { DisplayUnit } from './units.ts';
import type { Family } from './families.ts';

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** Draws a panel with Grafana's own panels. */
export function drawPanel(spec: PanelSpec, id: number, size: Size): Builder<Panel> {
  const { unit, axis } = displayOf(spec);
  const noValue = withoutData(spec);
  const missing = noValue === undefined ? {} : { noValue };
  const frame = { id, title: spec.title, description: description(spec), ...size, unit };
  const [first] = spec.signals;
  if (first === undefined) throw new Error(`${spec.title} shows nothing`);
  switch (spec.kind) {
    case 'number':
      // A tile has no room for more than a dash.
      return stat({
        ...frame,
        description: withMissing(frame.description, noValue),
        queries: tileQueries(spec.signals).flatMap(ofRunFirst),
      });
    case 'heatmap':
      return heatmap({ ...frame, ...missing, boundUnit: unit, unit: 'cps', expr: first.expr, repeat: 'instance' });
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

/** A tile of one quantity is named by its title: its rows have room for the server only. A percentile is kept. */
function tileQueries(signals: readonly Signal[]): readonly Signal[] {
  const [only, ...others] = signals;
  if (only === undefined || others.length > 0) return signals;
  const short = (legend: string): string => legend.replace(/^[A-Za-z ]+ (?=\{\{)/, '');
  const { ofRun } = only;
  const named = { ...only, legend: short(only.legend) };
  if (ofRun === undefined) return [named];
  const query = { ...ofRun.query, legend: short(ofRun.query.legend) };
  return [{ ...named, ofRun: { ...ofRun, query } }];
}

/** What is exact of the chosen runs, else what the scrapes in the time range give. */
function ofRunFirst(signal: Signal): readonly Query[] {
  const { ofRun } = signal;
  return ofRun === undefined ? [signal] : [ofRun.query, { ...signal, expr: unlessOfRun(signal.expr, ofRun) }];
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
