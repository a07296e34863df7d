import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import {
  Button,
  MultiCombobox,
  TextLink,
  useStyles2,
  useTheme2,
  Combobox,
  IconButton,
  type ComboboxOption,
} from '@grafana/ui';
import React, { useState } from 'react';
import { useLocation } from 'react-router-dom';
import type { CompareResponse } from '../../../../core/api/comparison.ts';
import type { RunSummary } from '../../../../core/api/runs.ts';
import { LabeledSwitch } from '../../components/LabeledSwitch.tsx';
import { Named } from '../../components/Named.tsx';
import { runTitle, runUrl } from '../../components/run-link.ts';
import type { ExporterApi } from '../../exporter-api/exporter-api.ts';
import { useAddress } from '../../hooks/useAddress.ts';
import { runsText } from './VerdictSummary.tsx';
import { setColor, SETS, type SetName, type ShownRun } from './shown-runs.ts';
import { t } from '../../text.ts';

interface SetPickerProps {
  set: SetName;
  exporter: ExporterApi;
  /** Run ids, prefixes of them, `scenario:NAME`, `tag:TAG` or `last:N`. */
  selectors: readonly string[];
  onChange: (selectors: string[]) => void;
  /** Ids of the runs that the selectors mean; empty until they are known. */
  runIds: readonly string[];
  shown: readonly ShownRun[];
}

const MAX_OPTIONS = 50;

/** Selects the runs of a set: single runs, or by scenario and tag. */
function SetPicker({ set, exporter, selectors, onChange, runIds, shown }: SetPickerProps) {
  const styles = useStyles2(getSetPickerStyles);
  const theme = useTheme2();
  const titles = new Map(shown.map(({ response: { summary } }) => [summary.run_id, runTitle(summary)]));
  const label = set === 'a' ? t('comparison.set-a', 'A, baseline') : t('comparison.set-b', 'B, compared');
  return (
    <div className={styles.picker} role="group" aria-label={label}>
      <div className={styles.head}>
        <span className={styles.dot} style={{ background: setColor(theme, set) }} />
        <b>{label}</b>
        {runIds.length > 0 && <span className={styles.facts}>{runsText(runIds.length)}</span>}
      </div>
      <Named label={label}>
        {(named) => (
          <MultiCombobox
            options={(text) => options(exporter, text)}
            value={selectors.map((selector) => ({ value: selector, label: titles.get(selector) ?? selector }))}
            onChange={(chosen) => onChange(chosen.map(({ value }) => value))}
            placeholder={t('comparison.pick', 'Runs, scenario:NAME, tag:TAG, last:6 …')}
            createCustomValue
            customValueDescription={t('comparison.pick-custom', 'Use as selector')}
            aria-labelledby={named}
            isClearable
          />
        )}
      </Named>
      <Runs runIds={runIds} shown={shown} />
    </div>
  );
}

/** Runs, scenarios and tags that contain the text. */
async function options(exporter: ExporterApi, text: string): Promise<Array<ComboboxOption<string>>> {
  const [page, scenarios, tags] = await Promise.all([
    exporter.runs({ q: text, status: ['completed', 'aborted', 'failed'], limit: MAX_OPTIONS }),
    exporter.values('scenarios'),
    exporter.values('tags'),
  ]);
  const named = [
    ...scenarios.values.map(({ value }) => `scenario:${value}`),
    ...tags.values.map(({ value }) => `tag:${value}`),
  ].filter((selector) => selector.toLowerCase().includes(text.toLowerCase()));
  return [
    ...named.slice(0, MAX_OPTIONS).map((selector) => ({
      value: selector,
      label: selector,
      group: t('comparison.by-name', 'Scenarios and tags'),
    })),
    ...page.runs.map((run) => ({
      value: run.run_id,
      label: runTitle(run),
      description: factsOf(run),
      group: t('comparison.single-runs', 'Runs'),
    })),
  ];
}

/** The first runs by title; the others are listed by id on request. */
function Runs({ runIds, shown }: Pick<SetPickerProps, 'runIds' | 'shown'>) {
  const styles = useStyles2(getSetPickerStyles);
  const { search } = useLocation();
  const [isOpen, setOpen] = useState(false);
  const others = runIds.slice(shown.length);
  if (shown.length === 0) {
    return null;
  }
  return (
    <ul className={styles.list}>
      {shown.map(({ mark, response: { summary } }) => (
        <li key={summary.run_id} className={styles.run}>
          <b>{mark}</b>
          <TextLink href={runUrl(summary, search)} variant="bodySmall">
            {runTitle(summary)}
          </TextLink>
          <span className={styles.facts}>{factsOf(summary)}</span>
        </li>
      ))}
      {isOpen &&
        others.map((id, i) => (
          <li key={id} className={styles.run}>
            <b>{`${shown[0]?.mark.charAt(0)}${shown.length + i + 1}`}</b>
            <TextLink
              href={runUrl({ run_id: id, start: null, end: null, status: 'completed' }, search)}
              variant="bodySmall"
            >
              {id}
            </TextLink>
          </li>
        ))}
      {others.length > 0 && (
        <li>
          <Button size="sm" fill="text" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {isOpen
              ? t('comparison.fewer', 'Show fewer')
              : t('comparison.more', 'Show {{count}} more', { count: others.length })}
          </Button>
        </li>
      )}
    </ul>
  );
}

