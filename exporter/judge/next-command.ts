import { things } from '../../core/text/things.ts';
import type { Needs } from './verdict.ts';

/** What a proposed command needs to know. */
export interface NextContext {
  readonly scenario: string;
  /** Servers of the two sides; null where a run has none, such as an import. */
  readonly urls: { readonly a: string | null; readonly b: string | null };
  /** Null: not shown. */
  readonly runsDirectory: string | null;
}

/** Stands for options that a stored run does not keep. */
const SAME_OPTIONS = '<options of the run>';
/** Of `--runs-dir`. */
const DEFAULT = 'runs';

/** The command that would gather what a verdict lacks; null when no command does. */
export function nextCommand(needs: Needs | null, { scenario, urls, runsDirectory }: NextContext): string | null {
  if (needs === null) return null;
  const directory = runsDirectory === null || runsDirectory === DEFAULT ? '' : ` --runs-dir ${quoted(runsDirectory)}`;
  const named = `--scenario ${quoted(scenario)}${directory}`;
  const run = `llmbench run --url ${quoted(urls.b ?? 'URL')} ${named} ${SAME_OPTIONS}`;
  switch (needs.design) {
    case 'pairs': {
      const [a, b] = [urls.a ?? 'URL', urls.b ?? 'URL'];
      return `llmbench ab --a ${quoted(a)} --b ${quoted(b)} --pairs ${needs.pairs} ${named} ${SAME_OPTIONS}`;
    }
    case 'sets': {
      const more = [
        ...(needs.furtherA > 0 ? [`${things(needs.furtherA, 'runs')} of A`] : []),
        ...(needs.furtherB > 0 ? [`${things(needs.furtherB, 'runs')} of B`] : []),
      ];
      return `${run}   # ${more.join(' and ')}`;
    }
    case 'confirm':
      return `llmbench check ${named} --confirm ${needs.further} -- --url ${quoted(urls.b ?? 'URL')} ${SAME_OPTIONS}`;
    case 'baseline':
      return `${run}   # ${things(needs.further, 'runs')}, then: llmbench baseline accept ${quoted(`scenario:${scenario}`)}`;
    case 'requests':
      return `${run}   # with ${needs.times} times the requests`;
    case 'buckets':
      return null;
  }
}

/** A word for a POSIX shell. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
