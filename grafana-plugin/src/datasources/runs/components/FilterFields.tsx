import { InlineField, MultiCombobox } from '@grafana/ui';
import React, { useCallback } from 'react';
import type { ExporterApi } from '../../../exporter-api/exporter-api.ts';
import type { ValueName } from '../../../../../core/api/runs.ts';
import type { RunsQuery } from '../types.ts';
import { Named } from '../../../components/Named.tsx';
import { t } from '../../../text.ts';

type Member = 'scenario' | 'model' | 'system' | 'tool' | 'status';

const members = (): ReadonlyArray<{ member: Member; label: string; values: ValueName }> => [
  { member: 'scenario', label: t('source.filter.scenario', 'Scenario'), values: 'scenarios' },
  { member: 'model', label: t('source.filter.model', 'Model'), values: 'models' },
  { member: 'system', label: t('source.filter.system', 'System'), values: 'systems' },
  { member: 'tool', label: t('source.filter.tool', 'Tool'), values: 'tools' },
  { member: 'status', label: t('source.filter.status', 'Status'), values: 'statuses' },
];

interface Props {
  query: RunsQuery;
  api: ExporterApi;
  onChange: (query: RunsQuery) => void;
  /** Fields that are left out. */
  without?: readonly Member[];
}

/** Which runs: the choices are what there is; a variable such as $scenario can be typed. */
export function FilterFields({ query, api, onChange, without = [] }: Props) {
  return (
    <>
      {members()
        .filter(({ member }) => !without.includes(member))
        .map(({ member, label, values }) => (
          <FilterField
            key={member}
            label={label}
            values={values}
            chosen={query[member] ?? []}
            api={api}
            onChange={(chosen) => onChange({ ...query, [member]: chosen })}
          />
        ))}
    </>
  );
}

interface FieldProps {
  label: string;
  values: ValueName;
  chosen: string[];
  api: ExporterApi;
  onChange: (chosen: string[]) => void;
}

function FilterField({ label, values, chosen, api, onChange }: FieldProps) {
  const options = useCallback(
    async (text: string) => {
      const { values: found } = await api.values(values);
      return found
        .filter(({ value }) => value.toLowerCase().includes(text.toLowerCase()))
        .map(({ value, runs }) => ({ value, label: value, description: runCount(runs) }));
    },
    [api, values]
  );
  return (
    <Named label={label}>
      {(named) => (
        <InlineField label={label} labelWidth={12}>
          <MultiCombobox
            options={options}
            value={chosen}
            onChange={(selected) => onChange(selected.map(({ value }) => value))}
            createCustomValue
            isClearable
            placeholder={t('source.filter.all', 'all')}
            width={28}
            aria-labelledby={named}
          />
        </InlineField>
      )}
    </Named>
  );
}

function runCount(runs: number): string {
  return runs === 1 ? t('source.filter.one-run', '1 run') : t('source.filter.runs', '{{runs}} runs', { runs });
}
