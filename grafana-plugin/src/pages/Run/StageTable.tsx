import { stageText } from '../../../../core/run/load.ts';
import { t } from '@grafana/i18n';
import React from 'react';
import { shortTitle } from '../../../../core/measures/names.ts';
import { countOf, FAILED_OUTCOMES } from '../../../../core/run/record.ts';
import type { ResultFile, StageResult } from '../../../../core/run/result.ts';
import { worstVerdict } from '../../../../core/run/objectives.ts';
import type { PercentileName } from '../../../../core/stats/percentiles.ts';
import { counted, quantity } from '../../../../core/text/quantities.ts';
import { type Column, DataTable } from '../../components/DataTable.tsx';
import { ObjectiveBadge } from '../../components/Badges.tsx';
import { Section } from '../../components/Section.tsx';
import { distributionOf, scalarOf } from '../../components/measure-name.ts';

/** The stages of the load side by side, each over the requests that were due in it; nothing without stages. */
export function StageTable({ result: { stages } }: { result: ResultFile }) {
  if (stages.length === 0) {
    return null;
  }
  const hasObjectives = stages.some(({ slos }) => slos.length > 0);
  return (
    <Section
      title={t('stages.title', 'Stages')}
      description={t(
        'stages.description',
        'Each stage has the requests that were due in it. All other numbers of this page are of all stages together.'
      )}
    >
      <DataTable
        label={t('stages.table', 'Stages of the load')}
        rows={stages}
        rowKey={({ stage }) => String(stage)}
        columns={[...columns(), ...(hasObjectives ? [objectives()] : [])]}
      />
    </Section>
  );
}

function columns(): Array<Column<StageResult>> {
  const number = (id: string, header: string, render: (stage: StageResult) => string) => ({
    id,
    header,
    align: 'right' as const,
    render,
  });
  const percentile = (measure: string, name: PercentileName) => (stage: StageResult) =>
    quantity(distributionOf(stage, measure)?.percentiles[name].value, 'seconds');
  return [
    {
      id: 'stage',
      header: t('stages.stage', 'Stage'),
      render: ({ stage, load }) => (
        <>
          {stage} <code>{stageText(load)}</code>
        </>
      ),
    },
    number('ok', t('stages.ok', 'Ok'), ({ requests }) => counted(requests.ok)),
    number('failed', t('stages.failed', 'Failed'), ({ requests }) => counted(countOf(requests, FAILED_OUTCOMES))),
    number('requests', t('stages.requests', 'Request throughput'), (stage) =>
      quantity(scalarOf(stage, 'request_throughput')?.value, 'requests_per_second')
    ),
    number('output', t('stages.output', 'Output throughput'), (stage) =>
      quantity(scalarOf(stage, 'output_token_throughput')?.value, 'tokens_per_second')
    ),
    ...['time_to_first_token', 'inter_token_latency'].flatMap((measure) =>
      (['p50', 'p99'] as const).map((name) => {
        const title = shortTitle(measure, name);
        return number(title, title, percentile(measure, name));
      })
    ),
  ];
}

function objectives(): Column<StageResult> {
  return {
    id: 'objectives',
    header: t('stages.objectives', 'Objectives'),
    render: ({ slos }) => <ObjectiveBadge verdict={worstVerdict(slos)} />,
  };
}
