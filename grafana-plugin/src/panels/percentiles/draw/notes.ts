import { dateTimeFormat } from '@grafana/data';
import type { TimeZone } from '@grafana/schema';
import { INFEASIBLE_SUM, NARROWED } from '../compute/percentile-points.ts';
import { sloShare, type PercentileSeries } from '../compute/percentile-series.ts';
import type { Percentile } from '../compute/percentile.ts';
import { seriesOf, type PercentileLine } from './lines.ts';
import { shareText, type ValueFormat } from './value-text.ts';
import { t } from '../../../text.ts';

/** With more lines, intervals overlap too much to be readable and are slow to paint. */
const MAX_INTERVALS = 15;

/** True when the lines are few enough for the intervals of all of them. */
export function drawsIntervals(lines: readonly PercentileLine[]): boolean {
  return lines.length <= MAX_INTERVALS;
}

interface Request {
  lines: readonly PercentileLine[];
  /** The lines are too many for their intervals. */
  withoutIntervals: boolean;
  mode: 'time' | 'range';
  slo: number | undefined;
  format: ValueFormat;
  timeZone: TimeZone;
}

/** The sentences under the drawing: the objective, what the intervals promise, and what is missing from the counts. */
export function notes({ lines, withoutIntervals, mode, slo, format, timeZone }: Request): string[] {
  const all = seriesOf(lines);
  const series = all.map((line) => line.series);
  const time = (ms: number) => dateTimeFormat(ms, { timeZone, format: 'HH:mm:ss' });
  return [
    ...(slo === undefined ? [] : sloNotes(all, slo, format)),
    ...(withoutIntervals
      ? [
          t(
            'panel.note.many',
            'Intervals are hidden with more than {{lines}} lines. Click a name to show its interval.',
            {
              lines: MAX_INTERVALS,
            }
          ),
        ]
      : []),
    ...promise(series, mode),
    ...all.flatMap(({ seriesName, series: { lateMs } }) =>
      lateMs === null
        ? []
        : [
            sentence(
              seriesName,
              t('panel.note.late', 'counted from {{time}}: observations before the first sample are not included.', {
                time: time(lateMs),
              })
            ),
          ]
    ),
    ...sumNotes(series),
    ...gridNotes(series, time),
  ];
}

function sloNotes(all: readonly PercentileLine[], slo: number, format: ValueFormat): string[] {
  const value = format(slo);
  const shares = all.flatMap(({ seriesName, series }) => {
    const share = sloShare(series, slo);
    return share ? [{ share, text: sentence(seriesName, shareText(share)) }] : [];
  });
  const list = shares.map(({ text }) => text).join('; ');
  const inside = shares.some(({ share }) => share.certain && share.low !== share.high);
  return [
    ...(list ? [t('panel.note.slo', 'At or below {{value}}: {{list}}.', { value, list })] : []),
    ...(inside
      ? [
          t('panel.note.slo-bound', 'A bucket bound at {{value}} would make this share exact.', {
            value,
          }),
        ]
      : []),
  ];
}

/** What the points of the lines cover and what the intervals promise. */
function promise(series: readonly PercentileSeries[], mode: 'time' | 'range'): string[] {
  const counters = series.filter(({ source }) => source.kind === 'counters');
  const windows = counters.map(({ windowMs }) => windowMs ?? 0).sort((a, b) => a - b);
  const [shortest, longest] = [seconds(windows[0] ?? 0), seconds(windows.at(-1) ?? 0)];
  const span = shortest === longest ? shortest : `${shortest} – ${longest}`;
  const certain = series.some(({ source }) => source.trueCounts);
  const rates = series.some(({ source }) => !source.trueCounts);
  return [
    ...(certain && !rates
      ? [t('panel.note.certain', 'Bounds are guaranteed: they are computed from raw counts.')]
      : []),
    ...(rates
      ? [
          t(
            'panel.note.rates',
            'From rates: the interval is the bucket that contains the estimate, not a bound. Query the raw _bucket counters for bounds.'
          ),
        ]
      : []),
    ...(counters.length > 0 && mode === 'time'
      ? [t('panel.note.window', 'Each point covers the preceding {{span}}.', { span })]
      : []),
    ...(series.some(({ range }) => range?.reset)
      ? [t('panel.note.reset', 'Counter reset: observations since the last sample before the reset are lost.')]
      : []),
  ];
}

function sumNotes(series: readonly PercentileSeries[]): string[] {
  const count = (flag: number, has: (percentile: Percentile) => boolean) =>
    series.reduce((sum, one) => sum + one.points.countWith(flag) + (one.range?.percentiles.some(has) ? 1 : 0), 0);
  const infeasible = count(INFEASIBLE_SUM, ({ infeasibleSum }) => infeasibleSum);
  return [
    ...(count(NARROWED, ({ narrowed }) => narrowed) > 0
      ? [t('panel.note.narrowed', 'Bounds are narrowed by _sum where possible.')]
      : []),
    ...(infeasible > 0
      ? [
          t(
            'panel.note.infeasible',
            '_sum is inconsistent with the buckets at {{points}} points and is ignored there.',
            {
              points: infeasible,
            }
          ),
        ]
      : []),
  ];
}

function gridNotes(series: readonly PercentileSeries[], time: (ms: number) => string): string[] {
  const changes = new Set(series.flatMap(({ source }) => source.gridChangedMs ?? []));
  return [...changes].map((ms) =>
    t('panel.note.grid', 'Buckets changed at {{time}}: each set of bucket bounds is drawn and counted separately.', {
      time: time(ms),
    })
  );
}

function sentence(name: string, text: string): string {
  return name ? `${name}: ${text}` : `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

function seconds(ms: number): string {
  return ms < 120_000 ? `${ms / 1000} s` : `${Number((ms / 60_000).toFixed(1))} min`;
}
