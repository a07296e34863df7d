import type { Sighting } from './sighting.ts';

/** A label that names processes is carried by at least this share of the families, and not by a single one of several. */
const FAMILIES_OF_PROCESSES = 1 / 3;

/**
 * Divisions of the series that may be divisions into processes, as indices by the value of a label; series without the
 * label are a class too, under ''. A label of few families, such as a status or a path, does not name processes.
 */
function classesByLabel(sightings: readonly Sighting[]): Map<string, number[]>[] {
  return [
    ...divisions(sightings, ({ mayName }) => mayName, 1),
    ...divisions(sightings, ({ describedBy }) => describedBy, 2),
  ];
}

function divisions(
  sightings: readonly Sighting[],
  labelsOf: (one: Sighting) => ReadonlyMap<string, string>,
  leastValues: number,
): Map<string, number[]>[] {
  const families = countFamilies(sightings);
  const leastFamilies = Math.max(Math.min(families, 2), families * FAMILIES_OF_PROCESSES);
  const labels = new Set(sightings.flatMap((one) => [...labelsOf(one).keys()]));
  return Array.from(labels).flatMap((label) => {
    const carriers = sightings.filter((one) => labelsOf(one).has(label));
    if (countFamilies(carriers) < leastFamilies) return [];
    const classes = indicesBy(sightings, (one) => labelsOf(one).get(label) ?? '');
    const values = classes.size - (classes.has('') ? 1 : 0);
    return classes.size < 2 || values < leastValues ? [] : [classes];
  });
}

const countFamilies = (sightings: readonly Sighting[]): number => new Set(sightings.map(({ family }) => family)).size;

function indicesBy<T>(all: readonly T[], keyOf: (one: T) => string): Map<string, number[]> {
  const groups = new Map<string, number[]>();
  for (const [i, one] of all.entries()) {
    const key = keyOf(one);
    const members = groups.get(key);
    if (members === undefined) groups.set(key, [i]);
    else members.push(i);
  }
  return groups;
}

/** Whether a series continues from its earlier value, restarts from 0, or either (undecided). */
export type Life = 'continues' | 'anew' | 'unclear';

export interface Lives {
  /** By sighting. */
  readonly lives: readonly Life[];
  /** A process restarted. */
  readonly restarted: boolean;
  /** The process of the page did, or may have, on a page that also has series of other processes. */
  readonly pageRestarted: boolean;
  /** For some series it is undecided. */
  readonly unclear: boolean;
}

/** This many continuing series outweigh one that decreased or vanished: then only that one was reset. */
const CLEAR_MAJORITY = 20;

/**
 * Decides which series of a page restarted since the previous page.
 *
 * A start time decides where one exists. Without it, the series of one process are judged together: when more of them
 * decreased or vanished than continued, the process restarted and all of them count from 0, including those that have
 * passed their old value. When only a few did, either the process restarted or single series were reset: for the series
 * that continue it is then unclear, unless they are an overwhelming majority. Series that vanish while none decreases
 * may also belong to a server that is shutting down; they are judged when they return.
 *
 * Labels that name a process separate the series of a page. On the page of a gateway, which has series of its own, a
 * series that names a worker is counted by the worker or by the gateway: where only one of them restarted, it is unclear
 * whether the series did. The same holds for the values of any label that several families share.
 */
export function judgeLives(sightings: readonly Sighting[]): Lives {
  const lives = new Array<Life>(sightings.length).fill('continues');
  const at = (members: readonly number[]): Sighting[] => members.map((i) => sightings[i] as Sighting);
  const judge = (members: readonly number[], verdict: Verdict, ofPage: Verdict | null): void => {
    const all = at(members);
    const alone = doubtByLabels(
      all,
      all.map((one) => lifeOf(one, verdict)),
    );
    for (const [n, i] of members.entries()) {
      const life = alone[n] as Life;
      lives[i] = ofPage === null ? life : lifeOfEither(all[n] as Sighting, life, ofPage);
    }
  };

  const processes = indicesBy(sightings, ({ process }) => process);
  const page = processes.get('') ?? [];
  processes.delete('');
  const proofOfPage = sightings.find((each) => each.proofOfPage !== null)?.proofOfPage ?? null;
  const hasPage = page.length > 0 || proofOfPage !== null;
  const groups = Array.from(processes.values(), (members) => at(members));
  if (hasPage && groups.length > 0 && groups.every(isCountedByPage)) {
    // A gateway counts what it sends to each worker in a family of its own.
    return judgeLives(sightings.map((one) => ({ ...asOfPage(one), process: '', proofOfPage: null })));
  }
  const workers = Array.from(processes.values(), (members) => {
    return { members, verdict: verdictOf(hasPage ? besidePage(at(members)) : at(members)) };
  });
  const unexplained = workers.flatMap(({ members, verdict }) => lostByPage(at(members), verdict));
  const ofPage =
    page.length > 0 ? verdictOfPage(at(page), unexplained) : proofOfPage === 'renewed' ? 'restarted' : null;
  if (ofPage !== null) judge(page, ofPage, null);
  for (const { members, verdict } of workers) judge(members, verdict, ofPage);
  return {
    lives,
    restarted:
      [ofPage, ...workers.map(({ verdict }) => verdict)].includes('restarted') ||
      sightings.some(({ proof }) => proof === 'renewed'),
    pageRestarted: workers.length > 0 && ofPage !== null && ofPage !== 'alive',
    unclear: lives.includes('unclear'),
  };
}

