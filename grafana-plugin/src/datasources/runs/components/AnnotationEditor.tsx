import type { QueryEditorProps } from '@grafana/data';
import { t } from '@grafana/i18n';
import { InlineField, RadioButtonGroup, Stack } from '@grafana/ui';
import React from 'react';
import type { ExporterDataSource, RegionKind, RunsOptions, RunsQuery } from '../types.ts';
import { FilterFields } from './FilterFields.tsx';

const regions = () => [
  { value: 'run', label: t('source.annotations.runs', 'Runs') },
  { value: 'phase', label: t('source.annotations.phases', 'Phases') },
  { value: 'stage', label: t('source.annotations.stages', 'Stages') },
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
