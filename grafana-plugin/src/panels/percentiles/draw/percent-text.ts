import { t } from '@grafana/i18n';
import type { SloShare } from '../compute/slo-share.ts';

/** A share between 0 and 1 as percent, never rounded to all or nothing. */
export function percentText(share: number): string {
  const percent = share * 100;
  const fromEdge = Math.min(percent, 100 - percent);
  const digits = fromEdge < 0.1 ? 3 : fromEdge < 1 ? 2 : 1;
  const rounded = Number(percent.toFixed(digits));
  if (rounded === 100 && percent < 100) {
    return '> 99.999 %';
  }
  return rounded === 0 && percent > 0 ? '< 0.001 %' : `${rounded} %`;
}

/** The share at or below an objective: one number where a bucket bound gives it, else its lower and upper bound. */
export function shareText({ low, high, estimate, certain }: SloShare): string {
  if (!certain) {
    return t('panel.slo.about', 'about {{share}}', { share: percentText(estimate) });
  }
  return low === high ? percentText(low) : `${percentText(low)} – ${percentText(high)}`;
}
