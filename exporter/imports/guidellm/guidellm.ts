import { Fields, isObject } from '../reading/fields.ts';
import { ImportNotes, ImportRefusal } from '../import-notes.ts';
import { groupReports } from '../importer.ts';
import type { FileGroup, ImportContext, ImportedRun, Importer, RecognizedFile, Recognition } from '../importer.ts';
import type { SourceFile, Reading } from '../reading/source-file.ts';
import { benchmarkRun } from './benchmark-run.ts';
import { readLongDocument } from '../reading/long-json/read-long-document.ts';
import { readYamlDocument } from '../reading/read-document.ts';
import { GuideRequests, requestsIn } from './requests.ts';

/** GuideLLM's JSON and YAML reports, of 0.1 to 0.3 (no version), 0.4 to 0.6 (version 1) and from 0.7 on (version 2). */
export const GUIDELLM: Importer = { tool: 'guidellm', recognize, group, read };

const REPORT = 'guidellm-report';
const TABLE = 'guidellm-table';

const KNOWN_VERSIONS = [1, 2];

/** As JSON, as Python's YAML, whose keys are sorted, and as other writers indent and quote it. */
const MARKS = [
  /"guidellm_version"\s*:/,
  /"type_"\s*:\s*"generative_benchmarks?(_report)?"/,
  /^[ -]*type_: (["']?)generative_benchmarks?(_report)?\1\r?$/m,
  /^benchmarks:\n *- config:\n(?: .*\n)*? {4,}backend:/m,
];

function recognize({ head: { text, firstLine } }: Pick<SourceFile, 'head'>): Recognition | null {
  if (/^Run Info,(Run Info,)*Benchmark,/.test(firstLine)) return { format: TABLE };
  const start = text.trimStart();
  const hasBenchmarks =
    /^\{[^]*?"(benchmarks|metadata)"\s*:/.test(start) || /^(args|benchmarks|metadata|config):/m.test(start);
  return hasBenchmarks && MARKS.some((mark) => mark.test(text)) ? { format: REPORT } : null;
}

/** The CSV repeats figures of the report beside it. */
function group(files: readonly RecognizedFile[]): readonly FileGroup[] {
  const reports = files.filter(({ recognition }) => recognition.format === REPORT);
  const folders = new Set(reports.map(({ file }) => file.folder));
  return groupReports([
    ...reports,
    ...files.filter((each) => !reports.includes(each) && !folders.has(each.file.folder)),
  ]);
}

async function* read(group: FileGroup, context: ImportContext): AsyncGenerator<ImportedRun> {
  for (const { file, recognition } of group.files) {
    if (recognition.format === TABLE)
      throw new ImportRefusal(
        'the CSV of GuideLLM has no requests: run guidellm with --output kind=json, and import that',
      );
    const fileNotes = new ImportNotes();
    const { value, requestsOf } = await readReport(file, fileNotes, context);
    const report = new Fields(value, fileNotes);
    const benchmarks = report.list('benchmarks') ?? [];
    if (benchmarks.length === 0) throw new ImportRefusal('the report has no benchmarks');
    const metadata = report.object('metadata');
    const schema = metadata?.count('version') ?? null;
    if (schema !== null && !KNOWN_VERSIONS.includes(schema)) {
      fileNotes.add(`version ${schema} of the report is not known: known members were imported`);
    }
    const facts = {
      version: metadata?.text('guidellm_version') ?? null,
      schema_version: schema === null ? null : String(schema),
      benchmarks: benchmarks.length,
    };
    for (const [index, benchmark] of benchmarks.entries()) {
      const notes = fileNotes.copy();
      const fields = new Fields(benchmark, notes);
      yield benchmarkRun(fields, requestsOf(fields, index), index, facts, notes);
    }
  }
}

/** A report: its requests may be more than fit into memory as they are. */
interface Report {
  /** Without the requests. */
  readonly value: Readonly<Record<string, unknown>>;
  /** The requests of a benchmark, by its place. */
  readonly requestsOf: (benchmark: Fields, index: number) => GuideRequests;
}

/** Throws `ImportRefusal` when it cannot be read. */
async function readReport(file: SourceFile, notes: ImportNotes, reading: Reading): Promise<Report> {
  if (!file.head.text.trimStart().startsWith('{')) {
    return { value: asObject(await readYamlDocument(file, reading)), requestsOf: (benchmark) => requestsIn(benchmark) };
  }
  const requests = new Map<string, GuideRequests>();
  const requestsAt = (index: string): GuideRequests => {
    const there = requests.get(index) ?? new GuideRequests();
    requests.set(index, there);
    return there;
  };
  const elements = (values: readonly unknown[], [, index = '', , status = '']: readonly string[]): void =>
    requestsAt(index).add(status, values);
  const value = await readLongDocument(
    file,
    [{ path: ['benchmarks', '*', 'requests', '*'], elements }],
    notes,
    reading,
  );
  return { value: asObject(value), requestsOf: (_, index) => requestsAt(String(index)) };
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  if (!isObject(value)) throw new ImportRefusal('it is not an object');
  return value;
}
