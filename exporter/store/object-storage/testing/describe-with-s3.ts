import { describe } from '@jest/globals';
import { skipWithout } from '../../../../core/testing/skip-without.ts';
import { ensureVersitygw } from '../../../../scripts/versitygw.mjs';

/** A `describe` whose tests need a real S3 server; without one they are skipped, and fail with `CI=true`. */
export function describeWithS3(name: string, body: (program: string) => void): void {
  const program = ensureVersitygw({ install: false });
  if (program !== null) {
    describe(name, () => body(program));
    return;
  }
  skipWithout(
    name,
    'versitygw is missing: node scripts/versitygw.mjs builds it with Go, or set VERSITYGW_BIN to its path',
  );
}
