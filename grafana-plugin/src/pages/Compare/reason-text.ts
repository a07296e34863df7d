import { t } from '@grafana/i18n';
import type { Reason } from '../../../../core/api/verdict.ts';

/** Why the verdict on a measure is what it is, in a few words; empty where the evidence suffices. */
export function reasonText(reason: Reason): string {
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
