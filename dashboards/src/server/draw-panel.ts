import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import {
  MappingType,
  SpecialValueMatch,
  type DynamicConfigValue,
  type Panel,
  type ValueMapping,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { isVersion } from '../../../catalog/versions.ts';
import type { PanelFrame } from '../panels/frame.ts';
import { heatmap } from '../panels/heatmap.ts';
import { stat } from '../panels/stat.ts';
import { stateMappings } from '../panels/state-timeline.ts';
import { joinedTable, factsTable } from '../panels/table.ts';
import { NO_VALUE, objectiveLine, timeseries } from '../panels/timeseries.ts';
import { HEATMAP_INSTANCE } from '../variables.ts';
import { OVER_TIME } from '../wording.ts';
import type { Family } from './families.ts';
import { type PanelSpec, type Alarm, type Cell, type Signal } from './panel-spec.ts';
import { COUNT, type DisplayUnit } from '../panels/display-units.ts';

const OF_RUN =
  'Counts and percentiles that `llmbench serve` publishes are of exactly the measure phase of the chosen runs, as soon as their ' +
  'results are there; of several runs, the sum of the counts and the highest percentile. All others are of the time range: an ' +
  'increase is extrapolated, and begins with the first scrape.';

/** What a panel says about itself: what it means and what to do, what its percentiles are worth, the facts of the catalog. */
export function description({ about, cells = [], signals, objective }: PanelSpec, ofPercentiles = OVER_TIME): string {
  const families = [...new Set(signals.flatMap((signal) => signal.families))];
  const columns = cells.map((cell) => `**${cell.title}**: ${cell.about}`);
  const estimate = signals.some(({ percentile }) => percentile !== undefined) ? [ofPercentiles] : [];
  const exact = cells.some(({ signal }) => signal.ofRun !== undefined) ? [OF_RUN] : [];
  const limit = objective === undefined ? [] : ['Dashed: the objective.'];
  return [about, ...limit, ...columns, ...exact, ...estimate, ...families.map(familyFacts)].join('\n\n');
}

function familyFacts(family: Family): string {
  const facts = [sentence(family.help), ...releases(family)];
  if (family.deprecated !== undefined) facts.push(sentence(`Not in every version: ${family.deprecated}`));
  if (family.exposed !== 'always') facts.push(sentence(`Exposed: ${family.when}`));
  const { buckets, type } = family;
  if (type === 'histogram' && typeof buckets === 'object' && buckets.length > 0) {
    const first = buckets.find((bound) => bound > 0);
    const below =
      first === undefined ? '' : ` Below ${first} a percentile is only known to lie between 0 and ${first}.`;
    facts.push(`Default bounds: ${buckets.length}, from ${String(buckets[0])} to ${String(buckets.at(-1))}.${below}`);
  }
  return `\`${family.name}\` (${family.type}): ${facts.join(' ')}`;
}

/** Which releases of a server have it, and under which names. */
function releases({ page, since, until, formerly }: Family): string[] {
  const from = isVersion(since) ? ` ${page.title} has it since ${since}` : '';
  const to = isVersion(until) ? `${from === '' ? ` ${page.title} has it` : ''} until ${until}` : '';
  const names = (formerly ?? []).map((name) => `\`${name}\``).join(', ');
  const before = names === '' ? '' : `${from === '' ? ' Formerly' : ', formerly'} ${names}`;
  const text = `${from}${to}${before}`;
  return text === '' ? [] : [`Not in every version:${text}.`];
}

function sentence(text: string): string {
  const trimmed = text.trim().replace(/\.$/, '');
  return `${trimmed.charAt(0).toUpperCase()}${trimmed.slice(1)}.`;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** Draws a panel with Grafana's own panels. */
export function drawPanel(spec: PanelSpec, id: number, size: Size): Builder<Panel> {
  const noValue = spec.noValue ?? withoutData(spec);
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
        queries: withoutName(spec.signals),
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
          // First: of a legend that is longer, only the first lines are in view.
          ...(spec.emptyReason === undefined ? [] : [spec.emptyReason]),
          ...withoutName(spec.signals),
          ...(spec.objective === undefined ? [] : [objectiveLine(spec.objective)]),
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
/** Grafana gives an empty cell the color of the lowest step. */
const UNKNOWN: ValueMapping[] = [
  {
    type: MappingType.SpecialValue,
    options: { match: SpecialValueMatch.NullAndNan, result: { text: '–', color: 'text', index: 0 } },
  },
];
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
    { id: 'mappings', value: UNKNOWN },
    text,
  ];
}

/** A panel of one quantity is named by its title: its legend has room for the server only. A percentile is kept. */
function withoutName(signals: readonly Signal[]): readonly Signal[] {
  const [only, ...others] = signals;
  if (only === undefined || others.length > 0) return signals;
  return [{ ...only, legend: only.legend.replace(/^[A-Za-z ]+ (?=\{\{instance\}\})/, '') }];
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
function withoutData({ signals, cells }: PanelSpec): string | undefined {
  const families = [...new Set(signals.flatMap((signal) => signal.families))];
  const [first] = families;
  if (first === undefined) return undefined;
  const { title, endpoint, switch: pageSwitch } = first.page;
  const page = `${title} exposes this on port ${endpoint.port}, path ${endpoint.path}, unless configured otherwise.`;
  const switched = pageSwitch === null ? '' : ` The page needs ${pageSwitch}.`;
  const conditions = [...new Set(families.flatMap(conditionOf))].filter((condition) => condition !== pageSwitch);
  // A table of the servers has no row only if no page was scraped.
  const exposed = conditions.length === 0 || cells !== undefined ? '' : ` Exposed: ${conditions.join(' · ')}.`;
  return `No data. ${page}${switched}${exposed}`;
}

function conditionOf({ exposed, when }: Family): string[] {
  return exposed === 'always' || when === 'always' ? [] : [when.replace(/\.$/, '')];
}
