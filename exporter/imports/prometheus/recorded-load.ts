import { quantities } from '../../../catalog/equivalents.ts';
import { perBucket, type ClassicHistogram } from '../../../core/histogram/classic-histogram.ts';
import type { RecordedLoad, LoadCourse, SlotLengths, TokenCounts } from '../../../core/run/load.ts';
import { quantity, things } from '../../../core/text/quantities.ts';
import { publicUrl } from '../../http-client/public-url.ts';
import type { Collection } from '../../servers/collection.ts';
import { gained, observed } from '../../servers/summary/gained-quantities.ts';
import { ImportNotes, ImportRefusal } from '../import-notes.ts';
import { collectionOf, noteScrapes, recordedTargets, within, type RecordedWindow } from './import-window.ts';
import type { RecordedTarget } from './recorded-targets.ts';

export type LoadChoices = Pick<RecordedLoad, 'compress' | 'scale'>;

const MAX_SLOTS = 288;
/** Between fewer scrapes, when a request came is known too coarsely for its slot. */
const SCRAPES_PER_SLOT = 4;
/** In slots with fewer the lengths of the whole window say more. */
const MIN_LENGTHS = 20;

/** Counts of these grow when a request comes, or soon after; the first that the servers expose is used. */
const ARRIVALS = ['time_to_first_token', 'input_tokens', 'requests_finished_total'];
const LENGTHS = ['input_tokens', 'output_tokens'];
const CACHED = ['cached_prompt_tokens_total', 'prompt_tokens_total'];

/**
 * The load that servers had in a window: how many requests came when, and how long they were. The notes are what its reader
 * must know, one line each. Throws an `ImportRefusal`.
 */
export async function readRecordedLoad(
  window: RecordedWindow,
  choices: LoadChoices,
): Promise<LoadCourse & { readonly notes: readonly string[] }> {
  const { selector, url } = window;
  const notes = new ImportNotes();
  const targets = await recordedTargets({ ...window, selector: ofLoad(selector) }, notes);
  const whole = covered(collectionOf(targets, window.from, window.to));
  const [start, end] = [whole.window.start_ns, whole.window.end_ns].map((at_ns) =>
    new Date(window.from.getTime() + at_ns / 1e6).toISOString(),
  ) as [string, string];
  if (start !== window.from.toISOString() || end !== window.to.toISOString())
    notes.add(`recorded only from ${start} to ${end}: the plan has this part of the window`);
  for (const target of targets) noteScrapes(target, whole, notes);
  const { system, arrivals } = arrivalsOf(whole, targets);
  const input = lengthsOf(whole, 'input_tokens', system);
  if (input === null)
    throw new ImportRefusal(
      `${selector}: no histogram of prompt lengths with the same buckets on all servers: a plan cannot have their lengths`,
    );
  const output = lengthsOf(whole, 'output_tokens', system);
  const slots = slotsOf(whole);
  const lengths = slots.map((slot): SlotLengths => {
    const counts = (name: string, of: TokenCounts | null): readonly number[] | null => {
      const found = observed(slot, name, system);
      const isUsable = found?.histogram != null && found.count >= MIN_LENGTHS;
      const own = isUsable ? perBucket(found.histogram) : null;
      return own !== null && own.length === of?.counts.length ? own : null;
    };
    return { input: counts('input_tokens', input), output: counts('output_tokens', output) };
  });
  const { requests, unscraped, unknown } = requestsOf(slots, arrivals, system);
  const slotSeconds = (slots[0]!.window.end_ns - slots[0]!.window.start_ns) / 1e9;
  notes.add(`requests as counted by ${familyOf(arrivals, system)}, in slots of ${quantity(slotSeconds, 'seconds')}`);
  if (unscraped > 0)
    notes.add(
      `not recorded for ${quantity(unscraped * slotSeconds, 'seconds')}: the requests of that time are planned at an even rate`,
    );
  if (unknown > 0)
    notes.add(
      `the count of ${things(unknown, 'slots')} is unknown, as a server may have restarted: they are planned empty`,
    );
  notes.add(`prompt lengths ${resolution(input)}`);
  notes.add(
    output === null ? 'response lengths: not known, set --osl in the run' : `response lengths ${resolution(output)}`,
  );
  const cached = cachedRatio(whole, system);
  notes.add(
    cached === null || cached === 0
      ? `cache hits: ${cached === null ? 'the servers do not expose them' : 'none'}; prompts of the plan share nothing`
      : `cache hits: ${quantity(cached, 'ratio')} of the prompt tokens, as one beginning that prompts share`,
  );
  notes.add('which prompt length came with which response length, and conversations, are not in the metrics');
  return {
    source: {
      prometheus: publicUrl(url),
      selector,
      start,
      end,
      ...choices,
      slot_seconds: slotSeconds,
      requests,
      input_tokens: input,
      output_tokens: output,
      cached_input_ratio: cached,
    },
    lengths,
    notes: notes.lines,
  };
}

/** The series that say something of the load, where the selector does not name its own: a day of all of them is too much. */
function ofLoad(selector: string): string {
  if (!selector.startsWith('{')) return selector;
  const names = new Set(
    [...ARRIVALS, ...LENGTHS, ...CACHED].flatMap((name) =>
      quantities()
        .filter(({ quantity: known }) => known === name)
        .flatMap(({ families, kind }) =>
          families.map(({ family }) => (kind === 'histogram' ? `${family}_(bucket|sum|count)` : family)),
        ),
    ),
  );
  const pattern = ['up', 'process_start_time_seconds', ...names].join('|');
  const inner = selector.slice(1, -1).replace(/,\s*$/, '');
  return `{${inner === '' ? '' : `${inner},`}__name__=~"${pattern}"}`;
}

