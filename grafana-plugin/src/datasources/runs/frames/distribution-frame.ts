import type { DataFrame } from '@grafana/data';
import { t } from '@grafana/i18n';
import type { DistributionResponse } from '../../../../../core/api/run-data.ts';
import { number } from './field.ts';

/** The exact distribution: the share of values at or below each value. */
export function distributionFrame(response: DistributionResponse): DataFrame {
  const { run_id, measure, unit, n, between, values, share } = response;
  return {
    name: run_id,
    length: values.length,
    meta: {
      ...(between > 0 && {
        notices: [
          {
            severity: 'info' as const,
            text: t(
              'source.notice.distribution',
              '{{points}} points of {{n}} values: at most {{between}} lie between two adjacent points.',
              { points: values.length, n, between }
            ),
          },
        ],
      }),
    },
    fields: [number(measure, values, unit), { ...number('Share at most', share, 'ratio'), labels: { run_id } }],
  };
}
