import { dateTimeFormat } from '@grafana/data';
import { t } from '@grafana/i18n';
import { Alert, Button } from '@grafana/ui';
import React, { useMemo } from 'react';
import { ABSENT } from '../../../../core/text/quantities.ts';
import { type Column, DataTable } from '../../components/DataTable.tsx';
import { Section } from '../../components/Section.tsx';
import type { ScenarioResponse } from '../../../../core/api/scenarios.ts';
import type { DraftChange } from './baseline-change.ts';

type Baseline = ScenarioResponse['baseline'];
type Change = Baseline['entries'][number];

const MAX_ROWS = 20;
const MAX_IDS = 3;

interface Props {
  baseline: Baseline;
  /** Starts a change; null where that is not allowed. */
  onChange: ((draft: DraftChange) => void) | null;
}

/** Who changed the baseline, when and why, the newest first. */
export function BaselineChanges({ baseline, onChange }: Props) {
  const columns = useMemo(() => changeColumns(), []);
  const shown = baseline.entries.slice(0, MAX_ROWS);
  return (
    <Section
      title={t('trends.changes', 'Changes of the baseline')}
      actions={
        onChange !== null && (
          <Button size="sm" variant="secondary" onClick={() => onChange({ action: 'accept', runIds: [] })}>
            {t('trends.change-baseline', 'Change baseline')}
          </Button>
        )
      }
      {...(baseline.total_entries > shown.length && {
        description: t('trends.changes-newest', 'The newest {{shown}} of {{total}} changes', {
          shown: shown.length,
          total: baseline.total_entries,
        }),
      })}
    >
      {baseline.damaged_lines.length > 0 && (
        <Alert
          severity="warning"
          title={t('trends.changes-damaged', 'Lines of baseline.jsonl that cannot be read are left out: {{lines}}', {
            lines: baseline.damaged_lines.join(', '),
          })}
        />
      )}
      {shown.length === 0 ? (
        <p>{t('trends.changes-none', 'No run was accepted, pinned or dropped yet.')}</p>
      ) : (
        <DataTable
          label={t('trends.changes', 'Changes of the baseline')}
          columns={columns}
          rows={shown}
          rowKey={({ at, action }) => `${at} ${action}`}
        />
      )}
    </Section>
  );
}

function changeColumns(): Array<Column<Change>> {
  return [
    { id: 'at', header: t('trends.change.at', 'Time'), render: ({ at }) => dateTimeFormat(at) },
    { id: 'action', header: t('trends.change.action', 'Action'), render: ({ action }) => action },
    {
      id: 'runs',
      header: t('trends.change.runs', 'Runs'),
      wraps: true,
      render: ({ run_ids }) => (
        <span title={run_ids.join('\n')}>
          {run_ids.length > MAX_IDS
            ? t('trends.change.count', '{{count}} runs', { count: run_ids.length })
            : run_ids.join(', ')}
        </span>
      ),
    },
    {
      id: 'reason',
      header: t('trends.change.reason', 'Reason'),
      wraps: true,
      render: ({ reason }) => reason ?? ABSENT,
    },
    { id: 'author', header: t('trends.change.author', 'Author'), render: ({ author }) => author ?? ABSENT },
  ];
}
