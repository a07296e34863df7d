import { RunIndex } from '../store/index/run-index.ts';
import type { RunStore } from '../store/run-store.ts';
import type { IndexedRun } from '../store/index/rows.ts';
import type { OpenRegression } from '../../core/api/scenarios.ts';
import type { Judgment, MeasureVerdict, VerdictEntry } from '../../core/api/verdict.ts';
import { changeDetect, readBaseline } from './baseline.ts';
import { keyText } from './cases.ts';
import type { RunFigures } from './run-figures.ts';
import { compare } from './compare.ts';
import { readFigures, storedFigures } from './load-figures.ts';
import { inOrder } from './history.ts';
import { pairedSlices, slicesOfDaysBefore } from './slice-doubts.ts';
import { rulesFor, type RuleChoices } from './rules.ts';
import { regressedFigures, stateOf, type ScenarioState } from './scenario-state.ts';
import { RECORDED } from './verdict-report.ts';
import { appendVerdict, readVerdicts, verdictEntry } from './verdict-log.ts';

interface PairsRequest {
  readonly scenario: string;
  /** The slices of the servers that are normal, and of those that are judged: of the same times. */
  readonly a: readonly string[];
  readonly b: readonly string[];
  readonly rules: RuleChoices;
  readonly author: string | null;
  /** See `CheckRequest`. */
  readonly detect: number | null;
}

interface CheckedPairs {
  readonly judgment: Judgment;
  readonly figures: readonly RunFigures[];
  readonly stored: readonly IndexedRun[];
  /** Where the scenario stands with this check. */
  readonly state: ScenarioState | null;
}

/**
 * Judges slices of servers in pairs with those of the servers beside them, and records the verdict and whether it ends an open
 * regression. Needs no baseline: what is normal is what the other servers did at the same time. Throws an `ExpectedError`.
 */
export async function checkPairs(store: RunStore, request: PairsRequest): Promise<CheckedPairs> {
  const { scenario, author, detect } = request;
  if (detect !== null) await changeDetect(store, scenario, author, detect);
  const load = storedFigures(store);
  const a = inOrder(await readFigures(load, request.a));
  const b = inOrder(await readFigures(load, request.b));
  const figures = [...a, ...b];
  const windows = (await RunIndex.use(store, (index) => index.runs())).filter(
    ({ tool, status, damage }) => tool === RECORDED && status === 'completed' && damage === null,
  );
  const before = slicesOfDaysBefore(windows, a).map(({ run_id }) => run_id);
  const slices = pairedSlices([...a, ...(await load(before)).runs], b);
  const judgment = compare(a, b, {
    paired: true,
    accepted: 'scenarios',
    rules: rulesFor(request.rules, figures),
    days: slices === null || typeof slices === 'string' ? [] : slices.days,
  });
  const { entries } = await readVerdicts(store.directory, scenario);
  const baseline = await readBaseline(store.directory, scenario);
  const fingerprint = b.at(-1)?.fingerprint ?? '';
  const own = entries.filter((entry) => entry.fingerprint === fingerprint);
  const open = stateOf(own, baseline.entries)?.open ?? null;
  const { verdict, reason, sentence, needs } = judgment;
  const entry: VerdictEntry = {
    ...verdictEntry(
      { verdict, reason, sentence, needs, window: judgment, anchor: null },
      {
        ...{ fingerprint, author, detect: baseline.detect },
        ...{ runIds: judgment.runs.b, firstStart: b[0]?.start ?? null },
        recovery: open && { recovered: isPast(judgment, own, open), further: null },
      },
    ),
    scenario,
    design: 'pairs',
  };
  await appendVerdict(store, entry);
  const stored = await RunIndex.use(store, (index) => index.runs());
  return { judgment, figures, stored, state: stateOf([...entries, entry], baseline.entries) };
}

/**
 * Whether pairs show that an open regression is over: of every measure that regressed the change is below the margin, and the
 * interval excludes the change that was found. Pairs that exclude any change at all are rare.
 */
export function isPast(judgment: Judgment, entries: readonly VerdictEntry[], open: OpenRegression): boolean {
  if (judgment.reason === 'preflight') return false;
  const regressed = [...regressedFigures(entries, open)];
  const found = (key: string): MeasureVerdict | undefined =>
    entries
      .filter(({ at }) => at >= open.found_at)
      .flatMap(({ measures }) => measures)
      .find((one) => keyText(one) === key && one.verdict === 'regressed');
  return (
    regressed.length > 0 &&
    regressed.every((key) => {
      const now = judgment.measures.find((one) => keyText(one) === key);
      return now !== undefined && isBelow(now, found(key));
    })
  );
}

function isBelow({ effect, margin }: MeasureVerdict, found: MeasureVerdict | undefined): boolean {
  const before = found?.effect?.estimate;
  if (effect === null || before === undefined) return false;
  const worse = Math.sign(Math.log(before));
  const change = (ratio: number): number => worse * Math.log(ratio);
  const largest = Math.max(change(effect.low), change(effect.high));
  return change(effect.estimate) < Math.log1p(margin) && largest < change(before);
}

export type PairSide = 'a' | 'b';

/** Marks the runs of a pair that was measured again; they are kept and not compared. */
export const DISCARDED_TAG = 'discarded-pair';

export type PairRun = Pick<IndexedRun, 'run_id' | 'status' | 'damage' | 'tags'>;

/**
 * The runs of a comparison of two servers in pairs, by their names: `ID-03b` is of side B of the third pair, and `ID-03b-2`
 * its second try. Pairs count from 0.
 */
export class PairRuns {
  readonly #id: string;
  readonly #runs: Map<string, PairRun>;

  /** Takes the runs of the comparison from all that are stored. */
  constructor(id: string, stored: readonly PairRun[]) {
    this.#id = id;
    this.#runs = new Map(
      stored.filter(({ run_id }) => run_id.startsWith(`${id}-`)).map((run) => [run.run_id, run] as const),
    );
  }

  /** Adds a run, or replaces what is known of it. */
  set(run: PairRun): void {
    this.#runs.set(run.run_id, run);
  }

  /** The name of the next run of this side. */
  nextName(pair: number, side: PairSide): string {
    const tries = this.#tries(pair, side).length;
    return `${this.#firstName(pair, side)}${tries === 0 ? '' : `-${tries + 1}`}`;
  }

  /** The run of this side that is compared; null while there is none. */
  usable(pair: number, side: PairSide): PairRun | null {
    const isUsable = ({ status, damage, tags }: PairRun): boolean =>
      status === 'completed' && damage === null && !tags.includes(DISCARDED_TAG);
    return this.#tries(pair, side).find(isUsable) ?? null;
  }

  /** How often the pair was discarded. */
  discarded(pair: number): number {
    const ofSide = (side: PairSide): number =>
      this.#tries(pair, side).filter(({ tags }) => tags.includes(DISCARDED_TAG)).length;
    return Math.max(ofSide('a'), ofSide('b'));
  }

  #tries(pair: number, side: PairSide): readonly PairRun[] {
    const first = this.#firstName(pair, side);
    return [...this.#runs.values()].filter(({ run_id }) => run_id === first || run_id.startsWith(`${first}-`));
  }

  #firstName(pair: number, side: PairSide): string {
    return `${this.#id}-${String(pair + 1).padStart(2, '0')}${side}`;
  }
}

/** The order of a pair: A B, B A, B A, A B, and again, so that neither a trend nor a cycle favors a side. */
export function orderOfPair(pair: number): readonly [PairSide, PairSide] {
  return pair % 4 === 0 || pair % 4 === 3 ? ['a', 'b'] : ['b', 'a'];
}
