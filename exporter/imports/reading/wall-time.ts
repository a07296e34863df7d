import type { ImportNotes } from '../import-notes.ts';

/** A time with its zone: `Z`, or an offset. */
const ZONED = /(Z|[+-]\d\d:?\d\d)$/i;
const NAIVE = /^(\d{4})-?(\d\d)-?(\d\d)[T -]?(\d\d):?(\d\d):?(\d\d)(\.\d+)?$/;

/**
 * A date and time of a file as RFC 3339 in UTC with milliseconds. One without a zone (Python's naive datetimes) is
 * taken in `timeZone`, an IANA name; null when there is none to take, or it is no time. In the hour that a clock change
 * repeats the first of the two is taken.
 */
export function wallTime(text: string, timeZone: string | null): string | null {
  if (ZONED.test(text) && !NAIVE.test(text)) {
    const at = Date.parse(text);
    return Number.isNaN(at) ? null : new Date(at).toISOString();
  }
  const parts = NAIVE.exec(text);
  if (parts === null || timeZone === null) return null;
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const milliseconds = Math.floor(Number(parts[7] ?? 0) * 1000);
  const asUtc = Date.UTC(year, month - 1, day, hour, minute, second, milliseconds);
  const candidates = [asUtc - 86_400_000, asUtc + 86_400_000].map((near) => asUtc - offset_ms(near, timeZone));
  const earlier = Math.min(...candidates);
  const found = candidates.sort((a, b) => a - b).find((at) => at + offset_ms(at, timeZone) === asUtc) ?? earlier;
  return new Date(found).toISOString();
}

/** The same; a time that no zone places is noted, in words that are the same for all files. */
export function statedTime(text: string, timeZone: string | null, notes: ImportNotes): string | null {
  const time = wallTime(text, timeZone);
  if (time === null && NAIVE.test(text)) {
    notes.add(NO_ZONE);
  }
  return time;
}

/** Times of a file's rows in ISO 8601, to the nanosecond as far as a number holds it. */
export class IsoTimes {
  readonly #timeZone: string | null;
  /** Whether one had no zone, and none was given for it: such times are only known relative to each other. */
  lacksZone = false;

  constructor(timeZone: string | null) {
    this.#timeZone = timeZone;
  }

  /** Nanoseconds since 1970; null for any other text. */
  nanoseconds(text: string): number | null {
    const [, naive = '', zone] = ISO.exec(text.trim().replace(',', '.')) ?? [];
    if (zone === undefined && this.#timeZone === null) this.lacksZone = true;
    const wall = wallTime(naive, zone === undefined ? (this.#timeZone ?? 'UTC') : 'UTC');
    if (wall === null) return null;
    const [, sign, hours = '0', minutes = '0'] = /^([+-])(\d\d):?(\d\d)?$/.exec(zone ?? '') ?? [];
    const ahead_ms = (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
    const belowMilliseconds = Number(`0.${(/\.\d{3}(\d+)$/.exec(naive)?.[1] ?? '0').slice(0, 6)}`);
    return (Date.parse(wall) - ahead_ms + belowMilliseconds) * 1e6;
  }
}

/** A date and a time, and the zone of it where it has one. */
const ISO = /^(\d{4}-?\d\d-?\d\d[T ]?\d\d:?\d\d:?\d\d(?:\.\d+)?) ?(Z|[+-]\d\d(?::?\d\d)?)?$/i;

/** The note of a run whose times have no zone: the same words for all files. */
export const NO_ZONE =
  'the time in the file has no time zone: importing again with --time-zone gives the run its start';

/** Whether a zone's name is known here. */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    // The only way Intl reports an unknown zone.
    return false;
  }
}

/** How far the zone is ahead of UTC at a moment. */
function offset_ms(at: number, timeZone: string): number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const part = (name: Intl.DateTimeFormatPartTypes): number => parts.get(name) ?? NaN;
  const local = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'));
  return local - Math.floor(at / 1000) * 1000;
}

/** The first and the last moment that a run can have begun: before and after, a time is a mistake. */
const EARLIEST_MS = Date.UTC(2015, 0, 1);
const LATEST_MS = Date.UTC(2100, 0, 1);

/** Milliseconds since 1970 as RFC 3339 in UTC; null for what can be no time of a benchmark. */
export function wallInstant(ms: number): string | null {
  return ms >= EARLIEST_MS && ms < LATEST_MS ? new Date(ms).toISOString() : null;
}
