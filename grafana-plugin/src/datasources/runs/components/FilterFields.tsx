import { InlineField, MultiCombobox } from '@grafana/ui';
import React, { useCallback } from 'react';
import type { ExporterApi } from '../../../exporter-api/exporter-api.ts';
import type { ValueName } from '../../../exporter-api/types.ts';
import type { RunsQuery } from '../types.ts';
import { Named } from '../../../components/Named.tsx';

type Member = 'scenario' | 'model' | 'system' | 'tool' | 'status';

const MEMBERS: ReadonlyArray<{ member: Member; label: string; values: ValueName }> = [
  { member: 'scenario', label: 'Scenario', values: 'scenarios' },
  { member: 'model', label: 'Model', values: 'models' },
  { member: 'system', label: 'System', values: 'systems' },
  { member: 'tool', label: 'Tool', values: 'tools' },
  { member: 'status', label: 'Status', values: 'statuses' },
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
      {MEMBERS.filter(({ member }) => !without.includes(member)).map(({ member, label, values }) => (
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
        .map(({ value, runs }) => ({ value, label: value, description: runs === 1 ? '1 run' : `${runs} runs` }));
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
            placeholder="all"
            width={28}
            aria-labelledby={named}
          />
        </InlineField>
      )}
    </Named>
  );
}
