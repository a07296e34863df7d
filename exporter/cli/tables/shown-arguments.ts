import { HIDDEN } from '../../../core/run/secret-fields.ts';
import { publicAddress, publicValue } from '../options/public-value.ts';

/** Arguments of `ab` as they may be shown and stored: without secrets, see `publicValue`. */
export function shownArguments(argv: readonly string[]): readonly string[] {
  return argv.map((argument, i) => {
    const [, name, inline] = OPTION.exec(argument) ?? [];
    if (name !== undefined) return inline === undefined ? argument : `--${name}=${shown(name, inline)}`;
    const [, before, given] = OPTION.exec(argv[i - 1] ?? '') ?? [];
    return before === undefined || given !== undefined ? argument : shown(before, argument);
  });
}

const OPTION = /^--([a-z-]+)(?:=(.*))?$/s;

function shown(name: string, text: string): string {
  if (name === 'a' || name === 'b') return publicAddress(text);
  try {
    return publicValue(name.replace(/^[ab]-/, ''), text);
  } catch {
    // It is not valid, which is reported where it is used.
    return HIDDEN;
  }
}
