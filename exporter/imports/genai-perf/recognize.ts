import type { Recognition } from '../importer.ts';
import type { SourceFile } from '../reading/source-file.ts';

export const PROFILE = 'perf-analyzer-profile';
export const SUMMARY = 'genai-perf-summary';
export const SUMMARY_CSV = 'genai-perf-summary-csv';

/** Which of the files of GenAI-Perf and its perf_analyzer it is; null when it is none. Asked after AIPerf's importer. */
export function recognizeGenaiPerf({ head, name }: SourceFile): Recognition | null {
  const keys = new Set(head.keys);
  if (keys.has('experiments') && /"(experiment|requests|response_timestamps)"\s*:/.test(head.text)) {
    return { format: PROFILE };
  }
  if (/^Metric,avg,min,max,p99,p95,/.test(head.firstLine)) return { format: SUMMARY_CSV };
  if (/^(llm_)?inputs\.json$/.test(name) && keys.has('data') && head.text.includes('"payload"')) {
    return { format: 'genai-perf-inputs', ignored: 'prompts, which are not kept' };
  }
  const hasMetrics = keys.has('request_latency') || keys.has('request_throughput');
  return hasMetrics && /"unit"\s*:/.test(head.text) && /"avg"\s*:/.test(head.text) ? { format: SUMMARY } : null;
}
