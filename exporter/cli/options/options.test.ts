import { describe, expect, test } from '@jest/globals';
import { CliError } from '../failure.ts';
import { choice, flag, givenArguments, integer, list, readOptions, seconds, text, texts, valuesOf } from './options.ts';

const OPTIONS = {
  url: text('URL', 'where', null),
  concurrency: integer('how many', { min: 1, max: 100 }, 1),
  'benchmark-duration': seconds('how long', { min: 0.1, max: 10 }, null),
  linger: choice(['auto', 'no'] as const, 'stay', 'auto'),
  header: texts('NAME:VALUE', 'more headers'),
  json: flag('for machines'),
};

const read = (argv: readonly string[], environment: NodeJS.ProcessEnv = {}) => readOptions(OPTIONS, argv, environment);

describe('what is given', () => {
  test('nothing: the defaults', () => {
    expect(read([])).toEqual({
      url: null,
      concurrency: 1,
      'benchmark-duration': null,
      linger: 'auto',
      header: [],
      json: false,
    });
  });

  test('flags with a space or an equals sign, the last one wins, repeated ones add up', () => {
    const values = read(['--concurrency', '4', '--concurrency=8', '--header', 'a: 1', '--header=b: 2', '--json']);
    expect(values).toMatchObject({ concurrency: 8, header: ['a: 1', 'b: 2'], json: true });
  });

  test('an environment variable stands in for a flag, and the flag wins', () => {
    const environment = { LLMBENCH_CONCURRENCY: '16', LLMBENCH_BENCHMARK_DURATION: '2.5' };
    expect(read([], environment)).toMatchObject({ concurrency: 16, 'benchmark-duration': 2.5 });
    expect(read(['--concurrency', '2'], environment).concurrency).toBe(2);
  });

  test('a value may begin with one dash', () => {
    expect(read(['--url', '-weird']).url).toBe('-weird');
  });
});

describe('what is refused, in one line that names flag, value and what is allowed', () => {
  test.each([
    [['--concurency', '4'], '--concurency is not an option; did you mean --concurrency?'],
    [['--duration', '4'], '--duration is not an option; did you mean --benchmark-duration?'],
    [['--zzz'], '--zzz is not an option; --help lists them'],
    [['--constructor'], '--constructor is not an option; --help lists them'],
    [['--concurrency', '0'], "--concurrency is '0' and must be a whole number from 1 to 100"],
    [['--concurrency', '2.5'], "--concurrency is '2.5' and must be a whole number from 1 to 100"],
    [['--concurrency', ''], "--concurrency is '' and must be a whole number from 1 to 100"],
    [['--concurrency', 'Infinity'], "--concurrency is 'Infinity' and must be a whole number from 1 to 100"],
    [['--benchmark-duration', '99'], "--benchmark-duration is '99' and must be a number from 0.1 to 10"],
    [['--linger', 'forever'], "--linger is 'forever' and must be one of auto, no"],
    [['--url'], '--url requires a value: --url URL'],
    [['--url', '--json'], '--url requires a value: --url URL'],
    [['http://localhost'], "unexpected argument 'http://localhost': options begin with --"],
  ])('%j', (argv, message) => {
    expect(() => read(argv)).toThrow(new CliError(message));
  });

  test('all of them together, one in a line', () => {
    const argv = ['--concurency', '4', 'http://localhost', '--linger', 'forever', '--url', '--json', '--zzz=1'];
    expect(() => read(argv, { LLMBENCH_BENCHMARK_DURATION: '99' })).toThrow(
      new CliError(
        [
          '6 arguments are wrong:',
          '  --concurency is not an option; did you mean --concurrency?',
          '  --url requires a value: --url URL',
          '  --zzz is not an option; --help lists them',
          "  unexpected argument 'http://localhost': options begin with --",
          "  LLMBENCH_BENCHMARK_DURATION is '99' and must be a number from 0.1 to 10",
          "  --linger is 'forever' and must be one of auto, no",
        ].join('\n'),
      ),
    );
  });

  test('a flag of another program is answered, with its value', () => {
    const foreign = { answer: (flag: string, value: string | null) => (flag === '--pace' ? `use ${value}` : null) };
    const wrong = (argv: readonly string[]) => () =>
      valuesOf(OPTIONS, givenArguments(OPTIONS, argv, {}, undefined, foreign));
    expect(wrong(['--pace', '3'])).toThrow(new CliError('--pace is not an option; use 3'));
    expect(wrong(['--pace=4'])).toThrow(new CliError('--pace is not an option; use 4'));
    expect(wrong(['--pace', '--json'])).toThrow(new CliError('--pace is not an option; use null'));
  });

  test('a wrong environment variable is named as such', () => {
    expect(() => read([], { LLMBENCH_CONCURRENCY: 'many' })).toThrow(
      "LLMBENCH_CONCURRENCY is 'many' and must be a whole number from 1 to 100",
    );
  });
});

