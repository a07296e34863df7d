import { isObject } from '../endpoints/endpoint.ts';
import { textIn } from '../endpoints/response-content.ts';
import { things } from '../../../core/text/quantities.ts';

type Counts = Readonly<Record<string, number>>;

/** What of responses was not as the API describes it, for a user to know. Names only, never text of a server. */
export interface ResponseFindings {
  /** Fields of unknown names that were counted as output, and in how many parsed events. */
  readonly unknownFields: Counts;
  /** Events that are no part of the protocol, by what they are called. */
  readonly ignoredEvents: Counts;
  /** Ok responses whose usage cannot be true, by what contradicts it. */
  readonly impossibleUsage: Counts;
  /** Turns of conversations whose message is the reasoning, or is left out, because the response had no other text. */
  readonly turns: Counts;
}

/** More names are counted together. */
const MAX_NAMES = 8;
const MAX_NAME_CHARACTERS = 60;

/** A server chooses the names: `constructor` is one like any other. */
const counts = (): Record<string, number> => Object.create(null) as Record<string, number>;

/** Collects what was found in one response or in many. */
export class FindingsTally {
  /** Null as in most responses. */
  #found: Record<keyof ResponseFindings, Record<string, number>> | null = null;

  add(kind: keyof ResponseFindings, given: string, count = 1): void {
    this.#found ??= { unknownFields: counts(), ignoredEvents: counts(), impossibleUsage: counts(), turns: counts() };
    const ofKind = this.#found[kind];
    const name = kind === 'unknownFields' ? nameOnly(given) : given;
    const known = Object.hasOwn(ofKind, name) || Object.keys(ofKind).length < MAX_NAMES ? name : 'others';
    ofKind[known] = (ofKind[known] ?? 0) + count;
  }

  addAll(findings: ResponseFindings | null | undefined): void {
    if (findings == null) return;
    for (const kind of Object.keys(findings) as (keyof ResponseFindings)[])
      for (const [name, count] of Object.entries(findings[kind])) this.add(kind, name, count);
  }

  /** Null when nothing was found. */
  get findings(): ResponseFindings | null {
    return this.#found;
  }
}

/** Of several phases, or of the workers of one. */
export function allFindings(of: readonly { readonly findings?: ResponseFindings | null }[]): ResponseFindings | null {
  const tally = new FindingsTally();
  for (const { findings } of of) tally.addAll(findings);
  return tally.findings;
}

/** One line per finding. */
export function findingLines(findings: ResponseFindings | null): readonly string[] {
  if (findings === null) return [];
  const { unknownFields, ignoredEvents, impossibleUsage, turns } = findings;
  const ignored = total(ignoredEvents);
  const impossible = total(impossibleUsage);
  return [
    ...Object.keys(unknownFields).map((name) => `${name} counted as output; --output-fields decides otherwise`),
    ...(ignored === 0
      ? []
      : [
          `events: ${things(ignored, 'events')} of no known meaning and without text were ignored: ${list(ignoredEvents)}`,
        ]),
    ...(impossible === 0
      ? []
      : [
          `token counts: the usage of ${things(impossible, 'responses')} cannot be true (${Object.keys(impossibleUsage)[0] ?? ''}), ` +
            `so ${impossible === 1 ? 'its' : 'their'} output tokens are unknown; --tokenizer counts them on the client`,
        ]),
    ...Object.entries(turns).map(([what, count]) => `conversations: ${things(count, 'responses')} ${what}`),
  ];
}

/** Ok responses whose usage cannot be true. */
export const impossibleCounts = (findings: ResponseFindings | null | undefined): number =>
  total(findings?.impossibleUsage ?? {});

const total = (counts: Counts): number => Object.values(counts).reduce((sum, count) => sum + count, 0);

const list = (counts: Counts): string =>
  Object.entries(counts)
    .map(([name, count]) => `${name} (${count})`)
    .join(', ');

const KEEP_ALIVE = /^(ping|pong|keep-?_?alive|heartbeat)\b/i;

/**
 * What an event outside of the protocol is called, when it may be ignored because it has no text; null when it may not,
 * since the text may be the response.
 */
export function ignorableEvent(event: unknown): string | null {
  if (typeof event === 'string') return KEEP_ALIVE.test(event) ? 'keep-alive' : null;
  if (event === null || typeof event !== 'object') return String(event);
  const { type, event: name } = isObject(event) ? event : {};
  const kind = [type, name].find((given) => typeof given === 'string');
  const label = kind === undefined ? keysOf(event) : nameOnly(kind);
  const text = textIn(event);
  return text === '' || KEEP_ALIVE.test(label) || KEEP_ALIVE.test(text) ? label : null;
}

export const BLANK = 'blank data';

/** The same for data that is not JSON: blank, a comment that was sent as data, or a word that only keeps alive. */
export function ignorableData(data: string): string | null {
  const text = data.trim();
  if (text === '') return BLANK;
  return text.startsWith(':') || KEEP_ALIVE.test(text) ? 'keep-alive' : null;
}

/** The keys of an event, without their values. */
export function keysOf(event: unknown): string {
  if (Array.isArray(event)) return 'a list';
  if (!isObject(event)) return typeof event;
  const keys = Object.keys(event);
  return `{${keys.slice(0, MAX_NAMES).map(nameOnly).join(', ')}${keys.length > MAX_NAMES ? ', …' : ''}}`;
}

const nameOnly = (name: string): string => name.replace(/[^\w.$:-]/g, '_').slice(0, MAX_NAME_CHARACTERS);