/** The joint verdict of the series of one process that have no start time of their own. */
type Verdict = 'alive' | 'restarted' | 'unclear' | 'contradictory';

function verdictOf(sightings: readonly Sighting[]): Verdict {
  if (contradictsItsStart(sightings)) return 'contradictory';
  const proven = new Set(sightings.filter(({ step }) => step !== 'appeared').map(({ proof }) => proof));
  if (proven.has('renewed') !== proven.has('same')) return proven.has('renewed') ? 'restarted' : 'alive';
  const unproven = sightings.filter(({ proof }) => proof === null);
  const fell = unproven.filter(({ step }) => step === 'fell').length;
  const { lost, continued } = tally(unproven);
  if (!mayBeOfAnother(unproven)) return 'alive';
  if (fell === 0) return unproven.some(({ stood }) => stood) ? 'alive' : 'unclear';
  return lost > continued ? 'restarted' : 'unclear';
}

/** Whether so many series decreased or vanished that the second page may be that of another process. */
export function mayBeOfAnother(sightings: readonly Sighting[]): boolean {
  const { lost, continued } = tally(sightings);
  return lost > 0 && continued < CLEAR_MAJORITY * lost;
}

function tally(sightings: readonly Sighting[]): { readonly lost: number; readonly continued: number } {
  return {
    lost: sightings.filter(({ step }) => step === 'fell' || step === 'vanished').length,
    continued: sightings.filter(({ step, counted }) => step === 'continued' && counted).length,
  };
}

/**
 * Whether half of the series decreased or vanished in a process whose start time says that it lives on: servers that
 * started together.
 */
function contradictsItsStart(sightings: readonly Sighting[]): boolean {
  const same = sightings.filter(({ proof }) => proof === 'same');
  const { lost } = tally(same);
  // What vanishes alone may have been left out.
  if (lost < 2 || !same.some(({ step }) => step === 'fell')) return false;
  return 2 * lost >= same.filter(({ counted }) => counted).length;
}

function lifeOf({ step, counted, proof }: Sighting, verdict: Verdict): Life {
  if (proof === 'renewed') return 'anew';
  if (verdict === 'contradictory') return 'unclear';
  if (step === 'fell') return 'anew';
  if (proof === 'same') return 'continues';
  if (step === 'appeared') return 'continues';
  if (verdict === 'restarted') return 'anew';
  if (step === 'vanished') return 'continues';
  // From 0 to the new value is the same increase, whether the process restarted or not; so is that of an appeared one.
  return verdict === 'unclear' && counted ? 'unclear' : 'continues';
}

/** Of a series that the process of its labels counts, or that of the page. */
function lifeOfEither(one: Sighting, life: Life, ofPage: Verdict): Life {
  if (one.isOwnProof || one.step === 'appeared') return life;
  // Whether a worker restarted, or the gateway only omits it, shows when it returns.
  if (one.step === 'vanished') return one.proof === 'renewed' ? 'anew' : 'continues';
  const asPages = lifeOf(asOfPage(one), ofPage);
  if (life === asPages) return life;
  return isUndecided(one) ? 'unclear' : life;
}

/** What a gateway counts of a worker, and proves or does not change, says nothing about the worker. */
const besidePage = (sightings: readonly Sighting[]): Sighting[] =>
  sightings.filter(({ isOwnProof }) => !isOwnProof).map((one) => ({ ...one, stood: false }));

