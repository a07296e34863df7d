import { dateTimeFormat, systemDateFormats } from '@grafana/data';
import type { TimeZone } from '@grafana/schema';
import React from 'react';
import { Axis, type Area } from '../../../charts/marks.tsx';
import type { ValueFormat } from './value-text.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STEPS = [
  ...[1, 2, 5, 10, 15, 30].map((n) => n * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE),
  ...[1, 2, 3, 6, 12].map((n) => n * HOUR),
  ...[1, 2, 7, 14, 30, 90, 365].map((n) => n * DAY),
];

export interface TimeTick {
  timeMs: number;
  text: string;
}

/** Ticks at round times of the dashboard's time zone, about `count` of them, in the date formats of the Grafana server. */
export function timeTicks(fromMs: number, toMs: number, count: number, timeZone: TimeZone): TimeTick[] {
  const rough = (toMs - fromMs) / Math.max(1, count);
  if (!(rough > 0)) {
    return [];
  }
  const step = STEPS.find((candidate) => candidate >= rough) ?? Math.ceil(rough / DAY) * DAY;
  const format = formatOf(step, toMs - fromMs);
  const offset = zoneOffsetMs(fromMs, timeZone);
  const ticks: TimeTick[] = [];
  for (let timeMs = Math.ceil((fromMs + offset) / step) * step - offset; timeMs <= toMs; timeMs += step) {
    ticks.push({ timeMs, text: dateTimeFormat(timeMs, { timeZone, format }) });
  }
  return ticks;
}

function formatOf(step: number, span: number): string {
  const { second, minute, hour, day } = systemDateFormats.interval;
  if (step < MINUTE) {
    return second;
  }
  if (step < DAY) {
    return span <= DAY ? minute : hour;
  }
  return day;
}

function zoneOffsetMs(timeMs: number, timeZone: TimeZone): number {
  const [, sign, hours, minutes] =
    /^([+-])(\d\d):?(\d\d)$/.exec(dateTimeFormat(timeMs, { timeZone, format: 'Z' })) ?? [];
  return (sign === '-' ? -1 : 1) * (Number(hours ?? 0) * HOUR + Number(minutes ?? 0) * MINUTE);
}

interface Props extends Area {
  timeTicks: readonly TimeTick[];
  valueTicks: readonly number[];
  format: ValueFormat;
}

/** Grid lines and tick labels. */
export function Axes({ x, y, timeTicks, valueTicks, format }: Props) {
  const texts = new Map(timeTicks.map(({ timeMs, text }) => [timeMs, text]));
  return (
    <g aria-hidden="true" data-part="axes">
      <Axis axis="y" x={x} y={y} ticks={valueTicks} text={format} />
      <Axis axis="x" x={x} y={y} ticks={[...texts.keys()]} text={(timeMs) => texts.get(timeMs) ?? ''} />
    </g>
  );
}
