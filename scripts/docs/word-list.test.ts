import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const TEXTS = ['*.md', '*.ts', '*.tsx', '*.mjs', '*.json', '*.yaml', '*.yml', '*.py', '*.c', '*.go', '*.sh'];
/** Texts of others, the words that synthetic prompts are made of, and the list itself. */
const FOREIGN =
  /(^|\/)(fixtures|\.config)\/|package-lock\.json$|^scripts\/docs\/word-list|^exporter\/load\/datasets\/words\.ts$/;

/** A word or phrase that no text of the project may contain, and what to write instead. */
interface RejectedWord {
  readonly pattern: RegExp;
  readonly instead: string;
}

const word = (pattern: string, instead: string): RejectedWord => ({ pattern: new RegExp(pattern, 'gi'), instead });

/** Colloquial words with a precise technical equivalent, and British spellings. All are matched in any case. */
const REJECTED_WORDS: readonly RejectedWord[] = [
  word(String.raw`\b(told|tells|telling)\b`, 'reports, shows, states, distinguishes'),
  word(String.raw`\b(does|do|did|cannot|can|may|must|to|not) tell\b`, 'report, determine, distinguish'),
  word(String.raw`\basked for\b`, 'requested'),
  word(String.raw`\b(is|are|was|were|be) asked\b`, 'is queried, is requested'),
  word(String.raw`\bwhoever\b`, 'the client, the reader, anyone who'),
  word(String.raw`\b(mend|mends|mended|mending)\b`, 'fix'),
  word(String.raw`\b(houses?|doors?)\b`, 'layout, entry point'),
  word(String.raw`\bone too many\b`, 'unexpected'),
  word(String.raw`\bnobody\b`, 'nothing, no client, no one'),
  word(String.raw`\bnone that (is|are) known\b`, 'no known'),
  word(String.raw`\bwhere (it|they|the \w+) lies?\b`, 'is, is stored'),
  word(String.raw`\bcannot be had\b`, 'is not available'),
  word(String.raw`\bin place of\b`, 'instead of'),
  word(String.raw`\b(sums up|summed up)\b`, 'summarize'),
  word(String.raw`\bin vain\b`, 'without effect'),
  word(String.raw`\bhow sure\b`, 'how certain, the uncertainty of'),
  word(String.raw`\b(comes?|came) about\b`, 'arise, result from'),
  word(String.raw`\bwith its like\b`, 'with the same'),
  word(String.raw`\bnevertheless\b`, 'even so, anyway'),
  word(String.raw`\bneed not\b`, 'does not have to'),
  word(String.raw`\b(say|says|said) so\b`, 'reports it'),
  word(String.raw`\b(is|are) believed\b`, 'is accepted, is trusted'),
  word(String.raw`\b(shall|whilst|amongst)\b`, 'must, while, among'),
  word('neighbour|colour|behaviour|favour|honour', 'neighbor, color, behavior, favor, honor'),
  word('catalogue|artefact|judgement', 'catalog, artifact, judgment'),
  word(String.raw`labell(ed|ing)(?!by)`, 'labeled'),
  word(
    '(recogn|summar|normal|serial|initial|organ|optim|minim|maxim|standard|synchron|util|priorit|character|visual|special|general|final|random)is(e|es|ed|er|ing|able|ation)(?![a-z])',
    '…ize',
  ),
  word(String.raw`\b(centred?|centres|licence|analyse[sd]?|analysing)\b`, 'center, license, analyze'),
];

interface RejectedUse {
  readonly line: number;
  readonly found: string;
  readonly instead: string;
}

/** The rejected words of a text, by line. */
function rejectedWords(text: string): RejectedUse[] {
  return text
    .split('\n')
    .flatMap((content, i) =>
      REJECTED_WORDS.flatMap(({ pattern, instead }) =>
        [...content.matchAll(pattern)].map(([found]) => ({ line: i + 1, found, instead })),
      ),
    );
}

test('texts contain no rejected words', () => {
  const files = execFileSync('git', ['ls-files', '--', ...TEXTS], { cwd: ROOT, encoding: 'utf8' }).split('\n');
  const checked = files.filter((path) => path !== '' && !FOREIGN.test(path) && existsSync(`${ROOT}/${path}`));
  const uses = checked.flatMap((path) =>
    rejectedWords(readFileSync(`${ROOT}/${path}`, 'utf8')).map(
      ({ line, found, instead }) => `${path}:${line}: "${found}": write ${instead}`,
    ),
  );
  expect(uses).toEqual([]);
});

test('words are found in any case, with their line, and not inside other words', () => {
  expect(
    rejectedWords('The server reports it.\nWhoever asks is TOLD.').map(({ line, found }) => [line, found]),
  ).toEqual([
    [2, 'TOLD'],
    [2, 'Whoever'],
  ]);
  expect(rejectedWords('tolderance, storehouse, recommended, colorful')).toEqual([]);
});
