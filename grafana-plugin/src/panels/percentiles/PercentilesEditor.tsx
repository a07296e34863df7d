import type { StandardEditorProps } from '@grafana/data';
import { type ComboboxOption, MultiCombobox } from '@grafana/ui';
import React from 'react';
import { percentileName } from './percentile-name.ts';

const CHOICES = [0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999];

/** Chooses percentiles. Grafana's own editor for several values leaves empty ones behind where they are numbers. */
export function PercentilesEditor({ value = [], onChange, id }: StandardEditorProps<number[]>) {
  // A dashboard's JSON may contain others.
  const all = [...new Set([...CHOICES, ...value])].sort((a, b) => a - b);
  const options = all.map((quantile): ComboboxOption<number> => ({ value: quantile, label: percentileName(quantile) }));
  return (
    <MultiCombobox
      {...(id !== undefined && { id })}
      options={options}
      value={value}
      onChange={(chosen) => onChange(chosen.map((option) => option.value).sort((a, b) => a - b))}
    />
  );
}
