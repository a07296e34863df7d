import type { ScenarioStateName, OpenRegression, LargestChange, BaselineEntry } from '../../core/api/scenarios.ts';
import type { VerdictEntry, VerdictSummary } from '../../core/api/verdict.ts';
import { fileStamp } from '../files/reloaded.ts';
import { listScenarioPaths, scenarioPaths, type ScenarioPaths } from '../store/scenarios/scenario-folders.ts';
import type { CapacityFile } from '../../core/run/capacity.ts';
import { listCapacityPaths, readCapacityFile } from '../store/scenarios/capacity-files.ts';
import { readEntries } from '../store/scenarios/append-log.ts';
import { statisticTitle } from '../../core/measures/names.ts';
import { changeText, things } from '../../core/text/quantities.ts';
import { keyText } from './cases.ts';
import { SHARES_OF_FAILURE } from './evidence.ts';
import { changeBaseline, foldEntries, type Baseline } from './baseline.ts';
import { DamagedRunError } from '../errors/expected-error.ts';
import { newestVerdicts, readVerdictFile, verdictSummary, type LogStore } from './verdict-log.ts';

/** Where a scenario stands, from its own files alone. */
export interface ScenarioState {
  readonly scenario: string;
  readonly state: ScenarioStateName;
  /** The newest verdict; null when nothing was judged. */
  readonly newest: VerdictEntry | null;
  readonly open: OpenRegression | null;
  /** Checks since the last one that could see what it has to: the change that the scenario asks for, or any at all. */
  readonly undecidedInARow: number;
  readonly baseline: Pick<Baseline, 'accepted' | 'pinned'> & Partial<Pick<Baseline, 'detect'>>;
  /** The newest verdict on each judged run, by its id. */
  readonly verdictOf: ReadonlyMap<string, VerdictSummary>;
  /** The newest search for the capacity that has a response, for each load and set of objectives. */
  readonly capacities: readonly CapacityFile[];
}

/** Searches of a scenario that are read, the last by name; an ID begins with the time unless the user sets it. */
const MAX_SEARCHES = 50;

/** The states of all scenarios of a runs directory. A scenario whose files have not changed is not read again. */
export class ScenarioStates {
  readonly #runsDirectory: string;
  readonly #known = new Map<string, { readonly stamp: string; readonly state: ScenarioState | null }>();
  #states: readonly ScenarioState[] = [];

  readonly #leftOut: ((line: string) => void) | null;

  /** `leftOut` receives a line for a scenario whose files cannot be read, which is then left out; null: it is an error. */
  constructor(runsDirectory: string, leftOut: ((line: string) => void) | null = null) {
    this.#runsDirectory = runsDirectory;
    this.#leftOut = leftOut;
  }

