import type { KnownInterval } from '../../core/stats/shift.ts';
import { worseUp } from './evidence.ts';
import type { Figure, RunFigures } from './run-figures.ts';
import type { FigureKey, Needs, Reason } from '../../core/api/verdict.ts';
import { gatingPlace, marginOf, type Rules } from './rules.ts';

/** One figure of all runs of a comparison. */
export interface FigureCase {
  readonly key: FigureKey;
  /** Among the primary measures; −1 when it does not gate. */
  readonly place: number;
  /** As a ratio above 0. */
  readonly margin: number;
  /** On the scale of the evidence, run by run; only runs that have a value. */
  readonly a: readonly KnownInterval[];
  readonly b: readonly KnownInterval[];
  /** Why it cannot be judged; null when it can. */
  readonly problem: CaseProblem | null;
}

export interface CaseProblem {
  readonly reason: Reason;
  readonly sentence: string;
  readonly needs: Needs | null;
}

/** Percentiles above this are judged only when enough independent values lie beyond them. */
const TAIL_FROM = 0.9;
const NEEDED_BEYOND = 20;

/** The figures that have a direction and a value in some run, the gating ones first. */
export function casesOf(a: readonly RunFigures[], b: readonly RunFigures[], rules: Rules): readonly FigureCase[] {
  const found = new Map<string, { key: FigureKey; a: Figure[]; b: Figure[] }>();
  for (const [side, runs] of [['a', a] as const, ['b', b] as const]) {
    for (const { figures } of runs) {
      for (const figure of figures) {
        if (figure.direction === 'none' || (figure.isMixed === true && gatingPlace(rules, figure) < 0)) continue;
        const id = keyText(figure);
        let entry = found.get(id);
        if (entry === undefined) found.set(id, (entry = { key: keyOf(figure), a: [], b: [] }));
        entry[side].push(figure);
      }
    }
  }
  const cases = [...found.values()].map(({ key, a: ofA, b: ofB }): FigureCase => {
    const place = gatingPlace(rules, key);
    const known = (figures: readonly Figure[]): KnownInterval[] =>
      figures.flatMap((figure) => (figure.value === null ? [] : [worseUp(figure, figure.value)]));
    const [knownA, knownB] = [known(ofA), known(ofB)];
    const missing = a.length + b.length - knownA.length - knownB.length;
    const problem =
      missingValues(missing, a.length + b.length) ??
      fewValues(key, [...ofA, ...ofB]) ??
      zeroTimes(key, [...ofA, ...ofB]);
    return { key, place, margin: marginOf(rules, key), a: knownA, b: knownB, problem };
  });
  return cases.filter((each) => each.a.length + each.b.length > 0).sort((x, y) => order(x.place) - order(y.place));
}

/** The run with the figures that gate alone: of long histories the others take most of the time. */
export function gatingOnly(run: RunFigures, rules: Rules): RunFigures {
  return { ...run, figures: run.figures.filter((figure) => gatingPlace(rules, figure) >= 0) };
}

export function keyText({ measure, stat, unit, definition, origin, population, clock, breakdown }: FigureKey): string {
  const key = [measure, stat, unit, definition, origin, population, clock];
  return (breakdown === undefined ? key : [...key, breakdown]).join(' ');
}

/** A measure that reads a failed run as a fast one would hide it: every run has to have a value. */
function missingValues(missing: number, runs: number): CaseProblem | null {
  if (missing === 0) return null;
  const sentence = `${missing} of ${runs} runs have no value under the same definition`;
  return { reason: 'missing_values', sentence, needs: null };
}

/**
 * A time of 0 is shorter than what the client can distinguish, such as the gap of two chunks that arrived together: a ratio
 * to it means nothing. Only where all are 0, they are equal. A throughput of 0 is a true one.
 */
function zeroTimes({ unit }: FigureKey, figures: readonly Figure[]): CaseProblem | null {
  if (unit !== 'seconds') return null;
  const zeros = figures.filter(({ value }) => value === 0).length;
  if (zeros === 0 || zeros === figures.length) return null;
  const sentence = `${zeros} of ${figures.length} runs have 0 s, which has no ratio to the others`;
  return { reason: 'unbounded', sentence, needs: null };
}

function fewValues({ stat }: FigureKey, figures: readonly Figure[]): CaseProblem | null {
  const tail = 1 - quantileOf(stat);
  if (!(tail < 1 - TAIL_FROM)) return null;
  const fewest = Math.min(...figures.map(({ effective_n }) => effective_n ?? NaN));
  const wanted = Math.ceil(NEEDED_BEYOND / tail - 1e-9);
  if (fewest >= wanted) return null;
  if (Number.isNaN(fewest)) {
    const sentence = `${stat} needs ${wanted} effective values in each run, and how many there are is not known`;
    return { reason: 'few_values', sentence, needs: null };
  }
  const sentence = `${stat} needs ${wanted} effective values in each run, and one has ${Math.floor(fewest)}`;
  const times = Math.ceil((wanted / Math.max(1, fewest)) * 10) / 10;
  return { reason: 'few_values', sentence, needs: { design: 'requests', times } };
}

/** 0 for statistics that are no percentile. */
function quantileOf(stat: string): number {
  const digits = /^p(\d+)(?:_(\d+))?$/.exec(stat);
  return digits === null ? 0 : Number(`${digits[1]}.${digits[2] ?? 0}`) / 100;
}

function keyOf({
  measure,
  stat,
  unit,
  definition,
  origin,
  population,
  breakdown,
  clock,
  direction,
}: Figure): FigureKey {
  const of = breakdown === undefined ? {} : { breakdown };
  return { measure, stat, unit, definition, origin, population, ...of, clock, direction };
}

function order(place: number): number {
  return place === -1 ? Infinity : place;
}
