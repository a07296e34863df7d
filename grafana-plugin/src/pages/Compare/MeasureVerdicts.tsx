import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { useStyles2 } from '@grafana/ui';
import React from 'react';
import type { CompareResponse, MeasureResponse } from '../../../../core/api/comparison.ts';
import type { Reason } from '../../../../core/api/verdict.ts';
import { percentText, ABSENT, quantity } from '../../../../core/text/quantities.ts';
import { VerdictBadge } from '../../components/Badges.tsx';
import { DataTable, type Column } from '../../components/DataTable.tsx';
import { LabeledSwitch } from '../../components/LabeledSwitch.tsx';
import { Section } from '../../components/Section.tsx';
import { statisticKey, statisticName } from '../../components/measure-name.ts';
import { useAddress } from '../../hooks/useAddress.ts';
import {
  effectAxis,
  EffectPlot,
  EffectTicks,
  effectText,
  intervalText,
  marginText,
  type EffectAxis,
} from './EffectPlot.tsx';
import { t } from '../../text.ts';

/** Measures beside those that decide, unless all are shown. */
const MAX_OTHERS = 8;

/** The measures that decide, and of the others over ok requests those with the smallest q. */
export function notableMeasures({ measures }: Pick<CompareResponse, 'measures'>): MeasureResponse[] {
  const others = measures.filter(({ gating, population, effect }) => !gating && population === 'ok' && effect !== null);
  const notable = [...others].sort((x, y) => (x.p?.adjusted ?? 1) - (y.p?.adjusted ?? 1)).slice(0, MAX_OTHERS);
  return [...measures.filter(({ gating }) => gating), ...notable];
}

/** Why the verdict on a measure is what it is, in a few words; empty where the evidence suffices. */
function reasonText(reason: Reason): string {
  switch (reason) {
    case 'decided':
      return '';
    case 'preflight':
      return t('reason.preflight', 'not comparable');
    case 'too_few_runs':
      return t('reason.too-few-runs', 'too few runs');
    case 'wide_interval':
      return t('reason.wide-interval', 'interval too wide');
    case 'near_margin':
      return t('reason.near-margin', 'changed, but near the margin');
    case 'unconfirmed_regression':
    case 'unconfirmed_improvement':
      return t('reason.unconfirmed', 'to be confirmed');
    case 'multiple_measures':
      return t('reason.multiple-measures', 'too little evidence for several measures');
    case 'time_order':
      return t('reason.time-order', 'a trend between the sets could be the change');
    case 'dependent_slices':
      return t('reason.dependent-slices', 'no more than slices differ without a change');
    case 'buckets':
      return t('reason.buckets', 'buckets too coarse');
    case 'failures':
      return t('reason.failures', 'better among ok requests only');
    case 'missing_values':
      return t('reason.missing-values', 'values missing');
    case 'few_values':
      return t('reason.few-values', 'too few independent values');
    case 'unbounded':
      return t('reason.unbounded', 'values without a bound');
    case 'no_measures':
      return t('reason.no-measures', 'not measured');
  }
}

/** A verdict per measure, with the evidence as text and as a forest plot. */
export function MeasureVerdicts({ comparison }: { comparison: CompareResponse }) {
  const styles = useStyles2(getStyles);
  const address = useAddress();
  const withAll = address.one('measures') === 'all';
  const rows = withAll ? comparison.measures : notableMeasures(comparison);
  const axis = effectAxis(rows);
  const total = comparison.measures.length;
  const title = t('comparison.measures', 'Measures');
  return (
    <Section
      title={title}
      description={t(
        'comparison.measures-why',
        'Exact statistics of each run, and the change of B against A. The unit of evidence is a run. The first measures decide the verdict; the others are for information.'
      )}
      actions={
        <LabeledSwitch
          label={t('comparison.all-measures', 'All {{total}} measures', { total })}
          value={withAll}
          onChange={(value) => address.set({ measures: value ? 'all' : null })}
        />
      }
    >
      <DataTable label={title} columns={columns(axis, comparison)} rows={rows} rowKey={statisticKey} />
      {comparison.effect_meaning && (
        <p className={styles.note}>
          {t('comparison.effect-meaning', 'Effect: {{meaning}}.', {
            meaning: comparison.effect_meaning,
          })}
        </p>
      )}
    </Section>
  );
}