/** The quantity by which requests are counted, and the system that exposes it: frontends count each request once. */
function arrivalsOf(
  collection: Collection,
  targets: readonly RecordedTarget[],
): { readonly system: string; readonly arrivals: string } {
  const systems = new Set(targets.flatMap(({ system }) => system ?? []));
  for (const arrivals of ARRIVALS)
    for (const system of systems) if ((countOf(collection, arrivals, system) ?? 0) > 0) return { system, arrivals };
  throw new ImportRefusal('the servers counted no request in the window, or expose no count of them');
}

function countOf(collection: Collection, name: string, system: string): number | null {
  return name === 'requests_finished_total'
    ? gained(collection, name, system)
    : (observed(collection, name, system)?.count ?? null);
}

/**
 * The requests of each slot. What a scrape finds after slots without any came in their time too, and is divided evenly.
 * `unscraped`: how many slots had no scrape; `unknown`: of how many the count is not known, 0 in `requests`.
 */
function requestsOf(
  slots: readonly Collection[],
  arrivals: string,
  system: string,
): { readonly requests: readonly number[]; readonly unscraped: number; readonly unknown: number } {
  const requests: number[] = [];
  let [waiting, unscraped, unknown] = [0, 0, 0];
  for (const [i, slot] of slots.entries()) {
    const isScraped = slot.targets.some(({ window: { range } }) => range.to > range.from);
    if (!isScraped && i < slots.length - 1) {
      waiting += 1;
      continue;
    }
    const count = countOf(slot, arrivals, system);
    if (count === null) unknown += waiting + 1;
    else unscraped += waiting;
    requests.push(...Array.from({ length: waiting + 1 }, () => (count ?? 0) / (waiting + 1)));
    waiting = 0;
  }
  return { requests, unscraped, unknown };
}

function lengthsOf(collection: Collection, name: string, system: string): TokenCounts | null {
  const found = observed(collection, name, system);
  if (found?.histogram == null || !isWhole(found.histogram)) return null;
  return { bounds: found.histogram.bounds.slice(0, -1), counts: perBucket(found.histogram), mean: found.mean };
}

const isWhole = ({ bounds }: ClassicHistogram): boolean => bounds.length > 1 && bounds.at(-1) === Infinity;

function cachedRatio(collection: Collection, system: string): number | null {
  const [cached = null, prompt = null] = CACHED.map((name) => gained(collection, name, system));
  return cached === null || prompt === null || !(prompt > 0) ? null : Math.min(1, cached / prompt);
}

/** The part of the window in which some target was scraped: what was before or after it is unknown, not 0. */
function covered(whole: Collection): Collection {
  const { start_ns, end_ns } = whole.window;
  const stores = whole.targets.map(({ store }) => store);
  const first_ns = Math.min(
    ...stores.map((store) => {
      let scrape = 0;
      while (scrape < store.scrapes && !store.isOk(scrape)) scrape += 1;
      return scrape < store.scrapes ? store.at_ns(scrape) : Infinity;
    }),
  );
  const last = stores.map((store) => [store, store.lastOkAt(end_ns)] as const).filter(([, scrape]) => scrape >= 0);
  const last_ns = Math.max(...last.map(([store, scrape]) => store.at_ns(scrape)));
  if (!(first_ns < last_ns)) throw new ImportRefusal('fewer than two scrapes of the window were successful');
  const late = 1.5 * whole.interval_ns;
  return within(whole, first_ns > start_ns + late ? first_ns : start_ns, last_ns < end_ns - late ? last_ns : end_ns);
}

/** The window in equal slots, each with what was counted in it. */
function slotsOf(whole: Collection): readonly Collection[] {
  const { start_ns, end_ns } = whole.window;
  const length_ns = Math.max((end_ns - start_ns) / MAX_SLOTS, SCRAPES_PER_SLOT * whole.interval_ns);
  const count = Math.max(1, Math.floor((end_ns - start_ns) / length_ns + 1e-9));
  const slot_ns = (end_ns - start_ns) / count;
  return Array.from({ length: count }, (_, i) => within(whole, start_ns + i * slot_ns, start_ns + (i + 1) * slot_ns));
}

const familyOf = (name: string, system: string): string =>
  quantities()
    .find(({ quantity: known }) => known === name)
    ?.families.find((member) => member.system === system)?.family ?? name;

/** How finely the lengths are known: the buckets that hold requests. */
function resolution({ bounds, counts, mean }: TokenCounts): string {
  const used = counts.flatMap((count, i) => (count > 0 ? [i] : []));
  const low = bounds[(used[0] ?? 0) - 1] ?? 0;
  const high = bounds[used.at(-1) ?? 0];
  const above = high === undefined ? `; ${counts.at(-1)} above the last bound count as up to twice it` : '';
  return (
    `from ${used.length} buckets between ${low} and ${high ?? bounds.at(-1)} tokens, with the mean ${quantity(mean, 'tokens')}; ` +
    `how they lie within a bucket is not known${above}`
  );
}
