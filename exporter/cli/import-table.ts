import { things } from '../../core/measures/things.ts';
import type { ImportOutcome, ImportReport } from '../imports/import-files.ts';

/** What became of each result, what is said of several of them, and a line that sums up. */
export function importTable(report: ImportReport): string {
  const { outcomes } = report;
  const shared = sharedNotes(outcomes);
  const lines = outcomes.flatMap((outcome) => outcomeLines(outcome, shared));
  const common = [...shared].map(([note, results]) => `of ${results} results: ${cut(note)}`);
  const parts = [lines, common, [summaryLine(report), ...hintLines(report)]].filter((part) => part.length > 0);
  return `${parts.map((part) => part.join('\n')).join('\n\n')}\n`;
}

/** The same for machines, on one line. */
export function importJson({ outcomes, unrecognised, passedOver }: ImportReport): string {
  return JSON.stringify({
    results: outcomes,
    files: { unrecognised: unrecognised.length, passed_over: passedOver },
  });
}

const LONGEST_NOTE = 200;

function cut(note: string): string {
  return note.length > LONGEST_NOTE ? `${note.slice(0, LONGEST_NOTE)}… (run.json has the whole)` : note;
}

/** Notes that stand with more than one result, and with how many. */
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
        ...own.map((note) => `${' '.repeat(STATUS_WIDTH)}  ${cut(note)}`),
      ];
    }
    case 'known':
      return [head('already known', `${outcome.run_id}  ${outcome.tool}  ${outcome.name}`)];
    case 'refused':
      return [head('refused', `${outcome.name}: ${outcome.reason}`)];
  }
}

const MOST_NAMED = 3;

function summaryLine({ outcomes, unrecognised, passedOver }: ImportReport): string {
  const count = (status: ImportOutcome['status']): number => outcomes.filter((each) => each.status === status).length;
  const disagreeing = outcomes.filter((each) => each.status === 'imported' && each.disagreements > 0).length;
  const contradict = disagreeing === 1 ? '1 contradicts itself' : `${disagreeing} contradict themselves`;
  const parts = [
    `${count('imported')} imported${disagreeing > 0 ? ` (${contradict})` : ''}`,
    `${count('known')} already known`,
    `${count('refused')} refused`,
  ];
  const [holds, belongs] = [
    passedOver === 1 ? 'it holds' : 'they hold',
    unrecognised.length === 1 ? 'is no result' : 'are no results',
  ];
  const files = [
    ...(passedOver > 0 ? [`${things(passedOver, 'files')} passed over (${holds} nothing to import)`] : []),
    ...(unrecognised.length > 0
      ? [`${things(unrecognised.length, 'files')} ${belongs} of a known tool: ${namesText(unrecognised)}`]
      : []),
  ];
  const nothing = outcomes.length === 0 ? ['no result of a known tool was found'] : [];
  return [...nothing, parts.join(', '), ...files].join('; ');
}

function namesText(names: readonly string[]): string {
  const rest = names.length - MOST_NAMED;
  return `${names.slice(0, MOST_NAMED).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

/** A table of somebody's own is known by a mapping only: told when nothing else was found. */
function hintLines({ outcomes, unrecognised }: ImportReport): string[] {
  const table = unrecognised.find((name) => /\.(csv|json|jsonl)(\.(gz|zst))?$/i.test(name));
  if (outcomes.length > 0 || table === undefined) return [];
  return [`what the columns of ${table} mean can be told with --mapping FILE (docs/guides/import-results.md)`];
}