function columns(axis: EffectAxis, comparison: CompareResponse): Array<Column<MeasureResponse>> {
  return [
    {
      id: 'measure',
      header: t('comparison.measure', 'Measure'),
      render: (row) => <span title={row.definition}>{statisticName(row)}</span>,
      below: {
        id: 'direction',
        header: t('comparison.better', 'Better'),
        render: (row) => [betterText(row), ...(row.gating ? [t('comparison.decides', 'decides')] : [])].join(' · '),
      },
    },
    {
      id: 'verdict',
      header: t('comparison.verdict', 'Verdict'),
      render: ({ verdict, sentence }) => (
        <span title={sentence}>
          <VerdictBadge verdict={verdict} />
        </span>
      ),
      below: { id: 'reason', header: t('comparison.reason', 'Reason'), render: ({ reason }) => reasonText(reason) },
    },
    {
      id: 'a',
      header: t('comparison.a', 'A'),
      meaning: t('comparison.median', 'Median over the runs of the set'),
      align: 'right',
      render: ({ values, unit }) => quantity(values.median_a, unit),
      below: {
        id: 'b',
        header: t('comparison.b', 'B'),
        meaning: t('comparison.median', 'Median over the runs of the set'),
        render: ({ values, unit }) => quantity(values.median_b, unit),
      },
    },
    {
      id: 'plot',
      header: t('comparison.change', 'Change of B against A'),
      meaning: t(
        'comparison.change-meaning',
        'Point: estimate. Line: interval, with an arrow where it continues. Band: margin, the smallest relevant change.'
      ),
      axis: <EffectTicks axis={axis} />,
      render: (row) => <EffectPlot measure={row} axis={axis} />,
    },
    {
      id: 'effect',
      header: t('comparison.effect', 'Effect'),
      meaning: comparison.effect_meaning ?? undefined,
      align: 'right',
      render: ({ effect, measure }) => measuredEffect(measure, effectText(effect)),
      below: {
        id: 'interval',
        header: t('comparison.interval', 'Interval'),
        meaning: t('comparison.interval-meaning', 'Wider when several measures decide'),
        render: ({ effect, confidence }) => (
          <span title={confidence === null ? undefined : confidenceText(confidence)}>{intervalText(effect)}</span>
        ),
      },
    },
    {
      id: 'detectable',
      header: t('comparison.detectable', 'Detectable'),
      meaning: t(
        'comparison.detectable-meaning',
        'The smallest change for the worse that these runs could have shown as regressed'
      ),
      align: 'right',
      render: ({ detectable }) => (detectable === null ? ABSENT : percentText(detectable)),
      below: {
        id: 'margin',
        header: t('comparison.margin', 'Margin'),
        meaning: t('comparison.margin-meaning', 'The smallest relevant change'),
        render: ({ margin }) => marginText(margin),
      },
    },
    {
      id: 'runs',
      header: t('comparison.runs', 'Runs'),
      meaning: t('comparison.runs-meaning', 'Runs of A and of B with a value'),
      align: 'right',
      render: ({ runs }) => `${runs.a} + ${runs.b}`,
    },
  ];
}

function betterText({ direction }: MeasureResponse): string {
  switch (direction) {
    case 'lower':
      return t('comparison.lower', 'lower');
    case 'higher':
      return t('comparison.higher', 'higher');
    case 'none':
      return '';
  }
}

/** The effect on a share of failures is that on the share of what did not fail. */
function measuredEffect(measure: string, effect: string): string {
  switch (measure) {
    case 'error_ratio':
      return t('comparison.ok-effect', '{{effect}} ok requests', { effect });
    case 'stall_ratio':
      return t('comparison.stall-effect', '{{effect}} gaps without a stall', { effect });
    default:
      return effect;
  }
}

function confidenceText(confidence: number): string {
  return t('comparison.confidence', '{{percent}} interval', { percent: percentText(confidence) });
}

const getStyles = (theme: GrafanaTheme2) => ({
  note: css({ ...theme.typography.bodySmall, color: theme.colors.text.secondary, margin: theme.spacing(0.5, 0, 0) }),
});
