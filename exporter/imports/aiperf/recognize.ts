import { isObject } from '../reading/fields.ts';
import type { Recognition } from '../importer.ts';
import type { SourceFile } from '../reading/source-file.ts';

export const SUMMARY = 'aiperf-summary';
export const SUMMARY_CSV = 'aiperf-summary-csv';
export const RECORDS = 'aiperf-records';
export const SERVERS_JSON = 'aiperf-server-metrics-json';
export const SERVERS_JSONL = 'aiperf-server-metrics-jsonl';
export const SERVERS_CSV = 'aiperf-server-metrics-csv';
export const SERVERS_PARQUET = 'aiperf-server-metrics-parquet';
export const GPU_RECORDS = 'aiperf-gpu-telemetry';

const passedOver = (ignored: string): Recognition => ({ format: 'aiperf-other', ignored });

/** Which of AIPerf's files it is, of any version from 0.1 to 0.13; null when it is none. */
export function recognizeAiperf(file: SourceFile): Recognition | null {
  return byLines(file) ?? byLongLine(file) ?? byDocument(file) ?? byTable(file) ?? byName(file);
}

function byLines({ head: { firstObject, isJsonLines, whole } }: SourceFile): Recognition | null {
  if (firstObject === null || !(isJsonLines || whole)) return null;
  const { metadata, metrics } = firstObject;
  if (isObject(metadata) && ('request_start_ns' in metadata || 'benchmark_phase' in metadata)) {
    // The raw export has what was sent and received in addition to the same metadata.
    const isRaw = metrics === undefined && ('payload' in firstObject || 'responses' in firstObject);
    return isRaw ? passedOver('prompts and answers, which are not kept') : { format: RECORDS };
  }
  if ('endpoint_url' in firstObject && 'timestamp_ns' in firstObject && isObject(metrics)) {
    return { format: SERVERS_JSONL };
  }
  const isGpu = 'gpu_index' in firstObject || 'gpu_uuid' in firstObject;
  return isGpu && ('telemetry_data' in firstObject || 'dcgm_url' in firstObject) ? { format: GPU_RECORDS } : null;
}

/** A line that is longer than the head: a response of many chunks, a large page of metrics. */
function byLongLine({ head: { firstLine, text, keys, whole } }: SourceFile): Recognition | null {
  if (whole || firstLine.length < text.length) return null;
  if (keys[0] === 'metadata' && keys.includes('metrics') && /"(request_start_ns|benchmark_phase)"/.test(text)) {
    return { format: RECORDS };
  }
  return keys.includes('endpoint_url') && keys.includes('timestamp_ns') ? { format: SERVERS_JSONL } : null;
}

function byDocument({ head, name }: SourceFile): Recognition | null {
  const keys = new Set(head.keys);
  if (keys.has('timeslices')) return passedOver('time slices of the run, which its records contain');
  if (keys.has('metrics') && (keys.has('summary') || keys.has('metrics_phase')) && !keys.has('benchmarks')) {
    return /"(endpoints_configured|endpoint_info|endpoint_url)"/.test(head.text) ? { format: SERVERS_JSON } : null;
  }
  if (keys.has('metadata') && /"aggregation_type"\s*:/.test(head.text)) {
    return passedOver('statistics over several runs, which are imported one by one');
  }
  if (keys.has('benchmark_id') && keys.has('cfg')) return passedOver('the configuration of a run');
  if (keys.has('data') && /^inputs\.json$|_inputs\.json$/.test(name) && head.text.includes('"payloads"')) {
    return passedOver('prompts, which are not kept');
  }
  if (name === 'server_metrics.json' && keys.has('data') && head.text.includes('"endpoint_summaries"')) {
    return passedOver('server metrics of a phase, which those of the run contain');
  }
  return isSummary(keys, head.text) ? { format: SUMMARY } : null;
}

/**
 * What only AIPerf writes in addition to metrics that have `unit` and `avg`: genai-perf's summary has the same metrics.
 */
const OWN_KEYS = ['aiperf_version', 'was_cancelled', 'error_summary', 'benchmark_duration', 'min_request_timestamp'];

function isSummary(keys: ReadonlySet<string>, text: string): boolean {
  const hasMetrics = /"(request_latency|request_throughput|request_count|error_request_count)"\s*:\s*\{/.test(text);
  return hasMetrics && /"avg"\s*:/.test(text) && OWN_KEYS.some((key) => keys.has(key));
}

const PARQUET_MAGIC = [0x50, 0x41, 0x52, 0x31];

function byTable({ head: { bytes, text, firstLine }, name }: SourceFile): Recognition | null {
  if (PARQUET_MAGIC.every((byte, i) => bytes[i] === byte)) {
    return /server_metrics(_export)?\.parquet$/.test(name) ? { format: SERVERS_PARQUET } : null;
  }
  if (/_aiperf_(aggregate|sweep)\.csv$/.test(name))
    return passedOver('statistics over several runs, which are imported one by one');
  if (text.startsWith('# AIPerf Server Metrics')) return { format: SERVERS_CSV };
  if (/^Metric,avg,min,max,(sum,)?p1,/.test(firstLine)) return { format: SUMMARY_CSV };
  if (/^Timeslice,(Start_NS,End_NS,)?Metric,Unit,Stat,Value$/.test(firstLine))
    return passedOver('time slices of the run, which its records contain');
  return null;
}

const KNOWN_NAMES: readonly (readonly [RegExp, string])[] = [
  [/_console\.(txt|ansi)$/, 'what the console showed'],
  [/^(phase_manifest|search_history|mlflow_export|adaptive_scale_summary)\.json$/, 'no measurements of a run'],
  [/^\.aiperf_results_ready\.json$/, 'a marker'],
  [/(network_latency|accuracy_export|adaptive_scale_events)\.jsonl$/, 'nothing that a run of llmbench has'],
  [/^aiperf\.log$/, 'a log'],
  [/^outputs\.json$|_outputs\.json$/, 'answers, which are not kept'],
];

function byName({ name, head }: SourceFile): Recognition | null {
  const known = KNOWN_NAMES.find(([pattern]) => pattern.test(name));
  return known !== undefined && head.bytes.length > 0 ? passedOver(known[1]) : null;
}
