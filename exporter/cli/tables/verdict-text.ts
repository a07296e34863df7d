import { ABSENT, quantity } from '../../../core/text/quantities.ts';
import { things } from '../../../core/text/things.ts';
import type { Comparison } from '../../judge/comparison.ts';
import type { VerdictReport } from '../../judge/verdict-report.ts';
import { named } from '../../judge/sentences.ts';
import { aligned } from './aligned.ts';
import { changeText, percentText } from '../../../core/text/change-text.ts';
import { explanationText } from './explanation-text.ts';

export type ComparedMeasure = Comparison['measures'][number];

/** Measures beyond the gating ones that a table shows, those with the smallest p first. */
const MOST_OTHERS = 8;

/** A comparison for a terminal: the verdict, the table of measures, what is in the way, and what to do next. */
export function verdictText(report: VerdictReport): string {
  const { verdict, scenario, sentence, runs, left_out, preflight, explanation, next_command: next } = report;
  const leftOut = left_out === null ? '' : `, without ${left_out}, which raised the suspicion`;
  const [a, b] = report.design === 'history' ? ['A (baseline)', 'B (judged)'] : ['A', 'B'];
  const facts = [
    ['verdict', verdict],
    ['scenario', scenario],
    ['reason', sentence],
    ['runs', `${a} ${things(runs.a.length, 'runs')}, ${b} ${things(runs.b.length, 'runs')}${leftOut}`],
    ...preflight.map((finding) => [finding.outcome === 'failed' ? 'blocked by' : 'unknown', finding.sentence]),
  ].map(([name = '', text = '']) => `${name.padEnd(12)}${text}`);
  const rows = shownMeasures(report).map(row);
  const table = rows.length === 0 ? [] : aligned([HEAD, ...rows]);
  const legend = report.measures.some(({ gating }) => gating) ? ['* decides the verdict'] : [];
  const parts = [facts, table, legend, explanationText(explanation), next === null ? [] : ['to decide:', `  ${next}`]];
  return `${parts
    .filter((part) => part.length > 0)
    .map((part) => part.join('\n'))
    .join('\n\n')}\n`;
}

const HEAD = ['measure', 'verdict', 'A', 'B', 'effect', 'interval', 'margin', 'detectable', 'runs'];

/** The gating measures, and of the others those that are over successful requests, the most notable first. */
export function shownMeasures({ measures }: Comparison): readonly ComparedMeasure[] {
  const others = measures.filter(({ gating, population, effect }) => !gating && population === 'ok' && effect !== null);
  const notable = [...others].sort((x, y) => (x.p?.adjusted ?? 1) - (y.p?.adjusted ?? 1)).slice(0, MOST_OTHERS);
  return [...measures.filter(({ gating }) => gating), ...notable];
}

function row(measure: ComparedMeasure): string[] {
  const { values, unit, runs } = measure;
  return [
    `${named(measure)}${measure.gating ? ' *' : ''}`,
    measure.verdict,
    quantity(values.median_a, unit),
    quantity(values.median_b, unit),
    effectText(measure),
    intervalText(measure),
    `±${percentText(measure.margin)}`,
    measure.detectable === null ? ABSENT : `+${percentText(measure.detectable)}`,
    `${runs.a} + ${runs.b}`,
  ];
}

/** The estimated change of B against A, e.g. `+12.3 %`. */
export function effectText({ effect }: ComparedMeasure): string {
  return effect === null ? ABSENT : changeText(effect.estimate);
}

/** The interval of the change, e.g. `+8.1 % to +16.0 %`; absent when the runs leave everything open. */
export function intervalText({ effect }: ComparedMeasure): string {
  if (effect === null || (effect.low === 0 && effect.high === Infinity)) return ABSENT;
  return `${changeText(effect.low)} to ${changeText(effect.high)}`;
}
