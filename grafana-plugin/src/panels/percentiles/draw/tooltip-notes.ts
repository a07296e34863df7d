import { dateTimeFormat } from '@grafana/data';
import { t } from '@grafana/i18n';
import type { TimeZone } from '@grafana/schema';
import { fractionBelow } from '../../../../../core/histogram/bounds.ts';
import { samplingInterval } from '../compute/sampling.ts';
import { shareText } from './percent-text.ts';
import { PLAIN_TEXT } from './plain-text.ts';
import type { TooltipRow } from './tooltip-rows.ts';
import { intervalText, type ValueFormat } from './value-text.ts';

/** With more lines these would be a wall of text. */
const MAX_SAMPLING_NOTES = 4;

/** What has to be known besides the numbers at one time: what they cover, chance, the objective, resets, the sum. */
export function tooltipNotes(
  rows: readonly TooltipRow[],
  slo: number | undefined,
  format: ValueFormat,
  timeZone: TimeZone
): string[] {
  const [first] = rows;
  if (!first) {
    return [];
  }
  const { point } = first;
  const time = (value: number) => dateTimeFormat(value, { timeZone, format: 'HH:mm:ss' });
  const notes: string[] = [];
  if (rows.some(({ line }) => !line.series.source.trueCounts)) {
    notes.push(t('panel.tooltip.rates', 'Interval: bucket of the estimate, not a bound'));
  }
  if (point.n !== null) {
    const span = { from: time(point.startMs), to: time(point.endMs), ...PLAIN_TEXT };
    notes.push(t('panel.tooltip.span', 'Counted from {{from}} to {{to}}', span));
    notes.push(...samplingNotes(rows, format));
  }
  if (slo !== undefined) {
    const share = fractionBelow(slo, first.line.series.histogramOf(point));
    const alone = rows.every(({ line }) => line.series === first.line.series);
    if (share && alone) {
      const text = shareText({ ...share, certain: first.line.series.source.trueCounts });
      notes.push(
        t('panel.tooltip.slo', 'At or below {{slo}}: {{share}}', { slo: format(slo), share: text, ...PLAIN_TEXT })
      );
    }
  }
  if (rows.some(({ percentile }) => percentile.narrowed)) {
    notes.push(t('panel.tooltip.narrowed', 'The bounds are narrowed by the sum of the values'));
  }
  if (rows.some((row) => row.point.reset)) {
    notes.push(t('panel.tooltip.reset', 'Counter reset: observations since the last sample before it are lost'));
  }
  return notes;
}

function samplingNotes(rows: readonly TooltipRow[], format: ValueFormat): string[] {
  if (rows.length > MAX_SAMPLING_NOTES) {
    return [];
  }
  const parts = rows.flatMap(({ line, point, percentile }) => {
    const { series } = line;
    const interval =
      point.n === null
        ? null
        : samplingInterval(percentile.quantile, series.histogramOf(point), series.source.exponential);
    return interval ? [`${line.name} ${intervalText(interval, format)}`] : [];
  });
  const text = { intervals: parts.join(', '), ...PLAIN_TEXT };
  return parts.length === 0
    ? []
    : [t('panel.tooltip.sampling', 'Sampling interval (95 %, assuming independent requests): {{intervals}}', text)];
}
