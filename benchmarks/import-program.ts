/**
 * CPU seconds and peak memory of reading the requests of a `profile_export.jsonl`, with every field that a record has.
 * Prints one JSON line.
 *
 * usage: node benchmarks/import-program.ts <file>
 */
import { ImportNotes } from '../exporter/imports/import-notes.ts';
import { readAiperfRecords } from '../exporter/imports/aiperf/records.ts';
import { openSource } from '../exporter/imports/reading/source-file.ts';

const [path = ''] = process.argv.slice(2);
const file = await openSource(path);
const ORIGIN = { zero_ns: 1_795_279_610_000_000_000n, usage: { input: true, output: true }, hasTurns: false };
const notes = new ImportNotes();
let requests = 0;
let tokens = 0;
let gaps = 0;
const before = process.cpuUsage();
for await (const record of readAiperfRecords(file, ORIGIN, notes, {})) {
  requests += 1;
  tokens += record.output_tokens ?? 0;
  gaps += Math.max(0, record.chunk_offsets_ns.length - 1);
}
const { user, system } = process.cpuUsage(before);
const peak_mb = process.resourceUsage().maxRSS / 1024;
console.log(JSON.stringify({ name: 'llmbench', cpu_s: (user + system) / 1e6, peak_mb, requests, tokens, gaps }));
