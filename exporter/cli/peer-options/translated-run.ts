import { shellCommand } from '../../../core/text/words.ts';
import { CliError } from '../failure.ts';
import { writeMessage } from '../terminal-text.ts';
import { shownArguments } from '../options/public-value.ts';
import { UNTRANSLATED } from './peers.ts';
import { translated, translatedOf } from './translate.ts';

/**
 * Arguments of `llmbench run` for a pasted command of another benchmark tool, which are printed with what differs; null: it is
 * none. Throws a `CliError` when it cannot be translated.
 */
export function translatedRun(words: readonly string[]): readonly string[] | null {
  const translation = translated(words);
  if (translation !== null) {
    const { from, argv, notes } = translation;
    writeMessage(process.stderr, `${from} is: ${shellCommand(['llmbench', 'run', ...shownArguments(argv)])}`);
    for (const note of notes) writeMessage(process.stderr, `  ${note}`);
    return argv;
  }
  const [program = ''] = words;
  const others = translatedOf(program).map((command) => `\`${command}\``);
  const reason = others.length > 0 ? `of ${program}, ${others.join(', ')} can be translated to llmbench run` : null;
  const refusal = reason ?? UNTRANSLATED.get(program)?.replaceAll('`', '');
  if (refusal !== undefined) throw new CliError(refusal);
  return null;
}
