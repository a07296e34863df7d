import type { VerdictReport } from '../../../core/api/comparison.ts';
import { verdictHtml } from './verdict-html.ts';
import { verdictJunit } from './verdict-junit.ts';
import { verdictMarkdown } from './verdict-markdown.ts';
import { TO_FILE, type Print } from './facts.ts';
import { verdictText } from './verdict-text.ts';

export type VerdictFormat = 'text' | 'markdown' | 'html' | 'junit' | 'json';

/** A verdict in the requested format. */
export function verdictOutput(
  format: VerdictFormat,
  report: VerdictReport,
  failUndecided: boolean,
  print: Print = TO_FILE,
): string {
  switch (format) {
    case 'text':
      return verdictText(report, print);
    case 'markdown':
      return verdictMarkdown(report);
    case 'html':
      return verdictHtml(report);
    case 'junit':
      return verdictJunit(report, failUndecided);
    case 'json':
      return `${JSON.stringify(report, null, 2)}\n`;
  }
}
