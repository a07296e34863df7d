import { describe, expect, test } from '@jest/globals';
import { parseText } from '../core/exposition/parse.ts';
import { isSecretName, withoutSecrets } from '../core/run/secret-fields.ts';
import { nearestNames } from '../core/text/nearest-names.ts';
import { quoted } from '../core/text/words.ts';
import { publicValue } from '../exporter/cli/options/public-value.ts';
import { messageExcerpt } from '../exporter/errors/message-excerpt.ts';
import { retryAfterSeconds } from '../exporter/http-client/backoff.ts';
import { hostTest } from '../exporter/http/allowed-host.ts';
import { parseMapping } from '../exporter/imports/mapped/mapping.ts';
import { publicOriginOrNull } from '../exporter/imports/reading/fields.ts';
import { pythonError } from '../exporter/imports/reading/python-error.ts';
import { wallTime } from '../exporter/imports/reading/wall-time.ts';
import { parseGoodput, parseObjective } from '../core/objectives/grammar.ts';
import { parseSequenceDistribution } from '../exporter/load/datasets/lengths.ts';
import { parseTarget } from '../exporter/load/transports/target.ts';
import { parsePoint, parseQueueName } from '../exporter/publish/remote-write/disk-queue.ts';
import { parseTarget as parseMetricsTarget } from '../exporter/servers/scrape/targets.ts';
import { parseCondition } from '../exporter/store/index/select-runs.ts';

/** A pattern that takes quadratic time does 10^10 steps for it, and the test ends at its time limit. */
const LENGTH = 100_000;

/** Texts on which a pattern with nested or adjacent repetitions tries every way to split them. */
const HOSTILE: readonly (readonly [name: string, text: string])[] = [
  ...['a', '1', ' ', '\t', '\n', '.', '-', ':', ',', '=', '{', '"', '@', '?', '&', '<', '(', '%', '\\', '***'].map(
    (piece) => [JSON.stringify(piece), piece.repeat(LENGTH / piece.length)] as const,
  ),
  ...['http://', 'a:1,', 'p99<', '1.1', 'a=b&', 'A ', 'a@', '\\"', 'h:8000,', '0e', 'Error: ', '1970-'].map(
    (piece) => [JSON.stringify(piece), piece.repeat(LENGTH / piece.length)] as const,
  ),
  ['a scheme and at signs', `http://${'a@'.repeat(LENGTH / 2)}`],
  ['a measure and digits', `ttft:p99<${'9'.repeat(LENGTH)}!`],
  ['a name and blanks', `a:${' '.repeat(LENGTH)}!`],
  ['a key and words', `sk-${'a-'.repeat(LENGTH / 2)}!`],
];

const READERS: readonly (readonly [name: string, read: (text: string) => unknown])[] = [
  ['an address of a server', (text) => parseTarget(text, { type: 'chat', path: '/v1/chat/completions' })],
  ['an address of a metrics page', parseMetricsTarget],
  ['an origin in an imported file', publicOriginOrNull],
  ['an objective', parseObjective],
  ['a goodput', parseGoodput],
  ['a condition on runs', parseCondition],
  ['a distribution of lengths', parseSequenceDistribution],
  ['a mapping of columns', (text) => parseMapping(text, 'mapping.yml')],
  ['a wall time', (text) => wallTime(text, null)],
  ['an error of Python', pythonError],
  ['a host name', hostTest({ host: '127.0.0.1', allowedHosts: [] })],
  ['Retry-After', (text) => retryAfterSeconds(text, new Date(0))],
  ['the message of a server', (text) => messageExcerpt(text)],
  ['a header on the command line', (text) => publicValue('header', text)],
  ['extra inputs on the command line', (text) => publicValue('extra-inputs', text)],
  ['addresses on the command line', (text) => publicValue('server-metrics', text)],
  ['any other option', (text) => publicValue('scenario', text)],
  ['a name of a field', isSecretName],
  ['a text of a field', (text) => withoutSecrets(text)],
  ['a word of a command', quoted],
  ['an unknown option', (text) => nearestNames(text.slice(0, 1000), ['--concurrency', '--isl'], 1)],
  ['a metrics page', (text) => parseText(Buffer.from(text))],
  ['a line of the queue', parsePoint],
  ['a name of a queue', parseQueueName],
];

describe.each(READERS)('%s', (_, read) => {
  test.each(HOSTILE)('%s a hundred thousand times is read or refused in time', (_name, text) => {
    let refusal: unknown = null;
    try {
      read(text);
    } catch (error) {
      refusal = error;
    }
    // Never the stack limit of a recursive pattern.
    expect(refusal).not.toBeInstanceOf(RangeError);
  });
});
