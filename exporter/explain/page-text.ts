import { things } from '../../core/text/quantities.ts';
import type { AbsentGroup, PageReport } from './page-report.ts';
import { wrapped } from '../../core/text/words.ts';

/** The report on a page for the terminal; lines of at most `columns` characters where words allow it. */
export function pageText(url: string, report: PageReport, columns: number): string {
  const { known, unknown, runtime, deprecated, mistyped, untyped, absent, switches } = report;
  return [
    heading(url, report),
    section(
      'known',
      known.length,
      table(
        known.map((k) => [k.family, k.type, k.unit, `${k.samples}`, k.system]),
        KNOWN_HEAD,
      ),
    ),
    section(
      'of the runtime',
      runtime.length,
      list(
        runtime.map(({ family }) => family),
        columns,
      ),
    ),
    section(
      'unknown',
      unknown.length,
      table(
        unknown.map((u) => [u.family, u.type, `${u.samples}`]),
        UNKNOWN_HEAD,
      ),
    ),
    section(
      'deprecated',
      deprecated.length,
      deprecated.map(({ family, note }) => `  ${family}: ${note}`),
    ),
    section(
      'mistyped',
      mistyped.length,
      mistyped.map(
        (m) =>
          `  ${m.family}: ${m.page_type} here, ${m.catalog_type} in the catalog${m.as_in === null ? '' : `; as in ${m.as_in}`}`,
      ),
    ),
    section('without a type on the page', untyped.length, list(untyped, columns)),
    section('expected but absent', count(absent.expected), grouped(absent.expected, columns)),
    section('not yet: they appear with their first event', count(absent.not_yet), grouped(absent.not_yet, columns)),
    section('absent, turned on by', count(absent.behind_switch), grouped(absent.behind_switch, columns)),
    section('on other pages of the same system', count(absent.other_pages), parts(absent.other_pages, columns)),
    section(
      'switches to know',
      switches.length,
      switches.map(({ system, name, gives }) => `  ${system}: ${name}: ${gives}`),
    ),
  ]
    .filter((text) => text !== '')
    .join('\n');
}

const KNOWN_HEAD = ['family', 'type', 'unit', 'samples', 'system'];
const UNKNOWN_HEAD = ['family', 'type', 'samples'];

function heading(url: string, report: PageReport): string {
  const { systems, families, samples, creation_times, format, format_fallback } = report;
  const names = systems.map(({ title, deprecated, passed_through }) =>
    [title, deprecated === null ? '' : ` (deprecated ${deprecated})`, passed_through ? ' (passed through)' : ''].join(
      '',
    ),
  );
  return [
    url,
    `  systems: ${names.length === 0 ? 'none of the catalogs' : names.join(', ')}`,
    `  ${things(families, 'families')}, ${things(samples, 'samples')}, ${format}${format_fallback === null ? '' : ` (assumed: ${format_fallback})`}` +
      (creation_times === 0 ? '' : `; ${things(creation_times, 'creation times')} (_created) not counted as families`),
    '',
  ].join('\n');
}

function section(title: string, size: number, lines: readonly string[]): string {
  return size === 0 ? '' : [`${title} (${size})`, ...lines, ''].join('\n');
}

function table(rows: readonly (readonly string[])[], head: readonly string[]): string[] {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  return all.map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd());
}

function list(names: readonly string[], columns: number): string[] {
  return wrapped(names.join(', '), columns - 2).map((line) => `  ${line}`);
}

const count = (groups: readonly AbsentGroup[]): number =>
  groups.reduce((sum, { families }) => sum + families.length, 0);

const place = ({ system, part }: AbsentGroup): string =>
  part === null ? system : `${system}, ${part.replaceAll('_', ' ')}`;

function grouped(groups: readonly AbsentGroup[], columns: number): string[] {
  return groups.flatMap((group) => {
    const names = group.families.map(({ family, since }) =>
      since === null ? family : `${family} (${/^\d/.test(since) ? 'since ' : ''}${since})`,
    );
    const lines = wrapped(names.join(', '), columns - 6).map((line) => `      ${line}`);
    return [`  ${group.when}  [${place(group)}]`, ...lines];
  });
}

/** Families of other processes: how many of each, and the conditions that the catalog names. */
function parts(groups: readonly AbsentGroup[], columns: number): string[] {
  return [...Map.groupBy(groups, place)].flatMap(([name, ofPart]) => {
    const conditions = [...new Set(ofPart.map(({ when }) => when))].slice(0, 3);
    const text = `${name}: ${things(count(ofPart), 'families')}; ${conditions.join(' | ')}`;
    return wrapped(text, columns - 4).map((line, i) => `${i === 0 ? '  ' : '    '}${line}`);
  });
}
