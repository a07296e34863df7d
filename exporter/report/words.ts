import { capitalized, longTitle, type ClockedMeasure } from '../../core/measures/names.ts';
import { RUN_SCALARS } from '../../core/measures/scalar-results.ts';
import { loadText } from '../../core/run/load.ts';
import type { ObjectiveVerdict } from '../../core/run/objectives.ts';
import type { DistributionResult, MeasureResult } from '../../core/run/result.ts';
import type { RunFile } from '../../core/run/run.ts';
import type { Unit } from '../../core/run/statistic.ts';
import type { PercentileName } from '../../core/stats/percentiles.ts';
import { ABSENT } from '../../core/text/quantities.ts';
import { html, type Html } from './html.ts';

/** A measure as a heading: `Time to first token (TTFT)`. */
export const heading = (of: ClockedMeasure): string => capitalized(longTitle(of));

/** An objective's verdict in a table; a dash where there is none. */
export function verdictCell(verdict: ObjectiveVerdict | null): Html {
  if (verdict === null) return html`<td>${ABSENT}</td>`;
  const [style, words] = VERDICTS[verdict];
  return html`<td class="${style}"><b>${words}</b></td>`;
}

const VERDICTS = { met: ['good', 'met'], not_met: ['bad', 'not met'], undecided: ['warn', 'undecided'] } as const;

/** The population of a statistic; shown with each one. */
export function populationWords({ population }: Pick<MeasureResult, 'population'>): string {
  return population === 'ok' ? 'ok requests' : 'all requests, failed ones as infinitely slow';
}

/** Why a percentile has no interval; null if it has an interval or bounds, or no value. */
export function tooFew(result: DistributionResult, percentile: PercentileName): string | null {
  const { ci95, bounds, value } = result.percentiles[percentile];
  if (ci95 !== null || bounds !== null || value === null) return null;
  return result.effective_n === null ? 'no interval' : 'too few';
}

const UNITS: Readonly<Record<Unit, string>> = {
  seconds: 's',
  tokens: 'tokens',
  ratio: '%',
  requests: 'requests',
  requests_per_second: 'requests/s',
  tokens_per_second: 'tokens/s',
  documents_per_second: 'documents/s',
  images: 'images',
  images_per_second: 'images/s',
  bytes: 'bytes',
  joules: 'J',
  watts: 'W',
  joules_per_token: 'J/token',
  cost_per_million_tokens: 'per million tokens',
};

/** The unit as `quantity` writes it. */
export function unitWords(unit: Unit): string {
  return UNITS[unit];
}

/** The formula of a scalar; the name of its definition if this version does not know it. */
export function formulaOf({ measure, definition }: Pick<MeasureResult, 'measure' | 'definition'>): string {
  const known = RUN_SCALARS.find((each) => each.measure === measure);
  return known?.definition === definition ? known.formula : definition.replaceAll('_', ' ');
}

/** A run in a title: scenario, model and load, without what is not known. */
export function runTitle({ scenario, comparison_key: { model, load } }: RunFile): string {
  return [scenario, model, load && loadText(load)].filter((part) => part !== null).join(', ');
}
