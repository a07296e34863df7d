import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { createScrapeParser } from '../../../core/exposition/index.ts';
import { TargetStore } from '../target-store.ts';

/** A recording of one target: pages after lines `# scrape <unix seconds>`, `# scrape_failed <…>` where there was none. */
export interface RecordedPage {
  readonly unixSeconds: number;
  readonly text: string | null;
}

/** Four pages of each recording, and one run of AIPerf whole. */
const TRIMMED = new URL('../fixtures/', import.meta.url);
/** All of them, beside the repository, or not there at all: tests that need them are skipped then. */
const WHOLE = new URL('../../../../shared/fixtures/', import.meta.url);

export const haveWholeRecordings = existsSync(WHOLE);

/** A file of the recordings, unpacked: the whole one where it is there. */
export function recordingText(path: string): string {
  const places = [new URL(path, WHOLE), new URL(path, TRIMMED), new URL(`${path}.gz`, TRIMMED)];
  const found = places.find((place) => existsSync(place));
  if (found === undefined) throw new Error(`there is no recording ${path}`);
  const bytes = readFileSync(found);
  return (found.pathname.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
}

export function recordedPages(path: string): RecordedPage[] {
  const parts = recordingText(path).split(/^(?=# scrape(?:_failed)? )/m);
  let last = 0;
  return parts
    .filter((part) => part.startsWith('# scrape'))
    .map((part) => {
      const lineEnd = part.indexOf('\n');
      const [, , time = ''] = part.slice(0, lineEnd).split(' ');
      const failed = part.startsWith('# scrape_failed');
      // A failure may be written without its time: it comes an interval after the page before.
      const unixSeconds = Number.isFinite(Number(time)) ? Number(time) : last + 1;
      last = unixSeconds;
      return { unixSeconds, text: failed ? null : part.slice(lineEnd + 1) };
    });
}

/** The pages as the collector would have kept them, one a second; times are nanoseconds since the first. */
export function replay(pages: readonly RecordedPage[], store = new TargetStore()): TargetStore {
  const parser = createScrapeParser();
  const zero = pages[0]?.unixSeconds ?? 0;
  for (const { unixSeconds, text } of pages) {
    const at_ns = Math.round((unixSeconds - zero) * 1e9);
    const times = { sent_ns: at_ns, at_ns, duration_ns: 0, interval_ns: 1e9, edge: false };
    if (text === null) store.recordFailure(times, 'no answer');
    else store.recordPage(times, parser.parse(new TextEncoder().encode(text), 'text/plain'), false);
  }
  return store;
}

/** Pages written by hand: texts one second apart, null where the target did not answer. */
export function pagesOf(...texts: readonly (string | null)[]): RecordedPage[] {
  return texts.map((text, i) => ({ unixSeconds: i, text: text === null ? null : `${text}\n` }));
}