  /** In the order of the folders; the same array as long as nothing has changed. Throws what the file system says. */
  async read(): Promise<readonly ScenarioState[]> {
    const paths = await listScenarioPaths(this.#runsDirectory);
    let changed = paths.length !== this.#known.size;
    for (const each of paths) {
      const searches = (await listCapacityPaths(each.capacity)).slice(-MAX_SEARCHES);
      const stamp = [each.baseline, each.verdicts, ...searches].map(fileStamp).join(' ');
      if (this.#known.get(each.folder)?.stamp === stamp) continue;
      this.#known.set(each.folder, { stamp, state: await this.#state(each, searches) });
      changed = true;
    }
    const there = new Set(paths.map(({ folder }) => folder));
    for (const folder of this.#known.keys()) if (!there.has(folder)) this.#known.delete(folder);
    if (changed) this.#states = paths.flatMap(({ folder }) => this.#known.get(folder)?.state ?? []);
    return this.#states;
  }

  async #state(paths: ScenarioPaths, searches: readonly string[]): Promise<ScenarioState | null> {
    try {
      return await readState(paths, searches);
    } catch (error) {
      if (this.#leftOut === null || !(error instanceof DamagedRunError)) throw error;
      this.#leftOut(`a scenario is left out: ${error.message}`);
      return null;
    }
  }
}

async function readState(paths: ScenarioPaths, searches: readonly string[]): Promise<ScenarioState | null> {
  const { entries: changes } = await readEntries(paths.baseline);
  return stateOf((await readVerdictFile(paths.verdicts)).entries, changes, await newestCapacities(searches));
}

/** Where the scenario of these lines and searches stands; null when they are of none. */
export function stateOf(
  verdicts: readonly VerdictEntry[],
  changes: readonly object[],
  capacities: readonly CapacityFile[] = [],
): ScenarioState | null {
  const baseline = foldEntries(changes);
  const scenario = verdicts.at(-1)?.scenario ?? baseline.entries.at(-1)?.scenario ?? capacities[0]?.scenario;
  if (scenario === undefined) return null;
  const newest = verdicts.at(-1) ?? null;
  const { open, recovered } = regressionAfter(verdicts, baseline.entries);
  return {
    scenario,
    state: stateName(newest, open, recovered),
    open,
    newest,
    baseline,
    undecidedInARow: undecidedInARow(verdicts),
    verdictOf: newestVerdicts(verdicts, verdictSummary),
    capacities,
  };
}

/** A search that cannot be read, or that has no answer, replaces no other. */
async function newestCapacities(searches: readonly string[]): Promise<readonly CapacityFile[]> {
  const read = await Promise.all(searches.map((path) => readCapacityFile(path).catch(() => null)));
  const answered = read.filter((file) => file !== null && (file.holds !== null || file.fails !== null));
  const newestLast = (answered as readonly CapacityFile[]).toSorted((a, b) => (a.updated_at < b.updated_at ? -1 : 1));
  const key = ({ load, objectives }: CapacityFile): string => [load, ...objectives.map(({ text }) => text)].join(' ');
  return [...new Map(newestLast.map((file) => [key(file), file])).values()];
}

/** Whether `check` fails: a regression is open that is not acknowledged. */
export function gates(open: OpenRegression | null): boolean {
  return open !== null && open.acknowledged === null;
}

/** The state of one scenario; null when its files have nothing. */
export async function readScenarioState(runsDirectory: string, scenario: string): Promise<ScenarioState | null> {
  return readState(scenarioPaths(runsDirectory, scenario), []);
}

/** Records that the open regression of a scenario is known. Null: none is open, nothing was recorded. */
export async function acknowledgeRegression(
  store: LogStore,
  scenario: string,
  { author, reason }: Pick<BaselineEntry, 'author' | 'reason'>,
): Promise<OpenRegression | null> {
  const open = (await readScenarioState(store.directory, scenario))?.open ?? null;
  if (open === null) return null;
  await changeBaseline(store, { scenario, action: 'acknowledge', run_ids: open.run_ids, author, reason });
  return (await readScenarioState(store.directory, scenario))?.open ?? open;
}

/** Records a change of a baseline. Accepting runs of an open regression makes their level the normal one. */
export async function recordChange(
  store: LogStore,
  change: Omit<BaselineEntry, 'schema_version' | 'at' | 'level' | 'detect'>,
): Promise<void> {
  const open = change.action === 'accept' ? (await readScenarioState(store.directory, change.scenario))?.open : null;
  const begins = open?.run_ids.some((id) => change.run_ids.includes(id)) ?? false;
  await changeBaseline(store, begins ? { ...change, level: 'new' } : change);
}

/** The figures that were found regressed since the regression began, by `keyText`. */
export function regressedFigures(entries: readonly VerdictEntry[], open: OpenRegression): ReadonlySet<string> {
  const since = entries.filter(({ at, verdict }) => at >= open.found_at && verdict === 'regressed');
  return new Set(
    since.flatMap(({ measures }) => measures.filter(({ verdict }) => verdict === 'regressed').map(keyText)),
  );
}

function stateName(newest: VerdictEntry | null, open: OpenRegression | null, recovered: boolean): ScenarioStateName {
  if (open !== null) return 'regressed';
  if (newest === null) return 'unjudged';
  if (recovered) return 'recovered';
  return newest.verdict === 'suspect' ? 'suspect' : 'ok';
}

type Event = { readonly verdict: VerdictEntry } | { readonly change: BaselineEntry };

/**
 * The regression that is open after all checks and decisions, in the order of time. A check that finds it opens it; it ends when
 * a later check shows that it is over, when runs are accepted or pinned, or when all of its runs are dropped. Checks of another
 * configuration than the newest say nothing about it.
 */
function regressionAfter(
  verdicts: readonly VerdictEntry[],
  changes: readonly BaselineEntry[],
): { readonly open: OpenRegression | null; readonly recovered: boolean } {
  const fingerprint = verdicts.at(-1)?.fingerprint;
  const events: Event[] = [
    ...verdicts.filter((entry) => entry.fingerprint === fingerprint).map((verdict) => ({ verdict })),
    ...changes.map((change) => ({ change })),
  ];
  let open: OpenRegression | null = null;
  let recovered = false;
  for (const event of events.toSorted((x, y) => compareText(timeOf(x), timeOf(y)))) {
    if ('change' in event) open = open && afterChange(open, event.change);
    else {
      const ended: boolean = open !== null && isOver(event.verdict);
      open = ended ? null : afterVerdict(open, event.verdict);
      recovered = ended;
    }
  }
  return { open, recovered };
}

const timeOf = (event: Event): string => ('change' in event ? event.change.at : event.verdict.at);

const compareText = (x: string, y: string): number => (x < y ? -1 : x > y ? 1 : 0);

function isOver({ verdict, recovered }: VerdictEntry): boolean {
  return recovered ?? (verdict === 'unchanged' || verdict === 'improved');
}

function afterVerdict(open: OpenRegression | null, entry: VerdictEntry): OpenRegression | null {
  const [first] = entry.run_ids;
  if (open === null && (entry.verdict !== 'regressed' || first === undefined)) return null;
  const begun = open ?? {
    since_run_id: first ?? '',
    since: entry.first_start ?? entry.at,
    found_at: entry.at,
    run_ids: [] as readonly string[],
    baseline_run_ids: entry.baseline_run_ids,
    largest: null,
    acknowledged: null,
  };
  // A check may look back beyond the first run of the regression.
  const known = entry.run_ids.findIndex((id) => begun.run_ids.includes(id));
  const run_ids = [...new Set([...begun.run_ids, ...entry.run_ids.slice(Math.max(0, known))])];
  const largest = larger(begun.largest, entry);
  // What is judged in pairs has a baseline of its own times.
  const baseline_run_ids =
    entry.design === 'pairs'
      ? [...new Set([...begun.baseline_run_ids, ...entry.baseline_run_ids])]
      : begun.baseline_run_ids;
  return worded({ ...begun, run_ids, baseline_run_ids, largest, needs_to_recover: entry.needs_to_recover ?? null });
}

function afterChange(
  open: OpenRegression,
  { action, at, run_ids, author, reason }: BaselineEntry,
): OpenRegression | null {
  switch (action) {
    case 'accept':
    case 'pin':
      return null;
    case 'acknowledge':
      return run_ids.some((id) => open.run_ids.includes(id)) ? { ...open, acknowledged: { at, author, reason } } : open;
    case 'drop': {
      const left = open.run_ids.filter((id) => !run_ids.includes(id));
      const [first] = left;
      return first === undefined ? null : worded({ ...open, run_ids: left, since_run_id: first });
    }
    default:
      return open;
  }
}

function larger(known: LargestChange | null, { measures }: VerdictEntry): LargestChange | null {
  const size = ({ effect }: Pick<LargestChange, 'effect'>): number => Math.abs(Math.log(effect.estimate));
  return measures.reduce<LargestChange | null>((largest, { verdict, effect, ...key }) => {
    if (verdict !== 'regressed' || effect === null) return largest;
    const { measure, stat, clock, unit } = key;
    const found = { measure, stat, clock, title: statisticTitle(key), unit, effect };
    return largest === null || size(found) > size(largest) ? found : largest;
  }, known);
}

function worded(open: Omit<OpenRegression, 'sentence'>): OpenRegression {
  const before = open.run_ids.length - 1;
  const ago = before === 0 ? '' : ` (${things(before, 'runs')} ago)`;
  const change = open.largest === null ? '' : `, ${largestText(open.largest)}`;
  return { ...open, sentence: `regressed since ${open.since_run_id}${ago}${change}` };
}

/** Of a share of failures the effect is that of the share that remains. */
function largestText({ measure, title, effect }: LargestChange): string {
  const change = changeText(effect.estimate);
  return SHARES_OF_FAILURE.has(measure) ? `1 − ${title} changed by ${change}` : `${title} ${change}`;
}

function undecidedInARow(verdicts: readonly VerdictEntry[]): number {
  const decided = verdicts.findLastIndex(({ verdict, blind }) => !(blind ?? verdict === 'undecided'));
  return verdicts.length - 1 - decided;
}