function verdictOfPage(sightings: readonly Sighting[], unexplained: readonly Sighting[]): Verdict {
  const verdict = verdictOf(sightings);
  return verdict === 'alive' && verdictOf([...sightings, ...unexplained]) !== 'alive' ? 'unclear' : verdict;
}

/**
 * What decreases in a worker that lives on, or as its only family, may be what the gateway counts of it; so may what vanishes
 * while most series of the worker continue.
 */
function lostByPage(sightings: readonly Sighting[], verdict: Verdict): Sighting[] {
  const unproven = sightings.filter(({ isOwnProof }) => !isOwnProof);
  const fell = unproven.filter(({ step }) => step === 'fell');
  const { lost, continued } = tally(unproven);
  if (fell.length === 0 && continued > lost)
    return unproven.filter(({ step }) => step === 'vanished').map((one) => ({ ...one, proof: null }));
  const isOfWorker = verdict === 'restarted' && (countFamilies(fell) > 1 || fell[0]?.proof === 'renewed');
  return isOfWorker ? [] : fell.map((one) => ({ ...one, proof: null }));
}

/** Without a start time of the worker, and of a single family. */
const isCountedByPage = (sightings: readonly Sighting[]): boolean =>
  countFamilies(sightings) < 2 && sightings.every(({ proof, isOwnProof }) => proof === null || isOwnProof);

const asOfPage = (one: Sighting): Sighting =>
  one.process === '' || one.isOwnProof ? one : { ...one, proof: one.proofOfPage };

/** Whether its increase depends on whether it restarted. */
const isUndecided = ({ step, counted }: Sighting): boolean => step === 'continued' && counted;

/**
 * Makes unclear what a label may separate into processes: series that share a value of it and are judged otherwise by
 * themselves.
 */
function doubtByLabels(sightings: readonly Sighting[], lives: readonly Life[]): Life[] {
  const doubted = [...lives];
  if (tally(sightings).lost === 0 && !lives.includes('anew')) return doubted;
  const alone = sightings.map((one): Sighting => (one.isOwnProof ? one : { ...one, proof: null, stood: false }));
  for (const classes of classesByLabel(sightings)) {
    const rest = classes.get('');
    for (const members of classes.values()) {
      const fell = (all: readonly number[]): boolean => all.some((i) => sightings[i]?.step === 'fell');
      const verdicts = [members, rest ?? members].map((one) => verdictOf(one.map((i) => alone[i] as Sighting)));
      for (const i of members) {
        const one = alone[i] as Sighting;
        if (one.isOwnProof || (sightings[i]?.stood === true && lives[i] === 'continues')) continue;
        if (one.step === 'vanished' && verdicts[0] === 'restarted') doubted[i] = 'anew';
        if (one.step === 'vanished' && verdicts[0] === 'unclear' && fell(members)) doubted[i] = 'unclear';
        if (isUndecided(one) && verdicts.some((verdict) => lifeOf(one, verdict) !== lives[i])) doubted[i] = 'unclear';
      }
    }
  }
  return doubted;
}

/**
 * Which of the series that were missing and return may have continued while they were missing: a gateway omits the series
 * of a worker that it does not reach, and all of them return together. The start time of a process decides only for the
 * processes that its labels name.
 *
 * `returning`: compared with their last values. `present`: on the previous page; `appeared` where they are newer than the
 * absence.
 */
export function mayHaveContinued(returning: readonly Sighting[], present: readonly Sighting[]): ReadonlySet<Sighting> {
  const all = [...returning, ...present];
  const isReturn = new Set(returning);
  const doubted = (classes: ReadonlyMap<string, readonly number[]>): Sighting[] =>
    Array.from(classes).flatMap(([name, members]) => {
      const returned = members.map((i) => all[i] as Sighting).filter((one) => isReturn.has(one));
      const resumed = returned.filter(({ step, counted }) => step === 'continued' && counted);
      const fell = returned.filter(({ step }) => step === 'fell');
      const present = members.map((i) => all[i] as Sighting).filter((one) => !isReturn.has(one));
      // New series beside old ones are of a process that restarted, and shows its families one by one.
      const isNew = present.some(({ step }) => step === 'appeared');
      const isWhole = name !== '' && returned.length >= present.length + (isNew ? 1 : 0);
      if (!isWhole) return [];
      return resumed.filter(({ proof }) => proof === 'same' || resumed.length >= fell.length);
    });
  const byProcess = doubted(indicesBy(all, ({ process }) => process));
  return new Set([...byProcess.filter(({ proof }) => proof === null), ...classesByLabel(all).flatMap(doubted)]);
}