describe('arguments without a flag, where a command takes them', () => {
  const arguments_ = (argv: readonly string[], max = 1) => {
    const given = givenArguments(OPTIONS, argv, {}, { name: 'METRIC', max });
    return { values: valuesOf(OPTIONS, given), positionals: given.positionals };
  };

  test.each([
    [['a:b'], ['a:b']],
    [['--json', 'a'], ['a']],
    [['a', '--concurrency', '4'], ['a']],
    [['--', '--json'], ['--json']],
    [[], []],
  ])('%j', (argv, positionals) => {
    expect(arguments_(argv).positionals).toEqual(positionals);
  });

  test('stand beside options', () => {
    expect(arguments_(['a', '--concurrency', '4', '--json']).values).toMatchObject({ concurrency: 4, json: true });
  });

  test('an unexpected argument is refused, and named', () => {
    expect(() => arguments_(['a', 'b', 'c'])).toThrow(new CliError("unexpected argument 'b': at most 1 METRIC"));
    expect(() => arguments_(['a'], 0)).toThrow(new CliError("unexpected argument 'a': options begin with --"));
  });
});

describe('a list takes several values in a row', () => {
  const LISTS = { m: list(texts('NAME', 'names')), x: texts('NAME', 'one at a time'), json: flag('for machines') };
  const lists = (given: string) => {
    const argv = given.split(' ');
    const found = givenArguments(LISTS, argv, {}, { name: 'WORD', max: Infinity });
    const { m, x } = valuesOf(LISTS, found);
    return { m, x, words: found.positionals };
  };

  test.each([
    ['--m a b --x 1', { m: ['a', 'b'], x: ['1'], words: [] }],
    ['--m a --m b c', { m: ['a', 'b', 'c'], x: [], words: [] }],
    ['--x a b', { m: [], x: ['a'], words: ['b'] }],
    ['--m=a b', { m: ['a'], x: [], words: ['b'] }],
    ['--m a --json b', { m: ['a'], x: [], words: ['b'] }],
    ['--m a -- b', { m: ['a'], x: [], words: ['b'] }],
  ])('%s', (given, expected) => {
    expect(lists(given)).toEqual(expected);
  });

  test('and requires one', () => {
    expect(() => lists('--m --json')).toThrow(new CliError('--m requires a value: --m NAME'));
  });
});

describe('rules: an option without effect is refused', () => {
  const RULES = {
    rate: integer('how fast', { min: 0, max: 9 }, 0),
    shape: choice(['flat', 'round'] as const, 'which', 'flat'),
    smooth: integer('how smooth', { min: 1, max: 9 }, null, { requires: ['--shape round; see --help'] }),
    ramp: seconds('how long', { min: 0, max: 9 }, 0, { requires: ['--rate or --stages', '--json'] }),
    json: flag('for machines'),
    stages: texts('STAGE', 'parts'),
    alone: flag('by itself', { requires: ['--json'], conflicts: { rate: null, stages: 'it has none' } }),
  };
  const rules = (given: string) => () => readOptions(RULES, given.split(' '), {});

  test.each([
    ['--smooth 2', '--smooth requires --shape round; see --help'],
    ['--smooth 2 --shape flat', '--smooth requires --shape round; see --help'],
    ['--ramp 1 --json --rate 0', '--ramp requires --rate or --stages'],
    ['--alone --json --rate 1', '--alone and --rate cannot be used together'],
    // What it lacks does not matter then.
    ['--alone --stages a', '--stages cannot be used with --alone: it has none'],
    ['--ramp 1', '2 arguments are wrong:\n  --ramp requires --rate or --stages\n  --ramp requires --json'],
  ])('%s', (given, message) => {
    expect(rules(given)).toThrow(new CliError(message));
  });

  test.each(['--smooth 2 --shape round', '--ramp 1 --stages a --json', '--ramp 0', '--alone --json --rate 0'])(
    '%s',
    (given) => {
      expect(rules(given)).not.toThrow();
    },
  );

  test('wrong values are reported before them', () => {
    expect(rules('--ramp 1 --rate x')).toThrow(new CliError("--rate is 'x' and must be a whole number from 0 to 9"));
  });
});
