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
    notes.add('the time in the file has no time zone: importing again with --time-zone gives the run its start');
  }
  return time;
}

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
