import { publicUrl } from '../../http-client/public-url.ts';
import { Fields, isObject } from '../reading/fields.ts';
import type { ImportNotes } from '../import-notes.ts';
import { readJsonLines } from '../reading/read-json-lines.ts';
import type { ReadTarget } from '../servers-of-stores.ts';
import type { Reading, SourceFile } from '../reading/source-file.ts';
import { wallNanoseconds } from './records-origin.ts';
import { KeptScrapes, ScrapePages } from './scrape-page.ts';
import type { MetricFacts } from './scrape-page.ts';

/** What one target may take of the memory: an import holds it until its run is written. */
const LIMITS = { maxSeries: 20_000, maxValues: 4_000_000 };

/**
 * The targets of `server_metrics_export.jsonl`, scrape by scrape as AIPerf read them (pages that were as the one before are
 * not in the file). Times are ns since `zero_ns`.
 */
export async function readServerLines(
  file: SourceFile,
  facts: ReadonlyMap<string, MetricFacts>,
  zero_ns: bigint,
  notes: ImportNotes,
  reading: Reading,
): Promise<Map<string, ReadTarget>> {
  const targets = new Map<string, KeptScrapes>();
  const pages = new ScrapePages(facts);
  for await (const { number, text, value } of readJsonLines(file, notes, reading)) {
    const name = targetName(value['endpoint_url']);
    const at_ns = wallNanoseconds(text, 'timestamp_ns', zero_ns);
    const { metrics } = value;
    if (name === null || at_ns === null || !isObject(metrics)) {
      notes.count('scrapes of servers left out: no target, time or metrics', `line ${number}`);
      continue;
    }
    const target = targets.get(name) ?? new KeptScrapes(pages, LIMITS);
    targets.set(name, target);
    const sent_ns = wallNanoseconds(text, 'request_sent_ns', zero_ns) ?? at_ns;
    const duration_ns = new Fields(value, notes, `line ${number}: `).amount('endpoint_latency_ns') ?? 0;
    if (!target.record(at_ns, metrics, { sent_ns, duration_ns })) {
      notes.add(`${name}: several servers responded at this address; scrapes after the change are left out`);
    }
  }
  return new Map(Array.from(targets, ([name, target]) => [name, target.finish()]));
}

/** The target's address without user info and query; older files have host and port only. */
export function targetName(url: unknown): string | null {
  if (typeof url !== 'string' || url === '') return null;
  try {
    return publicUrl(url.includes('://') ? url : `http://${url}/metrics`);
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}
