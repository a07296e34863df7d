import { RunIndex } from '../store/index/run-index.ts';
import type { RunStore } from '../store/run-store.ts';
import type { IndexedRun } from '../store/index/rows.ts';
import type { OpenRegression } from '../../core/api/scenarios.ts';
import type { Judgment, MeasureVerdict, VerdictEntry } from '../../core/api/verdict.ts';
import { changeDetect, readBaseline } from './baseline.ts';
import { keyText } from './cases.ts';
import { compare } from './compare.ts';
import { readFigures, storedFigures } from './load-figures.ts';
import { inOrder } from './history.ts';
import { pairedSlices, slicesOfDaysBefore } from './recorded-slices.ts';
import { rulesFor, type RuleChoices } from './rules.ts';
import type { RunFigures } from './run-figures.ts';
import { regressedFigures, stateOf, type ScenarioState } from './scenario-state.ts';
import { RECORDED } from './verdict-report.ts';
import { appendVerdict, readVerdicts, verdictEntry } from './verdict-log.ts';

export interface PairsRequest {
  readonly scenario: string;
  /** The slices of the servers that are normal, and of those that are judged: of the same times. */
  readonly a: readonly string[];
  readonly b: readonly string[];
  readonly rules: RuleChoices;
  readonly author: string | null;
  /** See `CheckRequest`. */
  readonly detect: number | null;
}

export interface CheckedPairs {
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
