import { createHash } from 'node:crypto';
import { canonicalJson } from '../../core/run/canonical-json.ts';
import type { ComparisonKey } from '../../core/run/run.ts';

/** SHA-256, in hex, of the canonical JSON (RFC 8785) of the comparison key: equal for comparable runs. */
export function fingerprint(key: ComparisonKey): string {
  return createHash('sha256').update(canonicalJson(key), 'utf8').digest('hex');
}
