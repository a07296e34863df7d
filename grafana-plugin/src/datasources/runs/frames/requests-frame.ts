import { type DataFrame, FieldType } from '@grafana/data';
import { t } from '@grafana/i18n';
import type { RequestMeasure, RecordsResponse } from '../../../../../core/api/run-data.ts';
import { field, number, text } from './field.ts';

/**
 * One row per request: when it was sent, and the value. Without a wall time of its own a run has seconds since its zero
 * instead of times.
 */
export function requestsFrame({ run_id, zero, sampled, columns }: RecordsResponse, value: RequestMeasure): DataFrame {
  const sent = (columns.sent_seconds ?? []) as Array<number | null>;
  const start = zero.start === null ? null : Date.parse(zero.start);
  const texts = (name: 'phase' | 'outcome' | 'reason') => (columns[name] ?? []) as Array<string | null>;
  const order = [...sent.keys()].sort((a, b) => (sent[a] ?? 0) - (sent[b] ?? 0));
  const sorted = <T>(values: readonly T[]): T[] => order.map((i) => values[i] as T);
  const values = (columns[value] ?? []) as Array<number | null>;
  return {
    name: run_id,
    length: sent.length,
    meta: {
      preferredVisualisationType: 'graph',
      ...(sampled.every > 1 && {
        notices: [
          {
            severity: 'info' as const,
            text: t('source.notice.requests', 'One request in {{every}} is shown: {{shown}} of {{of}}.', {
              ...sampled,
            }),
          },
        ],
      }),
    },
    fields: [
      start === null
        ? number('Seconds since the start', sorted(sent), 'seconds')
        : field(
            'Time',
            FieldType.time,
            sorted(sent).map((seconds) => (seconds === null ? null : start + seconds * 1000))
          ),
      {
        ...number(value, sorted(values), value.endsWith('_seconds') ? 'seconds' : 'tokens'),
        labels: { run_id },
      },
      text('outcome', sorted(texts('outcome'))),
      text('reason', sorted(texts('reason'))),
      text('phase', sorted(texts('phase'))),
    ],
  };
}
