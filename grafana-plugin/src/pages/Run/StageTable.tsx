import { stageText } from '../../../../core/run/load.ts';
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
import { t } from '../../text.ts';

/** A population of its own within a run: the requests of a stage, or to a model. */
type Part = Pick<StageResult, 'requests' | 'measures' | 'slos'> & { key: string; name: React.ReactNode };

/** The stages of the load side by side, each over the requests that were due in it; nothing without stages. */
export function StageTable({ result: { stages } }: { result: ResultFile }) {
  return (
    <PartTable
      title={t('stages.title', 'Stages')}
      description={t(
        'stages.description',
        'Each stage has the requests that were due in it. All other numbers of this page are of all stages together.'
      )}
      label={t('stages.table', 'Stages of the load')}
      head={t('stages.stage', 'Stage')}
      parts={stages.map((stage) => ({
        ...stage,
        key: String(stage.stage),
        name: (
          <>
            {stage.stage} <code>{stageText(stage.load)}</code>
          </>
        ),
      }))}
    />
  );
}

interface ModelTableProps {
  result: Pick<ResultFile, 'breakdown'>;
  /** What the figures are of; those of a finished run are exact. */
  note?: string;
}

/** The models, or adapters, of the load side by side, each over the requests to it; nothing for a run with one. */
export function ModelTable({ result: { breakdown = [] }, note = '' }: ModelTableProps) {
  return (
    <PartTable
      title={t('models.title', 'Models')}
      description={[
        t(
          'models.description',
          'Each model or adapter has the requests that were sent to it. All other numbers of this page are of all models together.'
        ),
        note,
      ].join(' ')}
      label={t('models.table', 'Models of the load')}
      head={t('models.model', 'Model')}
      parts={breakdown
        .filter(({ by }) => by === 'model')
        .map((part) => ({ ...part, slos: part.slos ?? [], key: part.value, name: part.value }))}
    />
  );
}

interface PartTableProps {
  title: string;
  description: string;
  label: string;
  /** Of the column with the names. */
  head: string;
  parts: Part[];
}

function PartTable({ title, description, label, head, parts }: PartTableProps) {
  if (parts.length === 0) {
    return null;
  }
  const hasObjectives = parts.some(({ slos }) => slos.length > 0);
  return (
    <Section title={title} description={description}>
      <DataTable
        label={label}
        rows={parts}
        rowKey={({ key }) => key}
        columns={[...columns(head, parts), ...(hasObjectives ? [objectives()] : [])]}
      />
    </Section>
  );
}

function columns(head: string, parts: readonly Part[]): Array<Column<Part>> {
  const number = (id: string, header: string, render: (part: Part) => string) => ({
    id,
    header,
    align: 'right' as const,
    render,
  });
  const percentile = (measure: string, name: PercentileName) => (part: Part) =>
    quantity(distributionOf(part, measure)?.percentiles[name].value, 'seconds');
  return [
    { id: 'name', header: head, render: ({ name }) => name },
    number('ok', t('stages.ok', 'Ok'), ({ requests }) => counted(requests.ok)),
    number('failed', t('stages.failed', 'Failed'), ({ requests }) => counted(countOf(requests, FAILED_OUTCOMES))),
    number('requests', t('stages.requests', 'Request throughput'), (part) =>
      quantity(scalarOf(part, 'request_throughput')?.value, 'requests_per_second')
    ),
    parts.some((part) => scalarOf(part, 'document_throughput')?.value != null)
      ? number('documents', t('stages.documents', 'Document throughput'), (part) =>
          quantity(scalarOf(part, 'document_throughput')?.value, 'documents_per_second')
        )
      : number('output', t('stages.output', 'Output throughput'), (part) =>
          quantity(scalarOf(part, 'output_token_throughput')?.value, 'tokens_per_second')
        ),
    ...latencies(parts).flatMap((measure) =>
      (['p50', 'p99'] as const).map((name) => {
        const title = shortTitle(measure, name);
        return number(title, title, percentile(measure, name));
      })
    ),
  ];
}

/** Responses that were not streamed have only their latency as a whole. */
function latencies(parts: readonly Part[]): readonly string[] {
  const isStreamed = parts.some((part) => distributionOf(part, 'time_to_first_token')?.percentiles.p50.value != null);
  return isStreamed ? ['time_to_first_token', 'inter_token_latency'] : ['request_latency'];
}

function objectives(): Column<Part> {
  return {
    id: 'objectives',
    header: t('stages.objectives', 'Objectives'),
    render: ({ slos }) => <ObjectiveBadge verdict={worstVerdict(slos)} />,
  };
}
