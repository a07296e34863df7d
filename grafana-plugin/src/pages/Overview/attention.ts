import { dateTimeFormat, dateTimeFormatTimeAgo } from '@grafana/data';
import { durationText } from '../../charts/time-text.ts';
import { regressionFacts } from '../../components/OpenRegressions.tsx';
import { regressionUrl, verdictUrl } from '../../components/run-link.ts';
import type { ListedScenario } from '../../../../core/api/scenarios.ts';
import { t } from '../../text.ts';

export type AttentionKind = 'regressed' | 'acknowledged' | 'suspect' | 'overdue' | 'undecided';

/** Something about a scenario that somebody should look at. */
export interface AttentionItem {
  kind: AttentionKind;
  scenario: string;
  sentence: string;
  facts: string[];
  /** The comparison behind it; null without one. */
  compareUrl: string | null;
}

const KINDS: readonly AttentionKind[] = ['regressed', 'suspect', 'overdue', 'undecided', 'acknowledged'];

/** The most urgent first. */
export function byUrgency(items: readonly AttentionItem[]): AttentionItem[] {
  return [...items].sort((a, b) => KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind));
}

/** What the exporter's state of a scenario asks for. `search` has the data sources to keep. */
export function attentionOf(scenario: ListedScenario, search: string): AttentionItem[] {
  const { scenario: name, open_regression: open, verdict, state, undecided_checks: undecided } = scenario;
  const judged = verdict && { sentence: verdict.sentence, compareUrl: verdictUrl(verdict, search) };
  return [
    ...(open === null
      ? []
      : [
          {
            kind: open.acknowledged === null ? ('regressed' as const) : ('acknowledged' as const),
            scenario: name,
            sentence: open.sentence,
            facts: regressionFacts(open),
            compareUrl: regressionUrl(open, search),
          },
        ]),
    ...(judged && state === 'suspect' ? [{ kind: 'suspect' as const, scenario: name, facts: [], ...judged }] : []),
    ...(judged && verdict.verdict === 'undecided'
      ? [{ kind: 'undecided' as const, scenario: name, facts: undecidedFacts(undecided), ...judged }]
      : []),
    ...(scenario.overdue === true
      ? [overdueItem(name, scenario.last_completed, scenario.expected_interval_seconds)]
      : []),
  ];
}

/** `last` is RFC 3339; null: none has completed. */
export function overdueItem(scenario: string, last: string | null, interval: number | null): AttentionItem {
  return {
    kind: 'overdue',
    scenario,
    sentence:
      last === null
        ? t('attention.never', 'No run has completed.')
        : t('attention.last', 'The last run completed {{ago}}, on {{time}}.', {
            ago: dateTimeFormatTimeAgo(last),
            time: dateTimeFormat(last),
          }),
    facts: [t('attention.expected', 'expected every {{interval}}', { interval: durationText(interval) })],
    compareUrl: null,
  };
}

function undecidedFacts(checks: number): string[] {
  return checks < 2 ? [] : [t('attention.undecided-checks', '{{checks}} checks in a row', { checks })];
}
