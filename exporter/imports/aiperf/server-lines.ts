import { systemsOfNames } from '../../../catalog/detect.ts';
import { createScrapeParser } from '../../../core/exposition/index.ts';
import type { ScrapeParser } from '../../../core/exposition/index.ts';
import { TargetStore } from '../../servers/series/target-store.ts';
import { publicUrl } from '../../http-client/public-url.ts';
import { Fields, isObject } from '../reading/fields.ts';
import type { ImportNotes } from '../import-notes.ts';
import { lineObject, longLineNote } from '../reading/read-json-lines.ts';
import { readLineBlocks } from '../reading/read-lines.ts';
import type { ReadTarget } from '../servers-of-stores.ts';
import type { Reading, SourceFile } from '../reading/source-file.ts';
import { ScrapePages } from './scrape-page.ts';
import type { MetricFacts } from './scrape-page.ts';
import { wallNanoseconds } from './wall-nanoseconds.ts';

/** AIPerf's default; the file does not report. */
export const AIPERF_INTERVAL_NS = 333e6;

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
  const targets = new Map<string, { readonly store: TargetStore; readonly parser: ScrapeParser }>();
  const pages = new ScrapePages(facts);
  for await (const { bytes, edges, firstNumber, endsOpen } of readLineBlocks(file, reading, longLineNote(notes))) {
    for (let i = 0; i < edges.length; i += 2) {
      const number = firstNumber + i / 2;
      const text = bytes.toString('utf8', edges[i], edges[i + 1]);
      const mayBeTorn = endsOpen && i + 2 === edges.length;
      const value = lineObject(text, { file, number, mayBeTorn }, notes);
      const name = targetName(value?.['endpoint_url']);
      const at_ns = wallNanoseconds(text, 'timestamp_ns', zero_ns);
      if (value === null || name === null || at_ns === null || !isObject(value['metrics'])) {
        if (value !== null) notes.count('scrapes of servers left out: no target, time or metrics', `line ${number}`);
        continue;
      }
      const target = targets.get(name) ?? { store: new TargetStore(LIMITS), parser: createScrapeParser() };
      targets.set(name, target);
      const line = new Fields(value, notes, `line ${number}: `);
      const times = {
        at_ns,
        sent_ns: wallNanoseconds(text, 'request_sent_ns', zero_ns) ?? at_ns,
        duration_ns: line.amount('endpoint_latency_ns') ?? 0,
        interval_ns: AIPERF_INTERVAL_NS,
        edge: false,
      };
      const page = new TextEncoder().encode(pages.page(value['metrics']));
      if (!target.store.recordPage(times, target.parser.parse(page, 'text/plain'), false)) {
        notes.add(`${name}: several servers responded at this address; scrapes after the change are left out`);
      }
    }
  }
  return new Map(Array.from(targets, ([name, { store }]) => [name, { store, system: systemOf(store) }]));
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

function systemOf(store: TargetStore): string | null {
  return systemsOfNames(new Set(store.series.map(({ family }) => family.name)))[0] ?? null;
}
