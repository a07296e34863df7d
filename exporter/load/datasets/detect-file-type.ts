import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beginningOf, lineOf, SESSION_FILES } from './input-lines.ts';
import { AZURE, BURST_GPT, type CsvTraceFormat } from './trace-dataset.ts';
import type { FileType } from './open-dataset.ts';
import { SESSION_TYPES } from './planned-session.ts';

/** Formats whose requests always have times. */
export const TIMED_TYPES: ReadonlySet<string> = new Set<FileType>([
  'bailian_trace',
  'burst_gpt_trace',
  'azure_trace',
  'llmbench_plan',
]);

/**
 * The format of a file by its beginning; of a folder that of its sessions, else `random_pool`. Undefined: it cannot be
 * read, which opening it reports; null: none of the known formats.
 */
export function detectFileType(path: string): FileType | null | undefined {
  const beginning = beginningOf(path);
  if (beginning === null) return typeOfFolder(path);
  return beginning === undefined ? undefined : typeOfText(beginning);
}

function typeOfFolder(path: string): FileType {
  const [first] = readdirSync(path)
    .filter((name) => SESSION_FILES.test(name))
    .sort();
  const type = first === undefined ? null : detectFileType(join(path, first));
  return SESSION_TYPES.find((each) => each === type) ?? 'random_pool';
}

function typeOfText(text: string): FileType | null {
  const line = lineOf(text).trim();
  if (line.startsWith('[')) return /"conversations?"\s*:/.test(text) ? 'sharegpt' : null;
  if (line.startsWith('{')) return typeOfKeys(keysOf(line, text), line);
  const csv = [BURST_GPT, AZURE].find((format) => hasColumns(line, format));
  return csv?.type ?? (line === '' ? 'single_turn' : null);
}

/** Of AIPerf's conversations, those that start others, or whose turns have lists of messages. */
const DAG_KEYS = /"(?:messages|forks|spawns|pre_session_spawns|orchestrator)"\s*:/;

function typeOfKeys(keys: ReadonlySet<string>, line: string): FileType {
  const has = (...names: readonly string[]): boolean => names.some((name) => keys.has(name));
  if (has('llmbench_plan')) return 'llmbench_plan';
  if (has('resourceSpans', 'spans')) return 'otel_spans';
  if (has('requests') && has('models')) return 'weka_trace';
  if (has('prefix_tokens') && has('newly_append_tokens') && has('timing_events')) return 'tracelab';
  if (has('turns', 'orchestrator') && has('session_id') && DAG_KEYS.test(line)) return 'dag_jsonl';
  if (line.includes('"dynamo.agentic_mooncake"')) return 'agentic_mooncake';
  if (has('request_id') && has('wait_for', 'branches', 'prefix_reset', 'tool_wait_ms')) return 'agentic_mooncake';
  if (has('messages') && has('session_id') && !has('requests')) return 'mooncake_trace';
  if (has('chat_id') && has('parent_chat_id') && has('input_length')) return 'bailian_trace';
  if (has('input_length', 'text_input')) return 'mooncake_trace';
  if (has('conversations', 'conversation')) return 'sharegpt';
  if (has('turns')) return 'multi_turn';
  if (has('requests')) return 'sessions';
  return has('messages') ? 'raw_payload' : 'single_turn';
}

/** Of a line that is not whole or not JSON, what looks like keys in it and in the lines after it. */
function keysOf(line: string, text: string): ReadonlySet<string> {
  try {
    return new Set(Object.keys(JSON.parse(line) as object));
  } catch {
    return new Set(Array.from(text.matchAll(/"(\w+)"\s*:/g), ([, key]) => key ?? ''));
  }
}

function hasColumns(header: string, { time, input, output }: CsvTraceFormat): boolean {
  const names = header.split(',');
  return [time, input, output].every((name) => names.includes(name));
}
