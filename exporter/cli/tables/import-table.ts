import { firstNames, things } from '../../../core/text/quantities.ts';
import type { ImportOutcome, ImportReport } from '../../imports/import-files.ts';

/** The outcome of each result, notes common to several, and a summary line. */
export function importTable(report: ImportReport): string {
  const { outcomes } = report;
  const shared = sharedNotes(outcomes);
  const lines = outcomes.flatMap((outcome) => outcomeLines(outcome, shared));
  const common = [...shared].map(([note, results]) => `of ${results} results: ${shortNote(note)}`);
  const parts = [lines, passedOverLines(report), common, [summaryLine(report), ...hintLines(report)]].filter(
    (part) => part.length > 0,
  );
  return `${parts.map((part) => part.join('\n')).join('\n\n')}\n`;
}

/** The same as one line of JSON. */
export function importJson({ outcomes, unrecognized, passedOver }: ImportReport): string {
  return JSON.stringify({
    results: outcomes,
    files: { unrecognized: unrecognized.length, passed_over: passedOver.length },
    passed_over: grouped(passedOver),
  });
}

/** How many files of each tool were passed over for each reason. */
function grouped(passedOver: ImportReport['passedOver']): { tool: string; reason: string; files: number }[] {
  const alike = Map.groupBy(passedOver, ({ tool, reason }) => `${tool}\0${reason}`);
  return [...alike.values()].flatMap((same) => (same[0] === undefined ? [] : [{ ...same[0], files: same.length }]));
}

function passedOverLines({ passedOver }: ImportReport): string[] {
  return grouped(passedOver).map(
    ({ tool, reason, files }) => `${'passed over'.padEnd(STATUS_WIDTH)}  ${tool}  ${things(files, 'files')}: ${reason}`,
  );
}

const MAX_NOTE = 200;

/** A note as a line shows it. */
export function shortNote(note: string): string {
  return note.length > MAX_NOTE ? `${note.slice(0, MAX_NOTE)}… (complete in run.json)` : note;
}

/** Notes shared by several results, with the number of results. */
function sharedNotes(outcomes: readonly ImportOutcome[]): ReadonlyMap<string, number> {
  const results = new Map<string, number>();
  for (const outcome of outcomes) {
    if (outcome.status !== 'imported') continue;
    for (const note of outcome.notes) results.set(note, (results.get(note) ?? 0) + 1);
  }
  return new Map([...results].filter(([, count]) => count > 1));
}

const STATUS_WIDTH = 'already known'.length;

function outcomeLines(outcome: ImportOutcome, shared: ReadonlyMap<string, number>): string[] {
  const head = (status: string, rest: string): string => `${status.padEnd(STATUS_WIDTH)}  ${rest}`;
  switch (outcome.status) {
    case 'imported': {
      const own = outcome.notes.filter((note) => !shared.has(note));
      return [
        head('imported', `${outcome.run_id}  ${outcome.tool}  ${outcome.name}`),
        ...own.map((note) => `${' '.repeat(STATUS_WIDTH)}  ${shortNote(note)}`),
      ];
    }
    case 'known':
      return [head('already known', `${outcome.run_id}  ${outcome.tool}  ${outcome.name}`)];
    case 'updated':
      return [head('updated', `${outcome.run_id}  ${outcome.tool}  ${outcome.name}: it has a ${outcome.what} now`)];
    case 'refused':
      return [head('refused', `${outcome.name}: ${outcome.reason}`)];
  }
}

const MAX_NAMED = 3;

function summaryLine({ outcomes, unrecognized, passedOver }: ImportReport): string {
  const count = (status: ImportOutcome['status']): number => outcomes.filter((each) => each.status === status).length;
  const disagreeing = outcomes.filter((each) => each.status === 'imported' && each.disagreements > 0).length;
  const contradict = disagreeing === 1 ? '1 contradicts itself' : `${disagreeing} contradict themselves`;
  const parts = [
    `${count('imported')} imported${disagreeing > 0 ? ` (${contradict})` : ''}`,
    `${count('known')} already known`,
    ...(count('updated') > 0 ? [`${count('updated')} updated`] : []),
    `${count('refused')} refused`,
  ];
  const belongs = unrecognized.length === 1 ? 'is no result' : 'are no results';
  const files = [
    ...(passedOver.length > 0 ? [`${things(passedOver.length, 'files')} passed over`] : []),
    ...(unrecognized.length > 0
      ? [`${things(unrecognized.length, 'files')} ${belongs} of a known tool: ${firstNames(unrecognized, MAX_NAMED)}`]
      : []),
  ];
  const nothing = outcomes.length === 0 ? ['no results of a known tool found'] : [];
  return [...nothing, parts.join(', '), ...files].join('; ');
}

const EXPECTED =
  'expected: result files of a supported tool (JSON, JSON lines, CSV or YAML, see docs/guides/import-results.md), or a table ' +
  'with a header or JSON objects, and --mapping FILE';

/** Custom tables need a mapping; suggested when nothing else was found, and only for files that a mapping can read. */
function hintLines({ outcomes, mappable: [table], unmapped }: ImportReport): string[] {
  if (outcomes.length > 0) return [];
  if (unmapped.length > 0) return unmapped.slice(0, MAX_NAMED).map((why) => `--mapping: ${why}`);
  if (table === undefined) return [EXPECTED];
  return [`to import ${table}, describe its columns with --mapping FILE (docs/guides/import-results.md)`];
}
