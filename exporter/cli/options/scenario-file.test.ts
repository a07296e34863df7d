import { describe, expect, test } from '@jest/globals';
import { SHARED_BY_RUNS } from './group-options.ts';
import { givenArguments, valuesOf, withFile, type GivenValues } from './options.ts';
import { RUN_OPTIONS, runRequests } from './run-options.ts';
import { combinations, readScenario } from './scenario-file.ts';

const valuesWith = (file: GivenValues, argv: readonly string[] = [], environment: NodeJS.ProcessEnv = {}) =>
  valuesOf(RUN_OPTIONS, withFile(givenArguments(RUN_OPTIONS, argv, environment), file));
const read = (text: string) => readScenario(text, 'chat.yaml', RUN_OPTIONS, SHARED_BY_RUNS);

const SCENARIO = `
# a comment
scenario: chat
url: http://127.0.0.1:8000
model: llama
request-count: 100
ignore-eos: true
header: ['a: 1', 'b: 2, 3']
matrix:
  isl: [128, 1024]
  concurrency: [1, 8]
`;

test('keys are options, lists are several values', () => {
  const { values } = read(SCENARIO);
  const options = valuesWith(values);
  expect(options).toMatchObject({
    scenario: 'chat',
    'request-count': 100,
    'ignore-eos': true,
    header: ['a: 1', 'b: 2, 3'],
    concurrency: null,
  });
  expect(valuesWith(read('concurrency: [1, 2]').values).concurrency).toEqual([1, 2]);
});

test('flags and environment go before the file', () => {
  const { values } = read(SCENARIO);
  const environment = { LLMBENCH_MODEL: 'other', LLMBENCH_REQUEST_COUNT: '7' };
  expect(valuesWith(values, ['--request-count', '5'], environment)).toMatchObject({
    'request-count': 5,
    model: ['other'],
    scenario: 'chat',
  });
});

test('every combination of the matrix is a step, the last key going round fastest', () => {
  const { values, matrix } = read(SCENARIO);
  const requests = combinations(matrix).flatMap((combination) =>
    runRequests(valuesWith(new Map([...values, ...combination]))),
  );
  expect(requests.map(({ inputTokens, measure }) => [inputTokens, measure.load.concurrency])).toEqual([
    [128, 1],
    [128, 8],
    [1024, 1],
    [1024, 8],
  ]);
  expect(combinations([])).toEqual([new Map()]);
});

test('a wrong value is named with the file’s key', () => {
  const wrong = (text: string) => () => valuesWith(read(text).values);
  expect(wrong('isl: many')).toThrow("isl is 'many' and must be a whole number");
});

describe('what is refused, with file and line', () => {
  test.each([
    ['model: x\nconcurency: 4', 'chat.yaml:2: concurency is not an option; did you mean concurrency?'],
    ['model: x\n\nmodel: y', 'chat.yaml:3: Map keys must be unique'],
    ['model:', 'chat.yaml:1: model requires a value'],
    ['model: {a: 1}', 'chat.yaml:1: model requires a value'],
    ['json: maybe', "chat.yaml:1: json is 'maybe' and must be true or false"],
    ['json: [true]', 'chat.yaml:1: json is a switch: true or false'],
    ['- model', 'chat.yaml:1: the file must be a map of options to values'],
    ['', 'chat.yaml:1: the file must be a map of options to values'],
    ['model: &m x\nscenario: *m', 'chat.yaml:2: scenario is an alias'],
    ['config: other.yaml', 'chat.yaml:1: config is not allowed in a scenario file'],
    ['matrix:\n  url: [a, b]', 'chat.yaml:2: matrix: url cannot vary between the runs'],
    ['matrix:\n  isl: 4', 'chat.yaml:2: matrix: isl must be a list'],
    ['matrix:\n  isl: []', 'chat.yaml:2: matrix: isl must be a list'],
    ['matrix: [1]', 'chat.yaml:1: matrix must be a map'],
    ['matrix:\n  islx: [1]', 'chat.yaml:2: islx is not an option; did you mean isl?'],
    ['isl: 4\nmatrix:\n  isl: [1]', 'chat.yaml:1: isl is in the file and in its matrix'],
    ['a: [', 'chat.yaml:1:'],
  ])('%j', (text, message) => expect(() => read(text)).toThrow(message));
});
