import { Combobox, InlineField, InlineSwitch, Input, RadioButtonGroup, Stack } from '@grafana/ui';
import React, { useCallback } from 'react';
import type { QueryEditorProps } from '@grafana/data';
import { REQUEST_MEASURES } from '../../../../../core/api/run-data.ts';
import { Named } from '../../../components/Named.tsx';
import { DISTRIBUTIONS, type ExporterApi } from '../../../exporter-api/exporter-api.ts';
import { DEFAULT_QUERY, type ExporterDataSource, type QueryKind, type RunsOptions, type RunsQuery } from '../types.ts';
import { FilterFields } from './FilterFields.tsx';
import { t } from '../../../text.ts';

interface Props {
  api: ExporterApi;
  runId: string | undefined;
  onChange: (runId: string) => void;
}

/** One run of those that there are, or a variable such as $run. */
function RunField({ api, runId, onChange }: Props) {
  const options = useCallback(
    async (text: string) => {
      const { runs } = await api.runs({ q: text.startsWith('$') ? '' : text, limit: 50 });
      return runs.map(({ run_id, scenario, load, model }) => ({
        value: run_id,
        label: run_id,
        description: `${scenario}, ${load}, ${model}`,
      }));
    },
    [api]
  );
  return (
    <Named label={t('source.run.label', 'Run')}>
      {(named) => (
        <InlineField
          label={t('source.run.label', 'Run')}
          labelWidth={12}
          tooltip={t('source.run.meaning', 'Choose a run, or type a variable such as $run')}
        >
          <Combobox
            options={options}
            value={runId ?? null}
            onChange={({ value }) => onChange(value)}
            createCustomValue
            placeholder={t('source.run.choose', 'choose a run')}
            width={40}
            aria-labelledby={named}
          />
        </InlineField>
      )}
    </Named>
  );
}

const kinds = (): Array<{ value: QueryKind; label: string; description: string }> => [
  {
    value: 'runs',
    label: t('source.query.runs', 'Runs'),
    description: t('source.query.runs-meaning', 'A table: one row per run with its key numbers'),
  },
  {
    value: 'measures',
    label: t('source.query.measures', 'Measures'),
    description: t('source.query.measures-meaning', 'A table: every measure of a run with its statistics'),
  },
  {
    value: 'requests',
    label: t('source.query.requests', 'Requests'),
    description: t('source.query.requests-meaning', 'One point per request at its send time'),
  },
  {
    value: 'distribution',
    label: t('source.query.distribution', 'Distribution'),
    description: t('source.query.distribution-meaning', 'The exact share of values at or below each value'),
  },
];

/** A form for each kind of query. */
export function QueryEditor(props: QueryEditorProps<ExporterDataSource, RunsQuery, RunsOptions>) {
  const { datasource, onChange, onRunQuery } = props;
  const query: RunsQuery = { ...DEFAULT_QUERY, ...props.query };
  const change = (next: RunsQuery) => {
    onChange(next);
    onRunQuery();
  };
  return (
    <Stack direction="column" gap={1}>
      <InlineField label={t('source.query.show', 'Show')} labelWidth={12}>
        <RadioButtonGroup
          options={kinds()}
          value={query.queryType}
          onChange={(queryType) => change({ ...query, queryType })}
        />
      </InlineField>
      <Stack direction="row" wrap="wrap" gap={0.5}>
        {query.queryType === 'runs' && <RunsFields query={query} datasource={datasource} change={change} />}
        {query.queryType !== 'runs' && (
          <RunField api={datasource.api} runId={query.runId} onChange={(runId) => change({ ...query, runId })} />
        )}
        {query.queryType === 'requests' && <RequestFields query={query} change={change} />}
        {query.queryType === 'distribution' && (
          <Named label={t('source.query.measure', 'Measure')}>
            {(named) => (
              <InlineField label={t('source.query.measure', 'Measure')} labelWidth={12}>
                <Combobox
                  options={DISTRIBUTIONS.map(option)}
                  value={query.measure ?? null}
                  onChange={({ value }) => change({ ...query, measure: value })}
                  width={36}
                  aria-labelledby={named}
                />
              </InlineField>
            )}
          </Named>
        )}
      </Stack>
    </Stack>
  );
}

interface FieldsProps {
  query: RunsQuery;
  change: (query: RunsQuery) => void;
}

function RunsFields({ query, datasource, change }: FieldsProps & { datasource: ExporterDataSource }) {
  return (
    <>
      <FilterFields query={query} api={datasource.api} onChange={change} />
      <InlineField label={t('source.query.most-rows', 'Row limit')} labelWidth={12}>
        <Input
          type="number"
          min={1}
          max={1000}
          width={12}
          defaultValue={query.limit}
          onBlur={({ currentTarget }) => change({ ...query, limit: rows(currentTarget.value) })}
          aria-label={t('source.query.most-rows', 'Row limit')}
        />
      </InlineField>
      <InlineField label={t('source.query.in-range', 'Only in the time range')} labelWidth={24}>
        <InlineSwitch
          value={query.inTimeRange ?? false}
          onChange={({ currentTarget }) => change({ ...query, inTimeRange: currentTarget.checked })}
          aria-label={t('source.query.in-range', 'Only in the time range')}
        />
      </InlineField>
    </>
  );
}

function RequestFields({ query, change }: FieldsProps) {
  return (
    <>
      <Named label={t('source.query.value', 'Value')}>
        {(named) => (
          <InlineField label={t('source.query.value', 'Value')} labelWidth={12}>
            <Combobox
              options={REQUEST_MEASURES.map(option)}
              value={query.value ?? null}
              onChange={({ value }) => change({ ...query, value })}
              width={40}
              aria-labelledby={named}
            />
          </InlineField>
        )}
      </Named>
      <InlineField label={t('source.query.warm-up', 'Include warm-up')} labelWidth={16}>
        <InlineSwitch
          value={query.withWarmup ?? false}
          onChange={({ currentTarget }) => change({ ...query, withWarmup: currentTarget.checked })}
          aria-label={t('source.query.warm-up', 'Include warm-up')}
        />
      </InlineField>
    </>
  );
}

/** `time_to_first_token_seconds` as `time to first token`. */
function option<T extends string>(value: T): { value: T; label: string } {
  return { value, label: value.replace(/_seconds$/, '').replaceAll('_', ' ') };
}

function rows(text: string): number {
  const count = Math.round(Number(text));
  return Number.isFinite(count) ? Math.min(1000, Math.max(1, count)) : 100;
}
