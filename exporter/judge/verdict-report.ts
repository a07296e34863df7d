import type { VerdictReport } from '../../core/api/comparison.ts';
import type { Needs, VerdictName, Judgment } from '../../core/api/verdict.ts';
import { things } from '../../core/text/quantities.ts';
import { quoted, shellCommand } from '../../core/text/words.ts';
import type { RunStore } from '../store/run-store.ts';
import { comparisonOf } from './compare.ts';
import { loadExplanation } from './explanation.ts';
import type { RunFigures } from './run-figures.ts';

/** What a proposed command needs to know. */
export interface NextContext {
  readonly scenario: string;
  readonly verdict: VerdictName;
  /** Stored runs of the configuration that could be accepted into the baseline. */
  readonly acceptable: number;
  /** The tool that made the runs; null when it is not known. */
  readonly tool: string | null;
  /** Servers of the two sides; null where a run has none, such as an import. */
  readonly urls: { readonly a: string | null; readonly b: string | null };
  /** The words that made the newest run of B, see `RunFile`; null when they are not known. */
  readonly commandLine: readonly string[] | null;
  /** The words of the command that continues the comparison in pairs, to this number of them; null without one. */
  readonly continued: ((pairs: number) => readonly string[]) | null;
  /** Null: not shown. */
  readonly runsDirectory: string | null;
}

/** Stands for the options of a run that did not keep them. */
const SAME_OPTIONS = '<options of the run>';
/** Options of a run that the proposed command gives itself. */
const GIVEN: ReadonlySet<string> = new Set(['--url', '--scenario', '--runs-dir']);
/** Of `--runs-dir`. */
const DEFAULT = 'runs';
const OURS = 'llmbench';
/** Windows of what servers recorded: further ones are imported, nothing is measured. */
export const RECORDED = 'prometheus';

/** The command that would gather what a verdict lacks; null when no command does. */
export function nextCommand(needs: Needs | null, context: NextContext): string | null {
  if (needs === null) return null;
  const { scenario, verdict, acceptable, tool, urls, runsDirectory, commandLine, continued } = context;
  const directory = runsDirectory === null || runsDirectory === DEFAULT ? '' : ` --runs-dir ${quoted(runsDirectory)}`;
  const named = `--scenario ${quoted(scenario)}${directory}`;
  const sameOptions = commandLine === null ? SAME_OPTIONS : shellCommand(otherOptions(commandLine));
  const imported = tool !== null && tool !== OURS;
  const run = imported
    ? `llmbench import ${tool === RECORDED ? '--prometheus URL --match SELECTOR --from TIME' : `<results of ${tool}>`} ${named}`
    : `llmbench run --url ${quoted(urls.b ?? 'URL')} ${named} ${sameOptions}`;
  switch (needs.design) {
    case 'pairs': {
      if (continued !== null) return shellCommand(continued(needs.pairs));
      if (tool === RECORDED)
        return `${run} --slice TIME   # ${things(needs.pairs, 'slices')} of A and of B, of the same times`;
      const [a, b] = [urls.a ?? 'URL', urls.b ?? 'URL'];
      return `llmbench ab --a ${quoted(a)} --b ${quoted(b)} --pairs ${needs.pairs} ${named} ${sameOptions}`;
    }
    case 'sets': {
      const more = [
        ...(needs.furtherA > 0 ? [`${things(needs.furtherA, 'runs')} of A`] : []),
        ...(needs.furtherB > 0 ? [`${things(needs.furtherB, 'runs')} of B`] : []),
      ];
      return `${run}   # ${more.join(' and ')}`;
    }
    case 'confirm': {
      const confirm = `llmbench check ${named} --confirm ${needs.further} -- --url ${quoted(urls.b ?? 'URL')} ${sameOptions}`;
      // Only a suspicion is confirmed, by our own runs; else further runs are judged together with those that are there.
      if (verdict === 'suspect' && !imported) return confirm;
      return `${run}   # ${things(needs.further, 'runs')}, then: llmbench check ${named}`;
    }
    case 'baseline': {
      const accept = (selector: string): string => `llmbench baseline accept ${quoted(selector)}${directory}`;
      if (acceptable >= needs.further) return `${accept(`scenario:${scenario}`)}   # if the stored runs are normal`;
      const fresh = accept(`scenario:${scenario}+last:${needs.further}`);
      return `${run}   # ${things(needs.further, 'runs')}, then: ${fresh}`;
    }
    case 'requests':
      return `${run}   # with ${needs.times} times the requests`;
    case 'buckets':
      return null;
  }
}

/** The options of a command without those that are given anyway, each with its value. */
function otherOptions(commandLine: readonly string[]): readonly string[] {
  const isOption = (word: string): boolean => word.startsWith('--');
  const words = commandLine.slice(commandLine.findIndex(isOption));
  return words.filter((word, i) => {
    const name = isOption(word) ? word : (words[i - 1] ?? '');
    return !GIVEN.has(name.split('=')[0] ?? '');
  });
}

/** A stored run that is compared, with the tool that made it and the server that it measured. */
export interface ReportedRun {
  readonly run_id: string;
  readonly tool: string | null;
  readonly origin: string | null;
}

export interface ReportContext {
  readonly a: readonly ReportedRun[];
  readonly b: readonly ReportedRun[];
  /** The figures that were judged. */
  readonly figures: readonly RunFigures[];
  /** Stored runs of the configuration that could be accepted into the baseline; default none. */
  readonly acceptable?: number;
  /** See `NextContext`. */
  readonly continued?: NextContext['continued'];
  /** For the proposed command; null: not shown. */
  readonly runsDirectory: string | null;
}

export async function verdictReport(
  store: RunStore,
  judgment: Judgment,
  { a, b, figures, acceptable = 0, continued = null, runsDirectory }: ReportContext,
): Promise<VerdictReport> {
  const urls = { a: a.at(-1)?.origin ?? null, b: b.at(-1)?.origin ?? null };
  const newest = b.at(-1)?.run_id;
  const commandLine = figures.find(({ run_id }) => run_id === newest)?.command_line ?? null;
  return {
    ...comparisonOf(judgment, figures),
    explanation: await loadExplanation(store, judgment),
    next_command: nextCommand(judgment.needs, {
      ...{ scenario: judgment.scenario, verdict: judgment.verdict },
      ...{ acceptable, tool: b.at(-1)?.tool ?? null, urls, runsDirectory, commandLine, continued },
    }),
  };
}
