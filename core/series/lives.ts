/** A cumulative series on two consecutive good pages of one address. */
export interface Sighting {
  /**
   * `continued`: it is on both pages and none of its numbers decreased. `vanished`: it is missing from the second page.
   * `appeared`: it is missing from the first page.
   */
  readonly step: 'continued' | 'fell' | 'vanished' | 'appeared';
  /** Whether it was above 0 on the first page. */
  readonly counted: boolean;
  /** Whether it has exactly the number of the first page, one that a new process is unlikely to reach by chance. */
  readonly stood: boolean;
  /** What a start time shows: the same process, or one that started since. */
  readonly proof: 'same' | 'renewed' | null;
  /** The process named by the labels; '' if none. */
  readonly process: string;
}

/** Whether a series continues from its earlier value, restarts from 0, or either (undecided). */
export type Life = 'continues' | 'anew' | 'unclear';

export interface Lives {
  /** By sighting. */
  readonly lives: readonly Life[];
  /** A process restarted. */
  readonly restarted: boolean;
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
 */
export function judgeLives(sightings: readonly Sighting[]): Lives {
  const processes = new Map<string, number[]>();
  // Labels separate processes only where all series carry them: a gateway labels a part of its own series by worker.
  const separate = sightings.every(({ process }) => process !== '');
  // Under the start time of a gateway that lives on, only series that it does not prove may be of another process.
  const separateUnproven = sightings.every(
    ({ process, proof }) => proof === 'same' || (proof === null && process !== ''),
  );
  for (const [i, { process, proof }] of sightings.entries()) {
    const key = separate || (separateUnproven && proof === null) ? process : '';
    const members = processes.get(key);
    if (members === undefined) processes.set(key, [i]);
    else members.push(i);
  }
  const lives = new Array<Life>(sightings.length).fill('continues');
  let restarted = false;
  let unclear = false;
  for (const members of processes.values()) {
    const ofProcess = members.map((i) => sightings[i] as Sighting);
    const verdict = contradictsItsStart(ofProcess) ? 'contradictory' : verdictOf(ofProcess);
    restarted ||= verdict === 'restarted' || members.some((i) => sightings[i]?.proof === 'renewed');
    for (const i of members) {
      const life = lifeOf(sightings[i] as Sighting, verdict);
      unclear ||= life === 'unclear';
      lives[i] = life;
    }
  }
  return { lives, restarted, unclear };
}

/** The joint verdict of the series of one process that have no start time of their own. */
type Verdict = 'alive' | 'restarted' | 'unclear' | 'contradictory';

function verdictOf(sightings: readonly Sighting[]): Verdict {
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
