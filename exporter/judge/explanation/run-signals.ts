import type { Explanation } from '../../../core/api/comparison.ts';
import type { SignalFamily, SignalRule } from '../../../catalog/explanations.ts';
import type { SeriesSummary, ServersFile } from '../../../core/run/servers-file.ts';

/** The value of a signal in one run. */
export interface SignalValue {
  readonly signal: string;
  readonly system: string;
  readonly family: string;
  /** In the unit of the rule. */
  readonly value: number;
}

/** What the servers of a run report; `problem` says why nothing is used, else it is null. */
export interface RunSignals {
  readonly run_id: string;
  readonly values: readonly SignalValue[];
  readonly problem: Explanation['not_used'][number]['problem'] | null;
}

/** The signals in `servers.json`; one that is unknown in any of its series is left out. */
export function signalsIn({ series, window }: ServersFile, rules: readonly SignalRule[]): readonly SignalValue[] {
  const byFamily = Map.groupBy(
    series.filter(({ repeats }) => repeats === null),
    ({ family }) => family,
  );
  return rules.flatMap((rule) =>
    rule.families.flatMap((member): SignalValue[] => {
      const found = (byFamily.get(member.family) ?? []).filter(({ labels }) => carries(labels, member));
      const raw =
        member.of === undefined
          ? combined(found, rule, window.seconds)
          : quotient(increase(found), increase(byFamily.get(member.of) ?? []));
      if (raw === null) return [];
      const { system, family, factor = 1 } = member;
      return [{ signal: rule.signal, system, family, value: raw * factor }];
    }),
  );
}

function carries(labels: SeriesSummary['labels'], { labels: wanted = {} }: SignalFamily): boolean {
  return Object.entries(wanted).every(([name, value]) => labels[name] === value);
}

/** Null without series and where one of them has no value. */
function combined(series: readonly SeriesSummary[], { statistic, across }: SignalRule, seconds: number): number | null {
  if (series.some(({ statistics }) => statistics?.kind === 'histogram')) {
    return quotient(increase(series), total(series.map(countOf)));
  }
  const sum =
    statistic === 'rate'
      ? quotient(increase(series), seconds)
      : total(series.map(({ statistics }) => (statistics?.kind === 'gauge' ? statistics.mean : null)));
  return sum === null || across === 'sum' ? sum : sum / series.length;
}

/** What counters gained; of histograms, the sum of what they observed. */
function increase(series: readonly SeriesSummary[]): number | null {
  return total(
    series.map(({ statistics }) => {
      if (statistics?.kind === 'counter') return statistics.increase;
      return statistics?.kind === 'histogram' ? statistics.sum : null;
    }),
  );
}

function countOf({ statistics }: SeriesSummary): number | null {
  return statistics?.kind === 'histogram' ? statistics.count : null;
}

function total(values: readonly (number | null)[]): number | null {
  if (values.length === 0 || values.includes(null)) return null;
  return values.reduce<number>((sum, value) => sum + (value ?? 0), 0);
}

function quotient(value: number | null, of: number | null): number | null {
  return value === null || of === null || !(of > 0) ? null : value / of;
}
