import { createScrapeParser } from '../../../core/exposition/index.ts';
import type { RecordedPage } from '../../../fixtures/captures.ts';
import { TargetStore } from '../series/target-store.ts';

/** The pages as the collector would have stored them, one per second; times are nanoseconds since the first. */
export function replay(pages: readonly RecordedPage[], store = new TargetStore()): TargetStore {
  const parser = createScrapeParser();
  const zero = pages[0]?.unixSeconds ?? 0;
  for (const { unixSeconds, text } of pages) {
    const at_ns = Math.round((unixSeconds - zero) * 1e9);
    const times = {
      sent_ns: at_ns,
      at_ns,
      duration_ns: 0,
      interval_ns: 1e9,
      edge: false,
      unixSeconds: [unixSeconds, unixSeconds],
    } as const;
    if (text === null) store.recordFailure(times, 'no answer');
    else store.recordPage(times, parser.parse(new TextEncoder().encode(text), 'text/plain'), false);
  }
  return store;
}

/** Handwritten pages: texts one second apart, null where the target did not respond. */
export function pagesOf(...texts: readonly (string | null)[]): RecordedPage[] {
  return texts.map((text, i) => ({ unixSeconds: i, text: text === null ? null : `${text}\n` }));
}
