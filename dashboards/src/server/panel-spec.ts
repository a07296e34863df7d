import type { DisplayUnit } from '../panels/display-units.ts';
import type { Query } from '../target.ts';
import type { Family } from './families.ts';

/** A query about a server that knows what it shows: its unit, and the families it is made of. */
export interface Signal extends Query {
  readonly display: DisplayUnit;
  readonly families: readonly Family[];
  /** The same of exactly the measure phase of the chosen runs, by instance, where `llmbench serve` publishes it. */
  readonly ofRun?: string;
  /** Of an estimate from a histogram: which percentile, and the raw buckets that it is made of. */
  readonly percentile?: { readonly quantile: number; readonly buckets: string };
}

/** What may be said about a signal; the family and the catalog say the rest. */
export interface SignalOptions {
  /** Name in the legend; else the family's own without its prefix. */
  readonly as?: string;
  /** Labels that are kept apart, besides model and instance. */
  readonly by?: readonly string[];
  /** Further matchers, such as `status="error"`. */
  readonly where?: string;
  /**
   * Of a counter that is born with its first event: a family of the same process that exists as soon as one was possible.
   * Where it has a series and the counter has none, the counter is 0.
   */
  readonly zeroWith?: string;
  /** Where a family has no unit of its own ("mixed"), or the query changes it. */
  readonly unit?: string;
}

/** How the signals of a panel are drawn. */
export type PanelKind =
  /** Lines over time. */
  | 'lines'
  /** Areas on top of each other: parts that add up to a whole, such as means of consecutive times. */
  | 'stacked'
  /** One number per series, of the whole time range. */
  | 'number'
  /** A table of the servers: a row each, a column for each signal. */
  | 'servers'
  /** A distribution over time, one panel per instance. */
  | 'heatmap'
  /** The labels of `…_info` families. */
  | 'table';

/** One panel as data; size, id and the facts of its families are added when the dashboard is built. */
export interface PanelSpec {
  readonly kind: PanelKind;
  readonly title: string;
  /** What it means, and what to do about it. */
  readonly about: string;
  readonly signals: readonly Signal[];
  /** The upper end of the axis, for a quantity that has one. */
  readonly max?: number;
  /** What it says without data, where it knows no families. */
  readonly noValue?: string;
  /** Half of the screen, for long names in the legend. */
  readonly wide?: true;
  /** Variable whose value is drawn as a line: a service level objective. */
  readonly objective?: string;
  /** Of a panel over time: finds why it has no data. */
  readonly emptyReason?: Query;
  /** Columns of a table of facts. */
  readonly columns?: readonly string[];
  /** Columns of a table of the servers; its signals are theirs. */
  readonly cells?: readonly Cell[];
}

/** A column of the table of the servers. */
export interface Cell {
  readonly title: string;
  readonly about: string;
  readonly signal: Signal;
  readonly alarm?: Alarm;
}

/** Values that deserve attention, which are colored. */
export type Alarm = { readonly above: number } | { readonly below: number } | 'down';

export interface RowSpec {
  /** Stable: the ids of its panels begin with it. */
  readonly id: number;
  readonly title: string;
  readonly collapsed: boolean;
  /** On the dashboard of the details: what few look at. */
  readonly details?: true;
  readonly panels: readonly PanelSpec[];
}

type Signals = readonly (Signal | readonly Signal[])[];
type Extras = Pick<PanelSpec, 'max' | 'objective' | 'wide' | 'noValue'>;

function panel(kind: PanelKind, title: string, about: string, signals: Signals, extras: Extras = {}): PanelSpec {
  return { kind, title, about, signals: signals.flat(), ...extras };
}

export function lines(title: string, about: string, signals: Signals, extras: Extras = {}): PanelSpec {
  return panel('lines', title, about, signals, extras);
}

export function stacked(title: string, about: string, signals: Signals): PanelSpec {
  return panel('stacked', title, about, signals);
}

export function number(title: string, about: string, signals: Signals): PanelSpec {
  return panel('number', title, about, signals);
}

/** What one server does in one line: is it healthy, is it saturated. */
export function servers(about: string, cells: readonly Cell[]): PanelSpec {
  const signals = cells.map(({ signal }) => signal);
  return { ...panel('servers', 'Servers', about, signals), cells };
}

export function cell(title: string, about: string, signals: Signals, alarm?: Alarm): Cell {
  const [signal, ...others] = signals.flat();
  if (signal === undefined || others.length > 0) throw new Error(`${title}: a cell has one value`);
  return { title, about, signal, ...(alarm === undefined ? {} : { alarm }) };
}

/** The share of requests that kept the objective of the time to first token, as an interval. */
export function kept(share: (edge: 'least' | 'most') => Signal, of = 'requests'): Cell[] {
  const about = `share of the ${of} whose first token arrived within the selected objective`;
  return [
    cell('Kept ≥', `the least ${about}, from the bucket bound below it.`, [share('least')]),
    cell(
      'Kept ≤',
      `the largest ${about}, from the bucket bound above it. Both are the same if the objective is a bucket bound.`,
      [share('most')],
      { below: 0.99 },
    ),
  ];
}

export function heat(title: string, about: string, signal: Signal): PanelSpec {
  return panel('heatmap', title, about, [signal]);
}

export function facts(title: string, about: string, signal: Signal, columns: readonly string[]): PanelSpec {
  return { ...panel('table', title, about, [signal]), columns };
}

/** A row that is open when the dashboard loads: the first screen. */
export function row(id: number, title: string, panels: readonly PanelSpec[]): RowSpec {
  return { id, title, collapsed: false, panels };
}

/** A row that is closed until it is wanted, and asks Prometheus nothing until then. */
export function closedRow(id: number, title: string, panels: readonly PanelSpec[]): RowSpec {
  return { id, title, collapsed: true, panels };
}

/** A row of the dashboard of the details. */
export function detailsRow(id: number, title: string, panels: readonly PanelSpec[]): RowSpec {
  return { ...closedRow(id, title, panels), details: true };
}
