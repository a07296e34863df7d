import type { Fields } from '../reading/fields.ts';
import type { ImportNotes } from '../import-notes.ts';

/** The tool computes both sides from the same numbers. */
const TOLERANCE = 0.01;

/** Notes where the figures of a report cannot belong together. */
export function checkConsistency(report: Fields, notes: ImportNotes): void {
  const performance = report.object('performance');
  const info = report.object('request_info');
  const of = (section: Fields | null, name: string): number | null => section?.amount(name) ?? null;
  const requests = of(info, 'num_requests');
  const total_ms = of(performance, 'total_latency_ms');
  const rate = of(performance, 'request_throughput_req_s');
  const output = of(performance, 'system_output_throughput_tok_s');
  const total_s = total_ms === null ? null : total_ms / 1000;
  compare('request_throughput_req_s', rate, ratio(requests, total_s), notes);
  compare('system_output_throughput_tok_s', output, product(rate, of(info, 'avg_output_length')), notes);
  const perGpu = of(performance, 'output_throughput_per_gpu_tok_s');
  compare(
    'output_throughput_per_gpu_tok_s',
    perGpu,
    ratio(output, of(report.object('world_info'), 'world_size')),
    notes,
  );
  const latency_ms = of(performance, 'avg_request_latency_ms');
  const inFlight = of(info, 'avg_num_concurrent_requests');
  compare('avg_num_concurrent_requests', inFlight, ratio(product(requests, latency_ms), total_ms), notes);
}

function compare(what: string, reported: number | null, computed: number | null, notes: ImportNotes): void {
  if (
    reported === null ||
    computed === null ||
    Math.abs(reported - computed) <= TOLERANCE * Math.max(reported, computed)
  )
    return;
  notes.disagreement(
    `${what}: the file states ${Number(reported.toPrecision(9))}, its other figures give ${Number(computed.toPrecision(9))}`,
  );
}

function ratio(a: number | null, b: number | null): number | null {
  return a === null || b === null || b === 0 ? null : a / b;
}

function product(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a * b;
}
