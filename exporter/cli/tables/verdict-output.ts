import type { Comparison } from '../../judge/comparison.ts';
import type { Explanation } from '../../judge/explanation/moved-signals.ts';
import { verdictJunit } from './verdict-junit.ts';
import { verdictMarkdown } from './verdict-markdown.ts';
import { verdictText } from './verdict-text.ts';

export type VerdictFormat = 'text' | 'markdown' | 'junit' | 'json';

export interface VerdictContext {
  /** The command that would gather what is missing; null when no command does. */
  readonly next: string | null;
  readonly failUndecided: boolean;
  /** Null when no gating measure changed. */
  readonly explanation: Explanation | null;
  /** Further members of the JSON object. */
  readonly extra?: object;
}

/** A comparison in the requested format. */
export function verdictOutput(
  format: VerdictFormat,
  comparison: Comparison,
  { next, failUndecided, explanation, extra = {} }: VerdictContext,
): string {
  switch (format) {
    case 'text':
      return verdictText(comparison, explanation, next);
    case 'markdown':
      return verdictMarkdown(comparison, explanation, next);
    case 'junit':
      return verdictJunit(comparison, failUndecided);
    case 'json':
      return `${JSON.stringify({ ...comparison, ...extra, explanation, next_command: next }, null, 2)}\n`;
  }
}
