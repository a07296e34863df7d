import { BACKSLASH } from './characters.ts';
import type { ParseLimits } from '../parse-options.ts';

const decoder = new TextDecoder('latin1');

/**
 * The labels `a="b",c="d"` in [start, end), whose form is known to be that, decoded in one go. Undefined when they are
 * not plain ASCII without escapes, or might break a rule: the careful parser then decides and words the error.
 */
export function plainLabels(
  bytes: Uint8Array,
  start: number,
  end: number,
  limits: ParseLimits,
): [string, string][] | undefined {
  for (let i = start; i < end; i++) {
    const c = bytes[i] as number;
    if (c >= 0x80 || c === BACKSLASH) return undefined;
  }
  const text = decoder.decode(bytes.subarray(start, end));
  const pairs: [string, string][] = [];
  for (let at = 0; at < text.length;) {
    const equals = text.indexOf('="', at);
    const quote = text.indexOf('"', equals + 2);
    const name = text.slice(at, equals);
    const isFit = quote - equals - 2 <= limits.maxLabelValueBytes && name.length <= limits.maxLabelNameBytes;
    if (!isFit || name === '__name__' || pairs.length === limits.maxLabels) return undefined;
    for (const [other] of pairs) if (other === name) return undefined;
    pairs.push([name, text.slice(equals + 2, quote)]);
    at = quote + 2;
  }
  return pairs;
}
