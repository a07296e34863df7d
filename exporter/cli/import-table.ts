import type { ImportOutcome, ImportReport } from '../imports/import-files.ts';

/** What became of each result, and a line that sums up. */
export function importTable({ outcomes, unrecognised, passedOver }: ImportReport): string {
  const lines = outcomes.flatMap(outcomeLines);
  return `${[...lines, ...(lines.length > 0 ? [''] : []), summaryLine(outcomes, unrecognised, passedOver)].join('\n')}\n`;
}

/** The same for machines, on one line. */
export function importJson({ outcomes, unrecognised, passedOver }: ImportReport): string {
  return JSON.stringify({ results: outcomes, files: { unrecognised, passed_over: passedOver } });
}

const LONGEST_NOTE = 200;

function cut(note: string): string {
  return note.length > LONGEST_NOTE ? `${note.slice(0, LONGEST_NOTE)}… (run.json has the whole)` : note;
}

const STATUS_WIDTH = 'already known'.length;

function outcomeLines(outcome: ImportOutcome): string[] {
  const head = (status: string, rest: string): string => `${status.padEnd(STATUS_WIDTH)}  ${rest}`;
  switch (outcome.status) {
    case 'imported':
      return [
        head('imported', `${outcome.run_id}  ${outcome.tool}  ${outcome.name}`),
        ...outcome.notes.map((note) => `${' '.repeat(STATUS_WIDTH)}  ${cut(note)}`),
      ];
    case 'known':
      return [head('already known', `${outcome.run_id}  ${outcome.tool}  ${outcome.name}`)];
    case 'refused':
      return [head('refused', `${outcome.name}: ${outcome.reason}`)];
  }
}

function summaryLine(outcomes: readonly ImportOutcome[], unrecognised: number, passedOver: number): string {
  const count = (status: ImportOutcome['status']): number => outcomes.filter((each) => each.status === status).length;
  const disagreeing = outcomes.filter((each) => each.status === 'imported' && each.disagreements > 0).length;
  const parts = [
    `${count('imported')} imported${disagreeing > 0 ? ` (${disagreeing} contradict themselves)` : ''}`,
    `${count('known')} already known`,
    `${count('refused')} refused`,
  ];
  const files = [
    ...(passedOver > 0 ? [`${passedOver} files passed over (they hold nothing to import)`] : []),
    ...(unrecognised > 0 ? [`${unrecognised} files are no results of a known tool`] : []),
  ];
  const nothing = outcomes.length === 0 ? ['no result of a known tool was found'] : [];
  return [...nothing, parts.join(', '), ...files].join('; ');
}
