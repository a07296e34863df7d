import { t } from '@grafana/i18n';
import type { CompareAnswer, MeasureVerdict } from '../../exporter-api/types.ts';
import { measureName } from '../Run/measure-name.ts';

/** Measures beside those that decide, unless all are shown. */
const MOST_OTHERS = 8;

/** The measures that decide, and of the others over ok requests those with the smallest q. */
export function notableMeasures({ measures }: Pick<CompareAnswer, 'measures'>): MeasureVerdict[] {
  const others = measures.filter(({ gating, population, effect }) => !gating && population === 'ok' && effect !== null);
  const notable = [...others].sort((x, y) => (x.p?.adjusted ?? 1) - (y.p?.adjusted ?? 1)).slice(0, MOST_OTHERS);
  return [...measures.filter(({ gating }) => gating), ...notable];
}

/** `Time to first token p90`; measures of one name differ by what they count. */
export function verdictName({ measure, stat, clock, population, origin }: MeasureVerdict): string {
  const name = [measureName(measure, clock), stat === 'value' ? '' : stat.replace('_', '.')].filter(Boolean).join(' ');
  return [
    name,
    ...(population === 'all' && stat !== 'value' ? [t('comparison.all', 'failed requests as infinitely slow')] : []),
    ...(origin === 'server' ? [t('comparison.server', 'server')] : []),
  ].join(', ');
}

export function verdictKey({ measure, stat, clock, population, origin, definition }: MeasureVerdict): string {
  return [measure, stat, clock, population, origin, definition].join(' ');
}
