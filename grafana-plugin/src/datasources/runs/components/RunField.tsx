import { t } from '@grafana/i18n';
import { Combobox, InlineField } from '@grafana/ui';
import React, { useCallback } from 'react';
import type { ExporterApi } from '../../../exporter-api/exporter-api.ts';
import { Named } from '../../../components/Named.tsx';

interface Props {
  api: ExporterApi;
  runId: string | undefined;
  onChange: (runId: string) => void;
}

/** One run of those that there are, or a variable such as $run. */
export function RunField({ api, runId, onChange }: Props) {
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
