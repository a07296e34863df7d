import type { GrafanaTheme2 } from '@grafana/data';
import { OUTCOMES, type Outcome } from '../../../../core/run/record.ts';
import type { XySeries } from '../../charts/xy-series.ts';
import type { RecordMeasure, RecordsAnswer } from '../../exporter-api/types.ts';
import { paletteColor } from '../../panels/percentiles/draw/colors.ts';

/** Points by outcome; failed requests without the value are drawn at 0, at their send time. */
export function requestSeries({ columns }: RecordsAnswer, value: RecordMeasure, theme: GrafanaTheme2): XySeries[] {
  const colors: Record<Outcome, string> = {
    ok: paletteColor(theme, 0),
    error: theme.colors.error.text,
    timeout: paletteColor(theme, 1),
    cancelled: theme.colors.text.secondary,
  };
  const sent = (columns.sent_seconds ?? []) as Array<number | null>;
  const values = (columns[value] ?? []) as Array<number | null>;
  return OUTCOMES.flatMap((outcome): XySeries[] => {
    const at = [...sent.keys()].filter((i) => columns.outcome?.[i] === outcome && sent[i] !== null);
    return at.length === 0
      ? []
      : [
          {
            name: `${outcome} (${at.length.toLocaleString('en-US')})`,
            color: colors[outcome],
            kind: 'points',
            x: at.map((i) => sent[i] ?? 0),
            y: at.map((i) => values[i] ?? (outcome === 'ok' ? null : 0)),
          },
        ];
  });
}
