import type { Query } from '../target.ts';
import type { Signal } from './signal.ts';

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
type Extras = Pick<PanelSpec, 'max' | 'objective'>;

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
