/**
 * Prints p50, p90 and p99 of five measures of a file of records, and what that cost.
 *
 * usage: percentiles-program.ts <records.parquet>
 */
import { differencePercentiles } from '../exporter/store/columns/difference-percentiles.ts';
import { readInt64Columns } from '../exporter/store/columns/read-int64-columns.ts';

const MEASURES = [
  ['first_content_ns', 'sent_ns'],
  ['last_content_ns', 'sent_ns'],
  ['last_content_ns', 'due_ns'],
  ['last_content_ns', 'first_content_ns'],
  ['sent_ns', 'due_ns'],
] as const;

const begin = performance.now();
const columns = await readInt64Columns(process.argv[2] ?? '', [
  'due_ns',
  'sent_ns',
  'first_content_ns',
  'last_content_ns',
]);
const values = MEASURES.flatMap(
  ([end, start]) => differencePercentiles(columns[end], columns[start], [0.5, 0.9, 0.99]).percentiles,
);
const wall_ms = performance.now() - begin;
const { user, system } = process.cpuUsage();
const max_rss_mb = process.resourceUsage().maxRSS / 1024;
process.stdout.write(
  `${JSON.stringify({ name: 'llmbench', wall_ms, cpu_ms: (user + system) / 1000, max_rss_mb, values })}\n`,
);
