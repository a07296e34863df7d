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
  /** Columns of a table. */
  readonly columns?: readonly string[];
}

export interface RowSpec {
  /** Stable: the ids of its panels begin with it. */
  readonly id: number;
  readonly title: string;
  readonly collapsed: boolean;
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
