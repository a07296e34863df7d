import { type Load, closedLoop } from '../../../core/run/load.ts';
import { CSV_ROUNDING, summaryOfCsv } from '../aiperf/csv-summary.ts';
import { statedSummary } from '../aiperf/summary.ts';
import { Fields } from '../reading/fields.ts';
import { ImportNotes } from '../import-notes.ts';
import { ImportRefusal } from '../import-refusal.ts';
import { ALONE, fileOf, known, reportedRun } from '../importer.ts';
import type {
  FileGroup,
  ImportContext,
  ImportedRun,
  Importer,
  RecognizedFile,
  Recognition,
  KnownKey,
} from '../importer.ts';
import { publicOriginOrNull } from '../reading/public-origin.ts';
import { readJsonDocument, readText } from '../reading/read-document.ts';
import { readProfile, type Experiment } from './profile.ts';
import type { SourceFile } from '../reading/source-file.ts';

const PROFILE = 'perf-analyzer-profile';
const SUMMARY = 'genai-perf-summary';
const SUMMARY_CSV = 'genai-perf-summary-csv';

/** Which of the files of GenAI-Perf and its perf_analyzer it is; null when it is none. Asked after AIPerf's importer. */
function recognizeGenaiPerf({ head, name }: SourceFile): Recognition | null {
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

/** The results of NVIDIA GenAI-Perf, AIPerf's predecessor, and of the perf_analyzer below it. */
export const GENAI_PERF: Importer = {
  tool: 'genai-perf',
  recognize: recognizeGenaiPerf,
  group: groupGenaiPerf,
  read: readGenaiPerf,
};

/** A time above this is since 1970; below it is since some start that the file does not report. */
const EARLIEST_WALL_NS = 10n ** 17n;

/** The files of one folder with one prefix: `P.json`, `P_genai_perf.json`, `P_genai_perf.csv`. */
function groupGenaiPerf(files: readonly RecognizedFile[]): FileGroup[] {
  const byRun = new Map<string, RecognizedFile[]>();
  for (const each of files) {
    const prefix = each.file.name.replace(/\.[^.]+$/, '').replace(/_genai_perf$/, '');
    const key = `${each.file.folder}\0${prefix}`;
    byRun.set(key, [...(byRun.get(key) ?? []), each]);
  }
  return [...byRun.values()].map((group) => {
    const has = (format: string): boolean => group.some(({ recognition }) => recognition.format === format);
    const used = group.filter(({ recognition }) => recognition.format !== SUMMARY_CSV || !has(SUMMARY));
    const name = used[0]?.file.folder.split(/[/\\]/).at(-1) ?? '';
    return { ...ALONE, files: used, name, partial: !has(SUMMARY) && !has(SUMMARY_CSV) };
  });
}

async function* readGenaiPerf(group: FileGroup, context: ImportContext): AsyncGenerator<ImportedRun> {
  const notes = new ImportNotes();
  const summary = await readSummary(group, notes, context);
  const file = fileOf(group, PROFILE);
  const profile = file === null ? null : await readProfile(file, notes, context);
  const experiments = profile?.experiments ?? [null];
  if (experiments.length === 0) throw new ImportRefusal('its list of experiments is empty: nothing was measured');
  const rounding = summary.isCsv ? CSV_ROUNDING : 0;
  for (const [step, experiment] of experiments.entries()) {
    const own = experiments.length === 1 ? notes : new ImportNotes();
    // A summary is of one experiment: of several it is not reported which.
    const isSummarized = experiments.length === 1 && summary.fields.names.length > 0;
    const stated = isSummarized ? statedSummary(summary.fields, own, { serverTokens: false, rounding }) : {};
    yield reportedRun({
      ...(experiment === null ? {} : recordsOf(experiment, own)),
      part: experiments.length === 1 ? null : partName(experiment, step),
      tool: 'genai-perf',
      version: profile?.fields.text('version') ?? null,
      format: profile === null ? SUMMARY : PROFILE,
      target: { origin: originOf(summary.fields) },
      key: knownKey(summary.fields.at('input_config'), experiment, profile?.fields.text('endpoint') ?? null),
      placement:
        experiments.length === 1 ? group : { group_id: `${group.name}-experiments`, step, repeat: group.repeat },
      stated,
      notes: own,
    });
  }
}

function recordsOf(
  { firstSent_ns: zero_ns, records }: Experiment,
  notes: ImportNotes,
): Partial<Pick<ImportedRun, 'start' | 'records'>> {
  if (zero_ns === null) return {};
  const isWall = zero_ns > EARLIEST_WALL_NS;
  if (!isWall) notes.add('times do not count from 1970: the run has no start time');
  // Whole milliseconds, as run.json has the start; a separate clock begins with the first request.
  const start_ns = isWall ? zero_ns - (zero_ns % 1_000_000n) : zero_ns;
  return {
    start: isWall ? new Date(Number(start_ns / 1_000_000n)).toISOString() : null,
    records: records(start_ns, notes),
  };
}

const partName = (experiment: Experiment | null, step: number): string =>
  `${step} ${experiment?.mode ?? 'load'} ${experiment?.value ?? 'unknown'}`;

interface SummaryFile {
  readonly fields: Fields;
  readonly isCsv: boolean;
}

async function readSummary(group: FileGroup, notes: ImportNotes, context: ImportContext): Promise<SummaryFile> {
  const json = fileOf(group, SUMMARY);
  if (json !== null) return { fields: new Fields(await readJsonDocument(json, notes, context), notes), isCsv: false };
  const csv = fileOf(group, SUMMARY_CSV);
  if (csv === null) return { fields: new Fields({}, notes), isCsv: false };
  notes.add('values are from a CSV with two decimals');
  return { fields: new Fields(summaryOfCsv(await readText(csv, context)), notes), isCsv: true };
}

function originOf(summary: Fields): string | null {
  const config = summary.at('input_config');
  const url = config.at('endpoint').text('url') ?? config.text('url') ?? config.text('u');
  return url === null ? null : publicOriginOrNull(url);
}

/**
 * What is known of how a run was set up: from `input_config` of the summary, in its flat form (the arguments of the command)
 * and in the later one with `endpoint` and `perf_analyzer`, and from the profile.
 */
function knownKey(config: Fields, experiment: Experiment | null, endpoint: string | null): KnownKey {
  const part = config.at('endpoint');
  const payload = experiment?.payload ?? null;
  return known({
    model: firstText(config.raw('model_names') ?? config.raw('model')) ?? payload?.text('model'),
    endpoint_type: part.text('type') ?? config.text('endpoint_type') ?? typeOf(endpoint),
    streaming: part.boolean('streaming') ?? config.boolean('streaming') ?? payload?.boolean('stream'),
    load: loadOf(experiment, config),
  });
}

function firstText(value: unknown): string | null {
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return typeof first === 'string' ? first : null;
}

function typeOf(endpoint: string | null): string | null {
  if (endpoint === null) return null;
  if (endpoint.endsWith('chat/completions')) return 'chat';
  return endpoint.endsWith('completions') ? 'completions' : null;
}

function loadOf(experiment: Experiment | null, config: Fields): Load | null {
  const stimulus = config.at('perf_analyzer').at('stimulus');
  const isMode = (mode: string): number | null => (experiment?.mode === mode ? experiment.value : null);
  const rate = isMode('request_rate') ?? stimulus.number('request_rate') ?? config.number('request_rate');
  if (rate !== null) return { ...closedLoop(null), mode: 'request_rate', request_rate: rate };
  const concurrency = isMode('concurrency') ?? stimulus.count('concurrency') ?? config.count('concurrency');
  return concurrency === null ? null : closedLoop(concurrency);
}
