import type { QueryEditorProps } from '@grafana/data';
import { Combobox, InlineField, Stack, RadioButtonGroup } from '@grafana/ui';
import React from 'react';
import type { ValueName } from '../../../../../core/api/runs.ts';
import { Named } from '../../../components/Named.tsx';
import type { ExporterDataSource, RunsOptions, RunsQuery, RunsVariableQuery, RegionKind } from '../types.ts';
import { FilterFields } from './FilterFields.tsx';
import { t } from '../../../text.ts';

const values = (): Array<{ value: 'runs' | ValueName; label: string }> => [
  { value: 'runs', label: t('source.variable.runs', 'Runs in the time range, newest first') },
  { value: 'scenarios', label: t('source.variable.scenarios', 'Scenarios') },
  { value: 'models', label: t('source.variable.models', 'Models') },
  { value: 'systems', label: t('source.variable.systems', 'Systems') },
  { value: 'tools', label: t('source.variable.tools', 'Tools') },
  { value: 'tags', label: t('source.variable.tags', 'Tags') },
];

type Props = QueryEditorProps<ExporterDataSource, RunsQuery, RunsOptions, RunsVariableQuery>;

/** What a template variable offers. */
export function VariableEditor({ datasource, query, onChange }: Props) {
  const { scenario, model } = query;
  const filter: RunsQuery = { refId: query.refId, ...(scenario && { scenario }), ...(model && { model }) };
  return (
    <Stack direction="column" gap={1}>
      <Named label={t('source.variable.values', 'Values')}>
        {(named) => (
          <InlineField label={t('source.variable.values', 'Values')} labelWidth={12}>
            <Combobox
              options={values()}
              value={query.values ?? 'runs'}
              onChange={({ value }) => onChange({ ...query, values: value })}
              width={48}
              aria-labelledby={named}
            />
          </InlineField>
        )}
      </Named>
      <Stack direction="row" wrap="wrap" gap={0.5}>
        <FilterFields
          query={filter}
          api={datasource.api}
          onChange={(next) => onChange({ ...query, scenario: next.scenario ?? [], model: next.model ?? [] })}
          without={['system', 'tool', 'status']}
        />
      </Stack>
    </Stack>
  );
}

const regions = () => [
  { value: 'run', label: t('source.annotations.runs', 'Runs') },
  { value: 'phase', label: t('source.annotations.phases', 'Phases') },
  { value: 'stage', label: t('source.annotations.stages', 'Stages') },
  { value: 'scale', label: t('source.annotations.scale', 'Servers that started or ended') },
  { value: 'run,phase', label: t('source.annotations.runs-and-phases', 'Runs and phases') },
];

/** Which runs become regions, and whether their phases or stages do. */
export function AnnotationEditor(props: QueryEditorProps<ExporterDataSource, RunsQuery, RunsOptions>) {
  const { datasource, onChange, onRunQuery } = props;
  const query: RunsQuery = { regions: ['run'], ...props.query, queryType: 'annotations' };
  const change = (next: RunsQuery) => {
    onChange(next);
    onRunQuery();
  };
  return (
    <Stack direction="column" gap={1}>
      <InlineField label={t('source.annotations.regions', 'Regions')} labelWidth={12}>
        <RadioButtonGroup
          options={regions()}
          value={(query.regions ?? []).join(',')}
          onChange={(value) => change({ ...query, regions: value.split(',') as RegionKind[] })}
        />
      </InlineField>
      <Stack direction="row" wrap="wrap" gap={0.5}>
        <FilterFields query={query} api={datasource.api} onChange={change} />
      </Stack>
    </Stack>
  );
}
