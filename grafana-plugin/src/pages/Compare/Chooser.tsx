import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { t } from '@grafana/i18n';
import { Combobox, IconButton, useStyles2 } from '@grafana/ui';
import React from 'react';
import { useAddress } from '../../hooks/useAddress.ts';
import { LabeledSwitch } from '../../components/LabeledSwitch.tsx';
import { Named } from '../../components/Named.tsx';
import type { ExporterApi } from '../../exporter-api/exporter-api.ts';
import type { CompareResponse } from '../../../../core/api/comparison.ts';
import { SETS, type ShownRun } from './shown-runs.ts';
import { SetPicker } from './SetPicker.tsx';

/** Margins to choose from, in percent; any other can be typed. */
const MARGINS = ['1', '2', '3', '5', '10', '20'];

interface Props {
  exporter: ExporterApi;
  comparison: CompareResponse | undefined;
  shown: readonly ShownRun[];
}

/** The two sets, and how they are judged: all of it in the URL. */
export function Chooser({ exporter, comparison, shown }: Props) {
  const styles = useStyles2(getStyles);
  const address = useAddress();
  const label = t('comparison.margin-choice', 'Margin');
  return (
    <div className={styles.chooser}>
      {SETS.map((set) => (
        <SetPicker
          key={set}
          set={set}
          exporter={exporter}
          selectors={address.all(set).flatMap((text) => text.split(','))}
          onChange={(selectors) => address.set({ [set]: selectors })}
          runIds={comparison?.runs[set] ?? []}
          shown={shown.filter(({ mark }) => mark.startsWith(set.toUpperCase()))}
        />
      ))}
      <div className={styles.rules}>
        <IconButton
          name="exchange-alt"
          tooltip={t('comparison.swap', 'Swap A and B')}
          onClick={() => address.set({ a: address.all('b'), b: address.all('a') })}
        />
        <LabeledSwitch
          label={t('comparison.paired', 'Pairs, in order of their start')}
          value={address.one('paired') === 'true'}
          onChange={(value) => address.set({ paired: value ? 'true' : null })}
        />
        <LabeledSwitch
          label={t('comparison.across-scenarios', 'Scenarios may have different names')}
          value={address.one('across_scenarios') === 'true'}
          onChange={(value) => address.set({ across_scenarios: value ? 'true' : null })}
        />
        <label className={styles.margin}>
          {label}
          <Named label={label}>
            {(named) => (
              <Combobox
                options={MARGINS.map((percent) => ({ value: percent, label: `${percent} %` }))}
                value={address.one('margin')}
                onChange={(option) => address.set({ margin: option?.value ?? null })}
                placeholder={t('comparison.margin-default', 'default')}
                createCustomValue
                isClearable
                width={18}
                aria-labelledby={named}
              />
            )}
          </Named>
        </label>
      </div>
    </div>
  );
}

const getStyles = (theme: GrafanaTheme2) => ({
  chooser: css({
    display: 'grid',
    gridTemplateColumns: 'repeat(2, minmax(0, 1fr))',
    alignItems: 'start',
    gap: theme.spacing(1.5, 2),
  }),
  rules: css({ gridColumn: '1 / -1', display: 'flex', flexWrap: 'wrap', alignItems: 'center', gap: theme.spacing(2) }),
  margin: css({
    ...theme.typography.bodySmall,
    display: 'flex',
    alignItems: 'center',
    gap: theme.spacing(1),
    color: theme.colors.text.secondary,
  }),
});
