import { t } from '@grafana/i18n';
import React from 'react';
import { counted } from '../../../../core/text/quantities.ts';
import { ERROR_REASON_RULES } from '../../../../core/measures/error-reasons.ts';
import type { ErrorReason } from '../../../../core/run/record.ts';
import type { ResultFile } from '../../../../core/run/result.ts';
import { DataTable } from '../../components/DataTable.tsx';
import { Section } from '../../components/Section.tsx';

/** Failed requests by reason. */
export function ErrorReasons({ result: { errors } }: { result: ResultFile }) {
  const rows = (Object.entries(errors) as Array<[ErrorReason, number]>)
    .filter(([, count]) => count > 0)
    .sort(([, a], [, b]) => b - a);
  return (
    <Section title={t('errors.title', 'Errors by reason')}>
      {rows.length === 0 ? (
        <p>{t('errors.none', 'All requests of the measure phase succeeded.')}</p>
      ) : (
        <DataTable
          label={t('errors.table', 'Errors by reason')}
          rows={rows}
          rowKey={([reason]) => reason}
          columns={[
            { id: 'reason', header: t('errors.reason', 'Reason'), render: ([reason]) => <code>{reason}</code> },
            {
              id: 'count',
              header: t('errors.count', 'Requests'),
              align: 'right',
              render: ([, count]) => counted(count),
            },
            {
              id: 'rule',
              header: t('errors.rule', 'Meaning'),
              wraps: true,
              render: ([reason]) => ERROR_REASON_RULES[reason],
            },
          ]}
        />
      )}
    </Section>
  );
}
