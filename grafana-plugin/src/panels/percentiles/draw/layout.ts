import type { TimeZone } from '@grafana/schema';
import { linearScale, logScale, type Scale } from './scale.ts';
import { type TimeTick, timeTicks } from './time-ticks.ts';
import { logTicks, valueTicks } from './ticks.ts';
import type { ValueRange } from './value-range.ts';
import type { ValueFormat } from './value-text.ts';

/** Where things are in the drawing, in pixels. */
export interface Layout {
  x: Scale;
  y: Scale;
  timeTicks: TimeTick[];
  valueTicks: number[];
}

interface Request {
  width: number;
  height: number;
  fromMs: number;
  toMs: number;
  timeZone: TimeZone;
  values: ValueRange;
  log: boolean;
  format: ValueFormat;
  /** Width of a text in pixels. */
  measure: (text: string) => number;
  /** Room on the right for the names of the lines. */
  endLabelWidth: number;
  /** There are run regions, whose titles are above the drawing. */
  hasTitles: boolean;
}

const AXIS_HEIGHT = 26;
const TICK_HEIGHT = 40;
/** Distance of a value from the axis, and some room for a typeface that is loaded later than it is measured. */
const TICK_ROOM = 18;
const TIME_TICK_WIDTH = 90;

export function layout(request: Request): Layout {
  const { width, height, fromMs, toMs, values, format, measure } = request;
  const top = request.hasTitles ? 20 : 8;
  const bottom = Math.max(top + 1, height - AXIS_HEIGHT);
  const ticks = (request.log ? logTicks : valueTicks)([values.low, values.high], (bottom - top) / TICK_HEIGHT);
  const left = Math.ceil(Math.max(24, ...ticks.map((value) => measure(format(value))))) + TICK_ROOM;
  const right = Math.max(left + 1, width - 10 - request.endLabelWidth);
  const x = linearScale([fromMs, toMs], [left, right]);
  const fits = ({ timeMs, text }: TimeTick) => x(timeMs) + measure(text) / 2 <= width;
  return {
    x,
    y: (request.log ? logScale : linearScale)([values.low, values.high], [bottom, top]),
    timeTicks: timeTicks(fromMs, toMs, (right - left) / TIME_TICK_WIDTH, request.timeZone).filter(fits),
    valueTicks: ticks,
  };
}