function factsOf({ load, model, system, run_id }: RunSummary): string {
  return [load, model, system, run_id].filter(Boolean).join(' · ');
}

const getSetPickerStyles = (theme: GrafanaTheme2) => ({
  picker: css({ display: 'flex', flexDirection: 'column', gap: theme.spacing(0.75), minWidth: 0 }),
  head: css({ display: 'flex', alignItems: 'center', gap: theme.spacing(1) }),
  dot: css({ width: 10, height: 10, borderRadius: theme.shape.radius.circle }),
  list: css({ listStyle: 'none', margin: 0, display: 'grid', gap: theme.spacing(0.25) }),
  run: css({
    ...theme.typography.bodySmall,
    display: 'flex',
    flexWrap: 'wrap',
    alignItems: 'baseline',
    columnGap: theme.spacing(1),
  }),
  facts: css({ ...theme.typography.bodySmall, color: theme.colors.text.secondary, overflowWrap: 'anywhere' }),
});

/** Margins to choose from, in percent; any other can be typed. */
const MARGINS = ['1', '2', '3', '5', '10', '20'];

/** Stages to choose from; any other number can be typed. */
const STAGES = ['1', '2', '3', '4', '5'];

interface RuleChoiceProps {
  label: string;
  /** Of the page's URL. */
  parameter: string;
  options: Array<ComboboxOption<string>>;
  placeholder: string;
}

/** A value that can be chosen or typed; none is the default. */
function RuleChoice({ label, parameter, options, placeholder }: RuleChoiceProps) {
  const styles = useStyles2(getChooserStyles);
  const address = useAddress();
  return (
    <label className={styles.rule}>
      {label}
      <Named label={label}>
        {(named) => (
          <Combobox
            options={options}
            value={address.one(parameter)}
            onChange={(option) => address.set({ [parameter]: option?.value ?? null })}
            placeholder={placeholder}
            createCustomValue
            isClearable
            width={18}
            aria-labelledby={named}
          />
        )}
      </Named>
    </label>
  );
}

interface ChooserProps {
  exporter: ExporterApi;
  comparison: CompareResponse | undefined;
  shown: readonly ShownRun[];
}

/** The two sets, and how they are judged: all of it in the URL. */
export function Chooser({ exporter, comparison, shown }: ChooserProps) {
  const styles = useStyles2(getChooserStyles);
  const address = useAddress();
  return (
    <div className={styles.chooser}>
      {SETS.map((set) => (
        <SetPicker
          key={set}
          set={set}
          exporter={exporter}
          selectors={address.all(set).flatMap((text) => text.split(','))}
          onChange={(selectors) => address.set({ [set]: selectors, left_out: null })}
          runIds={comparison?.runs[set] ?? []}
          shown={shown.filter(({ mark }) => mark.startsWith(set.toUpperCase()))}
        />
      ))}
      <div className={styles.rules}>
        <IconButton
          name="exchange-alt"
          tooltip={t('comparison.swap', 'Swap A and B')}
          onClick={() => address.set({ a: address.all('b'), b: address.all('a'), left_out: null })}
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
        <RuleChoice
          label={t('comparison.margin-choice', 'Margin')}
          parameter="margin"
          options={MARGINS.map((percent) => ({ value: percent, label: `${percent} %` }))}
          placeholder={t('comparison.margin-default', 'default')}
        />
        <RuleChoice
          label={t('comparison.stage-choice', 'Stage of the load')}
          parameter="stage"
          options={STAGES.map((stage) => ({ value: stage, label: stage }))}
          placeholder={t('comparison.stage-default', 'no stages')}
        />
      </div>
    </div>
  );
}

const getChooserStyles = (theme: GrafanaTheme2) => ({
  chooser: css({
    display: 'grid',
    gridTemplateColumns: 'repeat(2, minmax(0, 1fr))',
    alignItems: 'start',
    gap: theme.spacing(1.5, 2),
  }),
  rules: css({ gridColumn: '1 / -1', display: 'flex', flexWrap: 'wrap', alignItems: 'center', gap: theme.spacing(2) }),
  rule: css({
    ...theme.typography.bodySmall,
    display: 'flex',
    alignItems: 'center',
    gap: theme.spacing(1),
    color: theme.colors.text.secondary,
  }),
});
